//! The right file of a mapping.

#[cfg(feature = "debuginfod")]
mod debuginfod;
mod elf;
mod finder;
#[cfg(any(feature = "names", feature = "unwind"))]
mod key;

#[cfg(feature = "debuginfod")]
pub use debuginfod::Debuginfod;
#[cfg(feature = "names")]
pub(crate) use elf::kernel_build_id;
pub use elf::{ElfError, ObjectFile, SectionBytes};
pub use finder::{Evidence, FileFinder, FoundFile, NotFound, NotFoundKind, Rejection};
#[cfg(any(feature = "names", feature = "unwind"))]
pub(crate) use key::FileKey;

#[cfg(test)]
mod tests;
