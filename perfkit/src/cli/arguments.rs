//! Errors of the command line.

use std::env;
use std::error::Error as _;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use crate::out::message::print;

/// Commands of the perf tool that users would look for here and that read a recording.
const READERS_OF_PERF: &str = "\
    c2c data evlist inject kmem kwork mem timechart";

/// Other commands of the perf tool that users would look for here.
const COMMANDS_OF_PERF: &str = "\
    bench buildid-cache config daemon ftrace kallsyms kvm probe test";

/// Options of `perf record` and `perf stat` that users of the perf tool know and one of the
/// commands here does not have.
const OPTIONS_OF_PERF: &str = "\
    --affinity --aio --append --aux-sample --big-num --clang-opt --clang-path --control \
    --cputype --debuginfod --delay --dry-run --exclude-perf --for-each-cgroup --group \
    --hybrid-merge --interval-clear --interval-count --intr-regs --iostat --json-output --kcore \
    --log-fd --max-size --metric-no-group --metric-no-merge --metric-only --metrics --mmap-flush \
    --no-big-num --no-bpf-event --no-buffering --no-buildid --no-csv-summary --no-inherit \
    --no-merge --no-samples --no-scale --null --num-thread-synthesize --off-cpu --per-core \
    --per-die --per-node --per-socket --per-thread --percore-show-thread --post --pre \
    --proc-map-timeout --realtime --running-time --scale --smi-cost --snapshot --stat --summary \
    --switch-output-event --sync --synth --table --tail-synthesize --td-level --threads \
    --timeout --timestamp-filename --topdown --uid --user-regs --verbose --vmlinux -B -D -I -M \
    -S -T -g -i -n -r -s -u -v";

/// Returns whether a list has a word.
fn has(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

/// Prints an error of the parser, or the help that was asked for. Returns the exit code.
pub(crate) fn report(error: &Error) -> ExitCode {
    if !error.use_stderr() {
        error.exit();
    }
    let text = match error.kind() {
        ErrorKind::UnknownArgument => unknown_option(error),
        ErrorKind::InvalidSubcommand => unknown_command(error),
        ErrorKind::ValueValidation => secret_value(error),
        _ => None,
    };
    match text {
        Some(text) => print(format_args!("error: {text}\n\nFor more information, try '--help'.")),
        None => print(error.render().to_string().trim_end()),
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Returns the text for an option that does not exist. The parser would advise to use it as the
/// name of a program.
fn unknown_option(error: &Error) -> Option<String> {
    let option = text_of(error, ContextKind::InvalidArg)?;
    if !option.starts_with('-') {
        return Some(format!("unexpected argument `{option}`"));
    }
    let name = option.split('=').next().unwrap_or(option);
    if has(OPTIONS_OF_PERF, name) && is_measuring() {
        return Some(format!("perf's `{name}` is not supported"));
    }
    let nearest = match text_of(error, ContextKind::SuggestedArg) {
        Some(nearest) => format!("; a similar option is `{nearest}`"),
        None => String::new(),
    };
    Some(format!("unknown option `{option}`{nearest}"))
}

/// Returns the text for a refused value that may have a password, without the value: standard error
/// may go to a log.
fn secret_value(error: &Error) -> Option<String> {
    const OPTIONS: &[&str] = &["--push"];
    let option = text_of(error, ContextKind::InvalidArg)?;
    let name = option.split(' ').next().filter(|name| OPTIONS.contains(name))?;
    Some(format!("{name}: {}", error.source()?))
}

fn unknown_command(error: &Error) -> Option<String> {
    let command = text_of(error, ContextKind::InvalidSubcommand)?;
    let reads = match has(READERS_OF_PERF, command) {
        true => ", which reads these recordings, too",
        false if has(COMMANDS_OF_PERF, command) => "",
        false => return None,
    };
    Some(format!("perf's `{command}` is not supported: use `perf {command}`{reads}"))
}

/// Returns whether the command is `record` or `stat`, before which there may be an option with a
/// value.
fn is_measuring() -> bool {
    env::args_os().skip(1).take(3).any(|word| word == "record" || word == "stat")
}

fn text_of(error: &Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}
