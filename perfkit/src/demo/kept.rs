//! The records of a run, which are used again after it: to name their addresses, and as a recording.

use std::env;
use std::io::{self, Cursor};
use std::os::unix::ffi::OsStringExt;
use std::time::SystemTime;

use perf_abi::Attr;
use perf_decode::{RawRecord, Record, SampleLayout, Window};
use perf_file::FeatureData;
use perf_file::feature::SampleTime;
use perf_file::format::Feature;
use perf_file::writer::{Inventory, RecordedEvent, Writer};
use perf_profile::{Event, Profile};
use perf_record::synthesize::{Synthesizer, machine_features};
use perf_session::System;
use perf_symbols::FileFinder;

use super::functions;

/// Records in the order of time. 60 seconds of the workload are about 4 MB.
#[derive(Debug)]
pub(crate) struct Kept {
    /// The sampling event. The other one has the same trailer, so that one layout decodes both.
    attr: Attr,
    /// Both events with the ids of all CPUs.
    events: Vec<RecordedEvent>,
    words: Vec<u64>,
}

impl Kept {
    /// The first event is the sampling one.
    pub(crate) fn new(attr: Attr, events: Vec<RecordedEvent>, words: Vec<u64>) -> Self {
        Self { attr, events, words }
    }

    /// Names the addresses of the samples.
    pub(crate) fn profile(&self) -> io::Result<Profile> {
        let mut collector = functions::collector(FileFinder::local().with_recorded_until(SystemTime::now()))?;
        let name = self.events.first().map(|event| event.name.as_str()).unwrap_or_default();
        let event = collector.event(Event::new(name, &self.attr));
        let layout = SampleLayout::new(&self.attr);
        let mut rest = self.words.as_slice();
        while !rest.is_empty() {
            let (raw, after) = RawRecord::split_first(rest).map_err(io::Error::other)?;
            rest = after;
            // The summary counts those that do not decode.
            let Ok(record) = raw.decode(&layout) else { continue };
            collector.update(&record);
            if let Record::Sample(sample) = &record {
                collector.add(event, sample);
            }
        }
        Ok(collector.finish())
    }

    /// Returns the bytes of a `perf.data` file.
    pub(crate) fn file(&self) -> io::Result<Vec<u8>> {
        let system = System::new();
        let mut synthesizer = Synthesizer::new(&system, &self.attr);
        // Where the kernel hides its addresses, samples of it are without names.
        let _ = synthesizer.kernel();
        let mut writer = Writer::file(Cursor::new(Vec::new()), &self.events).map_err(io::Error::other)?;
        let start = synthesizer.records().as_bytes();
        let window = Window::from_slices(&self.words, &[]);
        let written = writer.write_plain(start).and_then(|()| {
            writer.finish_init()?;
            writer.write_window(window)?;
            writer.finish_round()
        });
        written.map_err(io::Error::other)?;

        let mut inventory = Inventory::new(&self.attr);
        inventory.note(window);
        for (path, build_id) in &inventory.files {
            match build_id {
                Some(id) => synthesizer.add_build_id(path, id),
                None => synthesizer.add_file(path),
            }
        }
        let mut features = machine_features(&system);
        features.set_events(&self.events);
        let version = concat!("perfkit ", env!("CARGO_PKG_VERSION")).as_bytes();
        features.set(Feature::VERSION, &FeatureData::Text(version));
        let arguments: Vec<Vec<u8>> = env::args_os().map(OsStringExt::into_vec).collect();
        let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
        features.set(Feature::CMDLINE, &FeatureData::CommandLine(arguments.as_slice().into()));
        if let Some((first, last)) = inventory.sample_times {
            features.set(Feature::SAMPLE_TIME, &FeatureData::SampleTime(SampleTime { first, last }));
        }
        let build_ids = synthesizer.build_ids();
        features.set(Feature::BUILD_ID, &FeatureData::BuildIds(build_ids.as_slice().into()));
        writer.finish(&features).map(Cursor::into_inner).map_err(io::Error::other)
    }
}
