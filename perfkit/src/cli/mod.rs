//! The command line: parsing of arguments, help, completions and manual pages.

pub(crate) mod arguments;
pub(crate) mod completions;
pub(crate) mod help;
pub(crate) mod man;
