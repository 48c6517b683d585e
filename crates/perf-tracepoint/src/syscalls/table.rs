use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::payload::Format;

use super::numbers::{self, RT_SIGRETURN};
use super::{SyscallArg, SyscallArgs};

/// The names of the system calls of this architecture, and their arguments on this kernel.
///
/// tracefs describes the arguments of each call, but not its number: the kernel has the numbers in its table of
/// addresses alone. So names and numbers are those of the crate `syscalls`, which is generated from the kernel's source
/// for each architecture. The numbers of 32-bit programs on a 64-bit kernel differ, and `raw_syscalls` does not say
/// whose they are: such calls have wrong names. The default one has the names alone.
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
    args: HashMap<i64, Arc<[SyscallArg]>>,
}

/// The greatest number that is looked up. Those of the tables are below 7000.
const MAX_NUMBER: i64 = 8192;

impl SyscallTable {
    /// Whether the names of system calls are known on this architecture: aarch64, arm, riscv and x86, of 32 and 64 bits.
    /// Elsewhere each is `syscall_N`, and no arguments are known.
    pub const HAS_NAMES: bool = numbers::HAS_NAMES;

    /// Returns a table with the arguments of the calls that the formats of `syscalls:sys_enter_*` describe. Other formats are
    /// left out.
    pub fn from_formats<'t>(formats: impl IntoIterator<Item = Format<'t>>) -> Self {
        let mut by_name = HashMap::new();
        for format in formats {
            let Some(name) = format.name.strip_prefix("sys_enter_") else { continue };
            // After the number, which is there on every kernel.
            let args = format.fields.iter().filter(|field| !is_number(field.name));
            by_name.insert(name, args.map(|field| SyscallArg::new(&field)).collect::<Arc<[_]>>());
        }
        let of_name =
            |name: &str| tracepoint_names(name).iter().find_map(|name| by_name.get(&**name).cloned());
        let calls = numbers().filter_map(|(number, name)| Some((number, of_name(name)?)));
        Self { args: calls.collect() }
    }

    /// Returns the name of a call, `syscall_N` for an unknown number.
    pub fn name(&self, number: i64) -> Cow<'static, str> {
        numbers::name(number).map_or_else(|| format!("syscall_{number}").into(), Cow::Borrowed)
    }

    /// Returns the numbers of the calls whose names `matches` wants, ascending.
    pub fn matching(&self, matches: impl Fn(&str) -> bool) -> Vec<i64> {
        numbers().filter(|(_, name)| matches(name)).map(|(number, _)| number).collect()
    }

    /// Iterates over the names of all calls, by their numbers.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        numbers().map(|(_, name)| name)
    }

    /// Returns the arguments of a call; nothing if they are unknown.
    pub fn args(&self, number: i64) -> &[SyscallArg] {
        self.args.get(&number).map_or(&[], |args| args)
    }

    /// Returns the arguments with these values, for printing.
    pub fn with_values(&self, number: i64, words: [u64; 6]) -> SyscallArgs<'_> {
        SyscallArgs { args: self.args.get(&number).map(|args| &**args), words }
    }

    /// Returns the filter by which both tracepoints of [`SyscallFormats`](super::SyscallFormats) hit for these
    /// calls only, for `Event::set_filter` of `perf-ring`.
    pub fn filter(numbers: &[i64]) -> String {
        let mut numbers = numbers.to_vec();
        if numbers.contains(&RT_SIGRETURN) {
            // Its return, of which the kernel has forgotten the number.
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
        // No call has this number.
        if terms.is_empty() { "id == -2".to_owned() } else { terms.join(" || ") }
    }
}

/// Returns the field of the number, which has another name before Linux 3.19 (`nr`).
fn is_number(field: &str) -> bool {
    matches!(field, "__syscall_nr" | "nr")
}

fn numbers() -> impl Iterator<Item = (i64, &'static str)> {
    (0..MAX_NUMBER).filter_map(|number| Some((number, numbers::name(number)?)))
}

/// Returns the names that a call may have in tracefs, which are those of functions of the kernel: `newfstat` for `fstat`.
fn tracepoint_names(name: &str) -> [String; 4] {
    let without_version = name.strip_suffix('2').unwrap_or(name);
    [name.to_owned(), format!("new{name}"), format!("{name}64"), without_version.to_owned()]
}
