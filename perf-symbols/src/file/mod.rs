//! The right file of a mapping.

#[cfg(feature = "debuginfod")]
mod debuginfod;
mod elf;
mod finder;

#[cfg(feature = "debuginfod")]
pub use debuginfod::Debuginfod;
pub use elf::{ElfError, ObjectFile, SectionBytes, kernel_build_id};
pub use finder::{Evidence, FileFinder, FoundFile, NotFound, NotFoundKind, Rejection};

#[cfg(test)]
mod tests;
