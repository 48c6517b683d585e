//! The right file of a mapping.

mod elf;
mod finder;

#[cfg(feature = "names")]
pub(crate) use elf::kernel_build_id;
pub use elf::{ElfError, ObjectFile, SectionBytes};
pub use finder::{Evidence, FileFinder, FoundFile, NotFound, NotFoundKind, Rejection};

#[cfg(test)]
mod tests;
