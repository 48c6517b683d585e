//! Event strings as the perf tool accepts them: the grammar alone, without a look at the machine.
//!
//! ```text
//! list       = group { "," group }
//! group      = event | [ name ] "{" event { "," event } "}" [ ":" modifiers ]
//! event      = source [ ":" [ modifiers ] ] | source "/" [ term { "," term } ] "/" [ modifiers ]
//! source     = name | "r" HEX | number ":" number | name ":" name | breakpoint | probe
//!            | "tracepoint:" name ":" name
//! breakpoint = "mem:" number [ "/" number ] [ ":" access ]
//! probe      = ( "uprobe:" | "uretprobe:" ) path ":" place | ( "kprobe:" | "kretprobe:" ) place
//! place      = function [ "+" number ] [ "%return" ]
//! term       = name [ "=" value ]
//! ```
//!
//! A list has no depth, so neither parsing nor printing is recursive, and both take linear time.

mod ast;
mod error;
mod modifiers;
mod parse;
#[cfg(test)]
mod tests;

pub use ast::{Event, Expression, Group, Source, Span, Spanned, Term};
pub use error::ParseError;
pub use modifiers::Modifiers;

pub(in crate::names) use error::Problem;
