//! Finds and verifies the file of a mapping.

mod content;
mod debug_files;
#[cfg(feature = "names")]
mod debug_parts;
#[cfg(feature = "debuginfod")]
mod debuginfod;
mod elf;
mod finder;
pub(crate) mod foreign;
mod headers;
#[cfg(test)]
pub(crate) mod made;
#[cfg(feature = "names")]
mod mini_debug_info;
mod not_found;
mod search;
mod section;
#[cfg(feature = "names")]
mod xz;

#[cfg(feature = "debuginfod")]
pub use debuginfod::Debuginfod;
pub use elf::{ElfError, ObjectFile, kernel_build_id};
#[cfg(feature = "disassembly")]
pub use finder::SourceText;
pub use finder::{Evidence, FileFinder, FoundFile};
pub use not_found::{NotFound, NotFoundKind, Rejection};
pub use section::SectionBytes;

#[cfg(test)]
mod tests;
