//! Samples the stacks of a command and prints them in the folded form of flame graphs.
//!
//! Usage: `live COMMAND [ARGUMENT]...`

use std::process::Command;
use std::time::Duration;

use perf_abi::regs::Architecture;
use perf_session::ring::{AttrFlags, SampleType, StackSize};
use perf_session::{EventSetOptions, EventSetRecord, EventSetTarget, System, parse};
use perf_symbols::{FileFinder, Unwinder};

mod folded;

/// Bytes of the stack to copy for each sample.
const STACK: u32 = 16 << 10;

fn main() -> Result<(), perf_session::Report> {
    let mut arguments = std::env::args_os().skip(1);
    let mut command = Command::new(arguments.next().ok_or("expected a command")?);
    command.args(arguments);

    let events = parse("cpu-clock/freq=499/", &System::new())?;
    let size = StackSize::new(STACK).ok_or("expected a multiple of 8 below 64 KiB")?;
    let options = EventSetOptions::new().groups(events).target(EventSetTarget::command());
    let options = options.map_attrs(|attr| {
        attr.with_sample_type(SampleType::TID | SampleType::TIME | SampleType::IP | SampleType::CALLCHAIN)
            .with_regs_user(Architecture::NATIVE.registers())
            .with_stack_user(size)
            // The user part comes from the stack copy. MMAP, COMM and FORK records give meaning to
            // its addresses.
            .with_flags(AttrFlags::EXCLUDE_CALLCHAIN_USER | AttrFlags::SAMPLE_ID_ALL)
            .with_flags(
                AttrFlags::MMAP | AttrFlags::MMAP2 | AttrFlags::COMM | AttrFlags::COMM_EXEC | AttrFlags::TASK,
            )
    });
    let mut set = options.user_only_if_refused().ring_pages_within(4..=1024).open()?;

    let finder = FileFinder::local();
    let mut folded = folded::Folded::new(Unwinder::new(Architecture::NATIVE, finder.clone()), finder)?;
    let mut add = |record: EventSetRecord<'_>| match record.decode() {
        Ok(record) => folded.add(&record),
        Err(error) => eprintln!("{}: {error}", record.scope()),
    };
    let mut child = set.spawn(&mut command)?;
    while child.try_wait()?.is_none() {
        set.wait(Some(Duration::from_millis(50)))?;
        set.drain_sorted(&mut add)?;
    }
    set.disable()?;
    set.flush_sorted(add)?;
    folded.print();
    eprintln!("{}", set.losses()?);
    Ok(())
}
