//! Counts the events of a program from its `exec` to its exit, with all its children, as
//! `perf stat` does.
//!
//! The events are opened for this thread, disabled. A child inherits them, and its `exec` enables
//! its copies only. The kernel adds the counts of the child to this thread's events when it exits.
//! So the start is exact without a stopped child, and without `unsafe`.
//!
//! Usage: `stat COMMAND [ARGUMENT...]`

use std::error::Error;
use std::process::{Command, ExitStatus};

use perf_ring::{Attr, AttrFlags, Group, GroupCount, Hardware, ReadFormat, Software, Target};

const SOFTWARE: [Software; 3] = [Software::PAGE_FAULTS, Software::CONTEXT_SWITCHES, Software::CPU_MIGRATIONS];

const HARDWARE: [Hardware; 4] =
    [Hardware::CPU_CYCLES, Hardware::INSTRUCTIONS, Hardware::BRANCH_INSTRUCTIONS, Hardware::BRANCH_MISSES];

/// Opens the events as a group, without hardware events if this machine lacks them, and without the
/// kernel if that is not permitted.
fn open() -> Result<Group, perf_ring::Error> {
    let user = AttrFlags::EXCLUDE_KERNEL;
    open_with(&HARDWARE, AttrFlags::empty())
        .or_else(|_| open_with(&[], AttrFlags::empty()))
        .or_else(|_| open_with(&HARDWARE, user))
        .or_else(|_| open_with(&[], user))
}

fn open_with(hardware: &[Hardware], flags: AttrFlags) -> Result<Group, perf_ring::Error> {
    let leader = Attr::software(Software::TASK_CLOCK)
        .with_flags(AttrFlags::DISABLED | AttrFlags::ENABLE_ON_EXEC | AttrFlags::INHERIT | flags)
        .with_read_format(ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING);
    let (software, hardware) = (SOFTWARE.iter(), hardware.iter());
    let members = software.map(|&event| Attr::software(event));
    let members = members.chain(hardware.map(|&event| Attr::hardware(event)));
    let members: Vec<_> = members.map(|attr| attr.with_flags(AttrFlags::INHERIT | flags)).collect();
    Group::open(&leader, &members, Target::calling_thread())
}

/// Runs `command` and passes its counts to `report`.
pub(crate) fn run<R>(
    command: &mut Command,
    report: impl FnOnce(ExitStatus, GroupCount<'_>) -> R,
) -> Result<R, Box<dyn Error>> {
    let mut group = open()?;
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(|error| format!("{name}: {error}"))?;
    Ok(report(status, group.read()?))
}

fn main() -> Result<(), perf_ring::Report> {
    let mut arguments = std::env::args_os().skip(1);
    let Some(program) = arguments.next() else {
        return Err("usage: stat COMMAND [ARGUMENT...]".into());
    };
    Ok(run(Command::new(program).args(arguments), |status, counts| eprintln!("{counts}\n{status}"))?)
}
