//! Lines as text, in the form of `perf trace`.

use std::io::{self, Write};

use perf_tracepoint::{Syscall, SyscallEnd, SyscallError};

use super::entry::{Entry, Task};

/// Columns of a call before its result.
const CALL: usize = 60;

/// Results from here on are addresses, because a call transfers fewer bytes.
const ADDRESSES: i64 = 0x7fff_f000;

/// First of the kernel's internal errors, `ERESTARTSYS`.
const FIRST_INTERNAL: i32 = 512;

/// Writes a line. Times are printed relative to `start`, in ns.
pub(super) fn write(
    out: &mut dyn Write,
    start: u64,
    entry: &Entry<'_>,
    task: Option<Task<'_>>,
) -> io::Result<()> {
    match entry.time() {
        Some(time) => write!(out, "{:>10.3} ", milliseconds(time.saturating_sub(start)))?,
        None => write!(out, "{:>10} ", "")?,
    }
    match entry {
        Entry::Call { call, .. } if call.duration().is_some() => {
            write!(out, "({:>9.3} ms): ", milliseconds(call.duration().unwrap_or(0)))?;
        }
        _ => write!(out, "({:>12}): ", "")?,
    }
    if let Some(Task { comm, tid, .. }) = task {
        // The kernel writes -1 for a task that has exited.
        write!(out, "{comm}/{} ", tid.cast_signed())?;
    }
    match entry {
        Entry::Call { call, name, args, texts } => {
            let text = match args {
                Some(args) => format!("{name}({})", args.display_with(|arg, value| texts.of(arg, &value))),
                None => format!("<... {name} resumed>)"),
            };
            writeln!(out, "{text:<CALL$} = {}", result(call))
        }
        Entry::Hit { name, text, .. } => writeln!(out, "{name}: {text}"),
        Entry::Signal { signal, code, .. } => {
            let code = signal.cause(*code).map_or_else(|| code.to_string(), str::to_owned);
            writeln!(out, "--- {signal} {{si_signo={signal}, si_code={code}}} ---")
        }
        Entry::Exit { status, .. } => writeln!(out, "+++ exited with {status} +++"),
        Entry::Lost { records, place, .. } => {
            let noun = if *records == 1 { "record" } else { "records" };
            writeln!(out, "LOST {records} {noun} on {place}")
        }
    }
}

/// Returns the result of a call, or the reason why it is unknown.
fn result(call: &Syscall) -> String {
    match call.end {
        SyscallEnd::Returned { result, .. } => match SyscallError::from_result(result) {
            // The program never sees an internal error of the kernel, as strace says, too.
            Some(error) if error.number() >= FIRST_INTERNAL => format!("? {error}"),
            Some(error) => format!("-1 {error}"),
            None if (0..ADDRESSES).contains(&result) => result.to_string(),
            None => format!("{result:#x}"),
        },
        SyscallEnd::Exited { .. } => "?".to_owned(),
        SyscallEnd::Lost => "? <return may be lost>".to_owned(),
        SyscallEnd::NotSeen => "? <return not seen>".to_owned(),
        _ => "? <unfinished ...>".to_owned(),
    }
}

#[allow(clippy::cast_precision_loss)] // printed with few digits
pub(super) fn milliseconds(ns: u64) -> f64 {
    ns as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use perf_tracepoint::SyscallEnter;

    use super::super::entry::Texts;
    use super::*;

    fn call(end: SyscallEnd) -> Syscall {
        let enter = Some(SyscallEnter { time: 3_500_000, args: [0; 6] });
        Syscall { pid: 7, tid: 8, number: 0, enter, end }
    }

    #[test]
    fn result_is_a_number_an_address_or_an_error() {
        let returned = |value| result(&call(SyscallEnd::Returned { time: 4_000_000, result: value }));
        assert_eq!([returned(3), returned(0x7fff_f000_0000)], ["3", "0x7ffff0000000"]);
        assert_eq!(returned(-2), "-1 ENOENT (No such file or directory)");
        assert!(returned(-512).starts_with("? ERESTARTSYS"));
        assert_eq!(returned(-5000), "0xffffffffffffec78");
    }

    #[test]
    fn call_without_a_return_says_why() {
        let ends = [SyscallEnd::Exited { time: 9 }, SyscallEnd::Lost, SyscallEnd::InProgress];
        let texts = ends.map(|end| result(&call(end)));
        assert_eq!(texts, ["?", "? <return may be lost>", "? <unfinished ...>"]);
    }

    #[test]
    fn time_is_that_since_the_first_event() {
        let call = call(SyscallEnd::Returned { time: 4_000_000, result: 1 });
        let entry = Entry::Call { call: &call, name: "getppid", args: None, texts: &Texts::default() };
        let (mut out, task) = (Vec::new(), Task { comm: "sh", pid: 7, tid: 8, cpu: None });
        write(&mut out, 1_000_000, &entry, Some(task)).unwrap();
        let line = String::from_utf8(out).unwrap();
        assert!(line.starts_with("     2.500 (    0.500 ms): sh/8 <... getppid resumed>)  "), "{line}");
        assert!(line.ends_with(" = 1\n"), "{line}");
    }
}
