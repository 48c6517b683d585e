//! The thread that makes profiles of records.

use std::env;
use std::io;

use perf_file::writer::RecordedEvent;
use perf_profile::{Collector, Event, EventCollector, Pprof, ProfileBuilder};
use perf_session::ring::decode::Window;
use perf_session::ring::{RawRecord, SampleLayout, Software};

use super::folder::{Folder, Unwritten};
use super::hand_over::{Period, Work, WorkQueue};
use super::push::{Push, Pushed};
use crate::measure::running;
use crate::out::interrupt::wait_for_names;
use crate::out::message::{count, note};

/// The events, the address spaces and the outputs.
pub(super) struct Worker {
    events: EventCollector,
    /// The layout of each event.
    layouts: Vec<SampleLayout>,
    folder: Option<Folder>,
    push: Option<Push>,
    /// Whether the time for names was over, after an interrupt.
    has_given_up: bool,
    outcome: Outcome,
}

/// The counts of a recording as profiles.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Samples, summed over the profiles.
    pub(super) samples: u64,
    /// Bytes that do not form a record of a known event.
    pub(super) malformed: u64,
    pub(super) profiles: u64,
    /// Addresses whose names were not there in time, after an interrupt.
    unnamed: u64,
    /// Number and samples of the profiles that were not written to a folder.
    unwritten: Unwritten,
    pushed: Option<Pushed>,
}

impl Outcome {
    /// Returns the number of samples in profiles that could not be written to the folder.
    pub(super) fn unwritten(&self) -> u64 {
        self.unwritten.samples
    }

    /// Returns whether the folder and the collector have all profiles.
    pub(super) fn is_written(&self) -> bool {
        self.unwritten.profiles == 0 && self.pushed.as_ref().is_none_or(|pushed| pushed.lost() == 0)
    }

    /// Prints the numbers of sent, unwritten and unsent profiles.
    pub(super) fn print(&self, is_quiet: bool) {
        if self.unnamed > 0 {
            let addresses = count(self.unnamed, "address");
            note(format_args!(
                "{addresses} without a name, because there was no time for more after the signal"
            ));
        }
        let Unwritten { profiles, samples } = self.unwritten;
        if profiles > 0 {
            let samples = count(samples, "sample");
            note(format_args!("{} with {samples} not written, see above", count(profiles, "profile")));
        }
        if let Some(pushed) = self.pushed.as_ref().filter(|pushed| !is_quiet || pushed.lost() > 0) {
            note(pushed);
        }
    }
}

impl Worker {
    pub(super) fn new(
        recorded: &[RecordedEvent],
        folder: Option<Folder>,
        push: Option<Push>,
    ) -> io::Result<Self> {
        // The wait for names is at the end of a period only, where a signal ends it.
        let resolver = running::resolver(true)?.without_waiting();
        let mut events = EventCollector::new(Collector::new(resolver, ProfileBuilder::new()));
        for event in recorded {
            let has_samples = !event.attr.is_software(Software::DUMMY);
            let added = has_samples.then(|| Event::new(event.name.clone(), &event.attr));
            let index = events.add_event(event.attr, added);
            events.add_ids(index, event.ids.iter().copied());
        }
        let layouts = recorded.iter().map(|event| SampleLayout::new(&event.attr)).collect();
        Ok(Self { events, layouts, folder, push, has_given_up: false, outcome: Outcome::default() })
    }

    /// Works until the queue is closed.
    pub(super) fn run(mut self, queue: WorkQueue) -> Outcome {
        for work in queue {
            match work {
                Work::Records(words) => self.add(&words),
                Work::Ids { event, ids } => self.events.add_ids(event, ids),
                Work::End(period) => self.end(period),
            }
        }
        self.outcome.unwritten = self.folder.map_or_else(Unwritten::default, |folder| folder.unwritten);
        self.outcome.pushed = self.push.map(Push::finish);
        self.outcome
    }

    /// Adds whole records.
    pub(super) fn add(&mut self, words: &[u64]) {
        for record in Window::from_slices(words, &[]).records(&mut []).map_while(Result::ok) {
            if self.add_record(record).is_none() {
                self.outcome.malformed += record.size() as u64;
            }
        }
    }

    /// Adds a record. Returns `None` if it is malformed, or a sample of an unknown event.
    fn add_record(&mut self, record: RawRecord<'_>) -> Option<()> {
        // All events have their id at the same offset.
        let first = self.layouts.first()?;
        let known = record.id(first).and_then(|id| self.events.index_of(id));
        // Records about tasks from before the recording belong to no event.
        let record = record.decode(self.layouts.get(known.unwrap_or(0))?).ok()?;
        (self.events.add(&record, known, |_| true) == 0).then_some(())
    }

    /// Writes and sends the profile of a period.
    fn end(&mut self, period: Period) {
        let Period { start, end, lost } = period;
        self.events.collector_mut().note_lost(lost);
        if !lost.is_empty() {
            running::forget_dead(self.events.collector_mut());
        }
        let mut pending = self.events.collector_mut().take();
        if !self.has_given_up && !wait_for_names(|until| pending.wait_until(until)) {
            self.has_given_up = true;
            self.events.collector_mut().stop_naming();
        }
        self.outcome.unnamed += pending.waiting() as u64;
        let profile = pending.so_far();
        let command: Vec<String> = env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        let pprof = Pprof::new()
            .with_time(start)
            .with_duration(end.duration_since(start).unwrap_or_default())
            .with_comment(command.join(" "));
        let mut bytes = Vec::new();
        if pprof.write(&profile, &mut bytes).is_err() {
            return; // memory is always written
        }
        let samples = profile.samples().iter().map(|sample| sample.count).fold(0, u64::saturating_add);
        if self.folder.as_mut().is_none_or(|folder| folder.add(start, samples, &bytes)) {
            self.outcome.samples += samples;
            self.outcome.profiles += 1;
        }
        if let Some(push) = &self.push {
            push.send(start, end, bytes);
        }
    }
}
