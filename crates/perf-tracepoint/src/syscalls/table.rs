//! Names and arguments of system calls by number.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::payload::{Format, Location};

use super::args::Call;
use super::classes;
use super::numbers::{self, RT_SIGRETURN};
use super::{SyscallArg, SyscallArgs};

/// Names of the system calls of this architecture, with their arguments on this kernel.
///
/// tracefs describes the arguments of each call, but not its number, which only the kernel's table
/// of addresses has. So names and numbers come from the crate `syscalls`, which is generated from
/// the kernel's source for each architecture. The numbers of 32-bit programs on a 64-bit kernel
/// differ, and `raw_syscalls` does not mark such calls, so they get wrong names. The default table
/// has names only.
///
/// ```
/// use perf_tracepoint::SyscallTable;
///
/// let table = SyscallTable::default();
/// for number in table.matching(|name| name.starts_with("open")) {
///     println!("{number}: {}", table.name(number));
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct SyscallTable {
    calls: HashMap<i64, Arc<Call>>,
}

/// Greatest number that is looked up. The tables have numbers below 7000.
const MAX_NUMBER: i64 = 8192;

impl SyscallTable {
    /// Whether the names of system calls are known on this architecture: aarch64, arm, riscv and
    /// x86, 32-bit and 64-bit. Elsewhere each call is named `syscall_N`, without arguments.
    pub const HAS_NAMES: bool = numbers::HAS_NAMES;

    /// The names of the classes of calls, with `%`.
    pub const CLASSES: &'static [&'static str] = classes::CLASSES;

    /// Returns a table with the arguments of the calls that the formats of `syscalls:sys_enter_*`
    /// describe. Other formats are skipped.
    pub fn from_formats<'t>(formats: impl IntoIterator<Item = Format<'t>>) -> Self {
        let mut by_name = HashMap::new();
        for format in formats {
            let Some(name) = format.name.strip_prefix("sys_enter_") else { continue };
            // The arguments follow the number, which every kernel prints. Copies of what they point
            // to, of Linux 6.19 and newer, follow them.
            let args = format
                .fields
                .iter()
                .filter(|field| !is_number(field.name) && field.location == Location::Fixed);
            let args = args.map(|field| SyscallArg::new(name, &field)).collect();
            by_name.insert(name, Arc::new(Call { name: name.into(), args }));
        }
        let of_name =
            |name: &str| tracepoint_names(name).iter().find_map(|name| by_name.get(&**name).cloned());
        let calls = numbers().filter_map(|(number, name)| Some((number, of_name(name)?)));
        Self { calls: calls.collect() }
    }

    /// Returns the name of a call, `syscall_N` for an unknown number.
    pub fn name(&self, number: i64) -> Cow<'static, str> {
        numbers::name(number).map_or_else(|| format!("syscall_{number}").into(), Cow::Borrowed)
    }

    /// Returns the numbers of the calls whose names satisfy `matches`, ascending.
    pub fn matching(&self, matches: impl Fn(&str) -> bool) -> Vec<i64> {
        numbers().filter(|(_, name)| matches(name)).map(|(number, _)| number).collect()
    }

    /// Returns the numbers of the calls of a class that strace has, such as `%file` or `%network`,
    /// ascending; `None` if there is no such class. [`CLASSES`](Self::CLASSES) are their names.
    pub fn class(&self, name: &str) -> Option<Vec<i64>> {
        let names = classes::names(name)?;
        Some(self.matching(|call| names.contains(&call)))
    }

    /// Iterates over the names of all calls, ordered by number.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        numbers().map(|(_, name)| name)
    }

    /// Returns the arguments of a call; empty if they are unknown.
    pub fn args(&self, number: i64) -> &[SyscallArg] {
        self.calls.get(&number).map_or(&[], |call| &call.args)
    }

    /// Combines the arguments of a call with their values, for printing.
    pub fn with_values(&self, number: i64, words: [u64; 6]) -> SyscallArgs<'_> {
        SyscallArgs { call: self.calls.get(&number).map(|call| &**call), words }
    }

    /// Returns the filter by which both tracepoints of [`SyscallFormats`](super::SyscallFormats)
    /// hit for these calls only, for `Event::set_filter` of `perf-ring`.
    pub fn filter(numbers: &[i64]) -> String {
        let mut numbers = numbers.to_vec();
        if numbers.contains(&RT_SIGRETURN) {
            // Matches the return, whose number the kernel has forgotten.
            numbers.push(-1);
        }
        numbers.sort_unstable();
        numbers.dedup();
        let terms: Vec<String> = numbers
            .chunk_by(|left, right| left + 1 == *right)
            .filter_map(|run| match run {
                [number] => Some(format!("id == {number}")),
                run => Some(format!("(id >= {} && id <= {})", run.first()?, run.last()?)),
            })
            .collect();
        // This matches nothing, because calls never have this number.
        if terms.is_empty() { "id == -2".to_owned() } else { terms.join(" || ") }
    }
}

/// Returns whether this is the field of the number, which is called `nr` before Linux 3.19.
fn is_number(field: &str) -> bool {
    matches!(field, "__syscall_nr" | "nr")
}

fn numbers() -> impl Iterator<Item = (i64, &'static str)> {
    (0..MAX_NUMBER).filter_map(|number| Some((number, numbers::name(number)?)))
}

/// Returns the names that a call may have in tracefs, which uses names of kernel functions:
/// `newfstat` for `fstat`.
fn tracepoint_names(name: &str) -> [String; 4] {
    let without_version = name.strip_suffix('2').unwrap_or(name);
    [name.to_owned(), format!("new{name}"), format!("{name}64"), without_version.to_owned()]
}
