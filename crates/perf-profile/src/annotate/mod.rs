//! The instructions of a function with their samples.

use std::fmt;
use std::sync::Arc;

use perf_symbols::{
    Disassembly, DisassemblyError, Evidence, FileFinder, Instruction, MappedObject, Mapping, NoLines,
    NotFound, Syntax,
};

use crate::profile::Profile;
use crate::view::{AddressSamples, SampledFunction};

/// A function as instructions with their samples: made by [`Annotation::read`].
///
/// ```no_run
/// use perf_profile::read::ProfileReader;
/// use perf_profile::{Annotation, SampledFunction, Syntax};
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let reader = ProfileReader::open("perf.data")?;
///     let finder = reader.metadata().finder();
///     let read = reader.read()?;
///     let (event, _) = read.profile.event_ids().next().ok_or("no event")?;
///     let functions = SampledFunction::all(&read.profile, event);
///     let hottest = functions.first().ok_or("no samples")?;
///     let annotation = Annotation::read(&finder, &read.profile, hottest, Syntax::Intel)?;
///     for line in &annotation.lines {
///         println!("{:>12} {}", line.samples.value, line.instruction.text);
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Annotation {
    /// All instructions of the function, by ascending address.
    pub lines: Vec<AnnotatedInstruction>,
    /// Samples of the function at addresses outside of it, according to the file's symbols. They
    /// are not at any line.
    pub outside: AddressSamples,
    /// How the file was verified to be the recorded one.
    pub evidence: Evidence,
    /// Path of the file that was read.
    pub path: std::path::PathBuf,
    /// Why source lines are missing although the file has debug information.
    pub no_lines: Option<NoLines>,
    /// Time of the last change of the file in s since 1970; `None` for memory.
    pub modified: Option<i64>,
}

/// An instruction with the samples at its addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnnotatedInstruction {
    /// Its code, jump and source line.
    pub instruction: Instruction,
    /// The samples at an address of the instruction.
    pub samples: AddressSamples,
}

/// Why a function has no annotation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnnotationError {
    /// Its code is in the kernel, whose memory is not a file.
    Kernel,
    /// Its code was written at run time, and is not in a file.
    WrittenAtRunTime,
    /// The file was not found, or is not the recorded one.
    NotFound(NotFound),
    /// The file loads nothing at the address.
    NotLoaded,
    /// The code cannot be disassembled.
    Code(DisassemblyError),
}

impl Annotation {
    /// Reads the code of a function from its file, which `finder` finds and verifies, and puts the
    /// samples of the profile at its instructions.
    ///
    /// # Errors
    ///
    /// [`AnnotationError`] says why the code is not available.
    pub fn read(
        finder: &FileFinder,
        profile: &Profile,
        function: &SampledFunction,
        syntax: Syntax,
    ) -> Result<Self, AnnotationError> {
        let locations = profile.locations();
        let Some(object) = locations.object(function.object) else { return Err(AnnotationError::NotLoaded) };
        if object.is_kernel {
            return Err(AnnotationError::Kernel);
        }
        if object.written_by.is_some() {
            return Err(AnnotationError::WrittenAtRunTime);
        }
        let mut mapped = MappedObject::new(locations.string(object.path).as_bytes());
        mapped.build_id = object.build_id;
        let mapping = Mapping::new(object.range.clone(), object.file_offset, mapped);
        let found =
            finder.find(function.pid, &mapping, object.build_id).map_err(AnnotationError::NotFound)?;
        let (evidence, path) = (found.evidence(), found.object().path().to_owned());
        let address = found.object().address_of(&mapping, function.start);
        let address = address.ok_or(AnnotationError::NotLoaded)?;
        let code =
            Disassembly::read(finder, &Arc::new(found), address, syntax).map_err(AnnotationError::Code)?;
        // The distance of the sampled start from the first instruction; 0 if both name the same
        // function.
        let shift = address.wrapping_sub(code.addresses.start);
        let (no_lines, modified) = (code.no_lines, code.modified);
        let (lines, outside) = place(code, function, shift);
        Ok(Self { lines, outside, evidence, path, no_lines, modified })
    }
}

/// Puts samples at the instructions that contain their addresses. Both are ascending, so that each
/// is met once.
fn place(
    code: Disassembly,
    function: &SampledFunction,
    shift: u64,
) -> (Vec<AnnotatedInstruction>, AddressSamples) {
    let mut sampled = function.by_offset.iter().peekable();
    let mut outside = AddressSamples::default();
    let first = code.addresses.start;
    let lines = code.instructions.into_iter().map(|instruction| {
        let start = instruction.address.wrapping_sub(first);
        let end = start.saturating_add(u64::from(instruction.len));
        let mut samples = AddressSamples::default();
        while let Some((offset, more)) = sampled.next_if(|(offset, _)| offset.wrapping_add(shift) < end) {
            let is_before = offset.wrapping_add(shift) < start;
            let sum = if is_before { &mut outside } else { &mut samples };
            *sum = sum.plus(*more);
        }
        AnnotatedInstruction { instruction, samples }
    });
    let lines = lines.collect();
    let outside = sampled.fold(outside, |sum, (_, more)| sum.plus(*more));
    (lines, outside)
}

impl fmt::Display for AnnotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel => f.write_str("the code is in the kernel, whose memory is not read"),
            Self::WrittenAtRunTime => f.write_str("the code was written at run time, and is in no file"),
            Self::NotFound(reason) => reason.fmt(f),
            Self::NotLoaded => f.write_str("the file loads nothing at the address of the function"),
            Self::Code(reason) => reason.fmt(f),
        }
    }
}

impl std::error::Error for AnnotationError {}
