//! The lines of a stack.

use std::io::Write as _;
use std::ops::Range;

use perf_symbols::StackFrame;

use super::fields::ScriptFields;
use super::shown;
use crate::format::names::file_name;
use crate::profile::{LocationId, Locations, UNKNOWN};

/// A frame of a sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) location: LocationId,
    /// The address that is printed.
    pub(super) address: Address,
}

impl Frame {
    /// Makes a frame of a callchain. With `is_call`, the address in the call is printed, not the
    /// return address.
    pub(super) fn of_callchain(frame: &StackFrame, location: LocationId, is_call: bool) -> Self {
        // Address 0 has no preceding address.
        let is_after_call = !is_call && frame.address != frame.lookup_address();
        Self { location, address: Address::InObject { is_after_call } }
    }
}

/// An address as it is printed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Address {
    /// The address in the memory of the process.
    Raw(u64),
    /// The address in the object, as the perf tool prints frames of callchains: plus 1 for a return
    /// address, except in unwound frames, where the perf tool prints the address in the call.
    InObject { is_after_call: bool },
}

/// Writes frames, and caches their lines, because most addresses are in many stacks.
#[derive(Debug, Default)]
pub(super) struct FrameLines {
    /// Cached lines by the set of fields, which differs between events.
    kept: Vec<(ScriptFields, KeptLines)>,
}

#[derive(Debug, Default)]
struct KeptLines {
    text: Vec<u8>,
    /// Lines by location, for addresses in calls.
    in_calls: Vec<Option<Lines>>,
    /// Lines by location, for return addresses.
    after_calls: Vec<Option<Lines>>,
}

/// The lines of a frame.
#[derive(Clone, Debug)]
struct Lines {
    text: Range<usize>,
    is_unnamed: bool,
}

/// Maximum size of the cached text in bytes.
const MAX_TEXT: usize = 64 << 20;

impl FrameLines {
    /// Appends the lines of a frame of a callchain, inlined functions first. Returns whether the
    /// address has no name.
    pub(super) fn push(
        &mut self,
        out: &mut Vec<u8>,
        locations: &Locations,
        frame: Frame,
        fields: ScriptFields,
    ) -> bool {
        let is_unnamed = || locations.get(frame.location).unnamed.is_some();
        let Address::InObject { is_after_call } = frame.address else {
            push_lines(out, locations, frame, fields);
            return is_unnamed();
        };
        if !self.kept.iter().any(|(kept, _)| *kept == fields) {
            self.kept.push((fields, KeptLines::default()));
        }
        let kept = self.kept.iter_mut().find(|(kept, _)| *kept == fields);
        kept.is_some_and(|(_, kept)| kept.push(out, locations, frame, fields, is_after_call))
    }
}

impl KeptLines {
    fn push(
        &mut self,
        out: &mut Vec<u8>,
        locations: &Locations,
        frame: Frame,
        fields: ScriptFields,
        is_after_call: bool,
    ) -> bool {
        let is_unnamed = || locations.get(frame.location).unnamed.is_some();
        let index = frame.location.index();
        let lines = if is_after_call { &mut self.after_calls } else { &mut self.in_calls };
        if let Some(Some(Lines { text, is_unnamed })) = lines.get(index) {
            out.extend_from_slice(self.text.get(text.clone()).unwrap_or_default());
            return *is_unnamed;
        }
        let start = out.len();
        push_lines(out, locations, frame, fields);
        if self.text.len() > MAX_TEXT {
            *self = Self::default();
        }
        let lines = if is_after_call { &mut self.after_calls } else { &mut self.in_calls };
        if lines.len() <= index {
            lines.resize(index + 1, None);
        }
        if let Some(kept) = lines.get_mut(index) {
            let from = self.text.len();
            self.text.extend_from_slice(out.get(start..).unwrap_or_default());
            *kept = Some(Lines { text: from..self.text.len(), is_unnamed: is_unnamed() });
        }
        is_unnamed()
    }
}

/// Appends the only frame of a sample without a callchain, at the end of its line.
pub(super) fn push_single(out: &mut Vec<u8>, locations: &Locations, frame: Frame, fields: ScriptFields) {
    // The perf tool names the function that the symbol table has.
    let index = locations.frames(frame.location).len().saturating_sub(1);
    push_frame(out, locations, frame, fields, index);
}

fn push_lines(out: &mut Vec<u8>, locations: &Locations, frame: Frame, fields: ScriptFields) {
    for index in 0..locations.frames(frame.location).len().max(1) {
        out.push(b'\t');
        push_frame(out, locations, frame, fields, index);
        out.push(b'\n');
    }
}

/// Appends one function of a frame, without the characters around it.
fn push_frame(out: &mut Vec<u8>, locations: &Locations, frame: Frame, fields: ScriptFields, index: usize) {
    let location = locations.get(frame.location);
    let functions = locations.frames(frame.location);
    let function = functions.get(index);
    let is_inlined = index + 1 < functions.len();
    let after_call = u64::from(matches!(frame.address, Address::InObject { is_after_call: true }));
    if fields.contains(ScriptFields::IP) {
        let object = location.object.filter(|_| !location.is_kernel).and_then(|id| locations.object(id));
        let address = match (frame.address, object) {
            (Address::Raw(address), _) => address,
            (Address::InObject { .. }, None) => location.address + after_call,
            (Address::InObject { .. }, Some(object)) => {
                let base = object.range.start.wrapping_sub(object.file_offset);
                location.address.wrapping_sub(base).wrapping_add(after_call)
            }
        };
        // Writing to memory does not fail.
        let _ = write!(out, "{address:16x}");
    }
    if fields.contains(ScriptFields::SYM) {
        let name = function.map_or(UNKNOWN, |function| locations.function_name(function.function));
        out.push(b' ');
        out.extend_from_slice(shown(name).as_bytes());
        if function.is_some() && fields.contains(ScriptFields::SYMOFF) {
            let _ = write!(out, "+{:#x}", location.function_offset + after_call);
        }
    }
    if fields.contains(ScriptFields::DSO) && !is_inlined {
        let object = location.object.and_then(|id| locations.object(id));
        let _ = match object.and_then(|object| object.written_by) {
            // The form of the perf tool, by which flame graph scripts recognize JIT-compiled code.
            Some(pid) => write!(out, " (/tmp/perf-{pid}.map)"),
            None => write!(out, " ({})", shown(locations.object_path(frame.location))),
        };
    }
    if is_inlined {
        out.extend_from_slice(b" (inlined)");
    }
    if fields.contains(ScriptFields::SRCLINE) {
        let function =
            function.and_then(|function| Some((locations.function(function.function)?, function.line)));
        // Without other fields, the source line is on the line of the frame, so that each frame has
        // a line.
        let is_alone = ![ScriptFields::IP, ScriptFields::SYM, ScriptFields::DSO]
            .iter()
            .any(|field| fields.contains(*field));
        if let Some((Some(file), line)) = function.map(|(function, line)| (function.file, line)) {
            let before = if is_alone { " " } else { "\n  " };
            let file = locations.string(file);
            let _ = write!(out, "{before}{}:{line}", shown(file_name(file)));
        } else if is_alone {
            let _ = write!(out, " {UNKNOWN}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_frame_have_the_fields_of_the_event() {
        let mut locations = Locations::new();
        let location = locations.add(None, 0x1234);
        let frame = Frame { location, address: Address::InObject { is_after_call: false } };
        let mut lines = FrameLines::default();
        let mut text = |fields| {
            let mut out = Vec::new();
            lines.push(&mut out, &locations, frame, fields);
            String::from_utf8(out).unwrap()
        };
        for _ in 0..2 {
            assert_eq!(text(ScriptFields::IP), "\t            1234\n");
            assert_eq!(text(ScriptFields::DSO), "\t ([unknown])\n");
        }
    }
}
