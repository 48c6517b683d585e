//! Samples a command into a `perf.data` file, which perfkit and the perf tool read.
//!
//! Usage: `record_file FILE COMMAND [ARGUMENT...]`.

use std::error::Error;
use std::fs::File;
use std::process::Command;
use std::time::Duration;

use perf_file::writer::{RecordedEvent, Writer};
use perf_record::synthesize::{Synthesizer, machine_features};
use perf_session::ring::{AttrFlags, SampleType};
use perf_session::{EventSetOptions, EventSetTarget, System, parse};

/// Fields of each sample. The perf tool finds the event of a record by `IDENTIFIER`.
const FIELDS: SampleType = SampleType::IDENTIFIER
    .union(SampleType::IP)
    .union(SampleType::TID)
    .union(SampleType::TIME)
    .union(SampleType::PERIOD)
    .union(SampleType::CALLCHAIN);
/// Records without which no address has a name: programs, mappings with build ids (since Linux 5.12), threads.
const SIDE_BAND: AttrFlags = AttrFlags::SAMPLE_ID_ALL
    .union(AttrFlags::TASK)
    .union(AttrFlags::COMM)
    .union(AttrFlags::COMM_EXEC)
    .union(AttrFlags::MMAP)
    .union(AttrFlags::MMAP2)
    .union(AttrFlags::BUILD_ID);

/// Records `command` until it exits.
pub(crate) fn record(file: File, command: &mut Command) -> Result<(), Box<dyn Error>> {
    let system = System::new();
    let options = EventSetOptions::new().groups(parse("cpu-clock/freq=999/u", &system)?);
    let options = options.map_attrs(|attr| attr.with_sample_type(FIELDS).with_flags(SIDE_BAND));
    let mut set = options.target(EventSetTarget::command()).ring_pages_within(4..=128).open()?;
    let mut child = set.spawn(command)?;

    let attr = set.events().next().ok_or("no event")?.event.attr().to_owned();
    let ids = set.layouts()?.into_iter().map(|(id, _)| id);
    let events = [RecordedEvent::new(attr, "cpu-clock:u").with_ids(ids)];
    let mut writer = Writer::file(file, &events)?;
    let mut before = Synthesizer::new(&system, &attr);
    if let Err(error) = before.kernel() {
        eprintln!("{error}"); // addresses of the kernel will have no names
    }
    writer.write_plain(before.records().as_bytes())?;

    let mut copy = Vec::new();
    let mut is_over = false;
    while !is_over {
        set.wait(Some(Duration::from_millis(100)))?;
        is_over = child.try_wait()?.is_some();
        for (_, batch) in set.rings_mut()?.ready() {
            // Copied, so that the kernel has the ring while the file is written.
            writer.write_window(batch?.copy_into(&mut copy))?;
        }
        writer.finish_round()?;
    }

    let mut features = machine_features(&system);
    features.set_events(&events);
    writer.finish(&features)?;
    eprintln!("{}", set.close()?); // the losses
    Ok(())
}

fn main() -> Result<(), perf_session::Report> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(file), Some(command)) = (arguments.next(), arguments.next()) else {
        return Err("usage: record_file FILE COMMAND [ARGUMENT...]".into());
    };
    Ok(record(File::create(file)?, Command::new(command).args(arguments))?)
}
