//! The unwind information of functions in a jitdump.

use std::io::{self, Read};
use std::sync::Arc;

#[cfg(feature = "unwind")]
use super::{Change, Code, Function, Jitdump, RangeMap};
use super::{Fields, is_read};
#[cfg(feature = "unwind")]
use crate::name::runtime::RuntimeFunction;

/// Maximum number of bytes kept of the unwind information of a function. V8 writes some hundred.
const MAX_UNWINDING: u64 = 1 << 16;

#[cfg(feature = "unwind")]
impl Jitdump {
    /// Passes each function whose code is the only one that its addresses have had, so that it is
    /// right at any time.
    pub(in crate::name) fn for_each(&self, mut each: impl FnMut(RuntimeFunction<'_>)) {
        let mut written = RangeMap::<Function>::default();
        // Moved code has unwind information for its old place.
        let mut reused = RangeMap::<Code<()>>::default();
        let mut mark = |start, end| reused.insert(Code { start, end, name: (), first: start });
        for (_, change) in &self.changes {
            match change {
                Change::Load(function, _) => {
                    if written.overlapping(function.start, function.end).next().is_some() {
                        mark(function.start, function.end);
                    }
                    written.insert(function.clone());
                }
                &Change::Move { from, to, len } => {
                    mark(from, from.saturating_add(len));
                    mark(to, to.saturating_add(len));
                }
            }
        }
        for (_, change) in &self.changes {
            let Change::Load(Function { start, end, name, .. }, unwinding) = change else { continue };
            if reused.overlapping(*start, *end).next().is_none() {
                each(RuntimeFunction {
                    name,
                    start: *start,
                    len: *end - *start,
                    unwinding: unwinding.as_ref(),
                });
            }
        }
    }
}

/// Reads the `.eh_frame` in the body of `JIT_CODE_UNWINDING_INFO`: size of both sections, size of
/// `.eh_frame_hdr`, size that is mapped, `.eh_frame`, `.eh_frame_hdr`. Returns `None` if it is too
/// large or malformed.
pub(super) fn unwinding_of(body: &mut impl Read, is_little: bool) -> io::Result<Option<Arc<[u8]>>> {
    let mut fixed = [0; 24];
    if !is_read(body, &mut fixed)? {
        return Ok(None);
    }
    let fields = Fields { bytes: &fixed, is_little };
    let len = fields.u64(0).checked_sub(fields.u64(8)).filter(|len| (1..=MAX_UNWINDING).contains(len));
    let Some(len) = len else { return Ok(None) };
    let mut frames = Vec::new();
    body.take(len).read_to_end(&mut frames)?;
    Ok((frames.len() as u64 == len).then(|| frames.into()))
}
