//! A recording as profiles, one for each period, for an agent that runs on each machine of a fleet.
//!
//! Names are looked up and profiles are written in another thread, and sent in a third, so that
//! neither a slow disk nor a slow collector keeps the rings from being read.

mod folder;
mod hand_over;
mod push;
mod rarely;
mod worker;

use std::fmt;
use std::io;
use std::thread::JoinHandle;
use std::time::SystemTime;

use clap::{Args, ValueEnum};
use perf_decode::LostCounts;
use perf_record::Recorder;
use perf_record::synthesize::Missing;
use perf_session::ring::RecordType;

use super::Options;
use super::report::Written;
use super::sink::Sink;
use crate::measure::failure::Failure;
use crate::out::message::{count, note};
use crate::out::thread;
use folder::Folder;
use hand_over::{HandOver, Period, Work, queue};
use push::{Push, Url};
use worker::{Outcome, Worker};

/// The options of profiles.
#[derive(Args, Clone, Debug)]
pub(in crate::record) struct ProfileOptions {
    /// Format of the output: a recording, or a pprof profile each period, in the folder of -o
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "data")]
    pub(in crate::record) format: Format,
    /// The collector that gets each profile.
    #[arg(
        long,
        value_name = "URL",
        requires = "every",
        value_parser = Url::parse,
        help = "Send each profile by HTTP to a collector on this machine, as http://localhost:4040/ingest?name=NAME; the exit \
            status is 1 if one was lost"
    )]
    push: Option<Url>,
}

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::record) enum Format {
    Data,
    Pprof,
}

impl ProfileOptions {
    /// Returns whether the output is profiles.
    pub(in crate::record) fn is_used(&self) -> bool {
        self.format == Format::Pprof || self.push.is_some()
    }

    /// Returns whether the profiles are sent, so that they need no folder.
    pub(in crate::record) fn is_only_pushed(&self) -> bool {
        self.push.is_some()
    }
}

/// The thread that makes profiles.
pub(in crate::record) struct Profiles {
    /// The thread and its work; `None` after the end.
    worker: Option<(HandOver, JoinHandle<Outcome>)>,
    outcome: Outcome,
    start: SystemTime,
    /// Samples of this period that were skipped because the thread was too slow.
    skipped: u64,
    /// The same for all periods.
    all_skipped: u64,
}

impl Profiles {
    /// Starts the thread with synthesized records of what runs already.
    pub(in crate::record) fn start(
        options: &Options,
        recorder: &mut Recorder,
        notes: &mut Vec<String>,
    ) -> io::Result<Self> {
        let folder = options.folder()?.map(Folder::open).transpose()?;
        let push = options.profiles.push.clone().map(Push::start).transpose()?;
        let (synthesizer, missing) = recorder.synthesize()?;
        notes.extend(missing.iter().map(ToString::to_string));
        let mut worker = Worker::new(recorder.events(), folder, push)?;
        worker.add(synthesizer.records().as_words());
        let (hand_over, work) = queue();
        let worker = Some((hand_over, thread::start("perfkit-profiles", move || worker.run(work))?));
        let outcome = Outcome::default();
        Ok(Self { worker, outcome, start: SystemTime::now(), skipped: 0, all_skipped: 0 })
    }

    fn push(&self, work: Work) {
        if let Some((hand_over, _)) = &self.worker {
            hand_over.push(work);
        }
    }

    /// Takes the last records of a period, and asks for its profile.
    fn end_period(&mut self, recorder: &mut Recorder) -> Result<(), Failure> {
        self.drain(recorder)?;
        let lost = recorder.take_lost()?;
        let lost = lost.iter().map(|lost| lost.count).fold(0, u64::saturating_add);
        let end = SystemTime::now();
        let skipped = std::mem::take(&mut self.skipped);
        self.all_skipped += skipped;
        let start = std::mem::replace(&mut self.start, end);
        self.push(Work::End(Period { start, end, lost: LostCounts::new(lost, skipped) }));
        Ok(())
    }
}

impl Sink for Profiles {
    fn begin<'r>(&'r mut self, _recorder: &'r mut Recorder) -> Result<&'r [Missing], Failure> {
        // The thread began with them.
        Ok(&[])
    }

    fn drain(&mut self, recorder: &mut Recorder) -> Result<(), Failure> {
        let is_full = self.worker.as_ref().is_some_and(|(hand_over, _)| hand_over.is_full());
        let (mut words, skipped) = (Vec::new(), &mut self.skipped);
        recorder.flush_sorted(|record| match record.kind() {
            RecordType::SAMPLE if is_full => *skipped += 1,
            // Mappings are needed for all later samples.
            _ => words.extend_from_slice(record.words()),
        })?;
        if !words.is_empty() {
            self.push(Work::Records(words));
        }
        Ok(())
    }

    fn add_ids(&mut self, event: usize, ids: &[u64]) -> Result<(), Failure> {
        self.push(Work::Ids { event, ids: ids.to_vec() });
        Ok(())
    }

    fn is_full(&self) -> bool {
        false
    }

    fn switch(&mut self, recorder: &mut Recorder) -> Result<(), Failure> {
        self.end_period(recorder)
    }

    fn finish(&mut self, recorder: &mut Recorder) -> Result<(), Failure> {
        self.end_period(recorder)?;
        if let Some((hand_over, worker)) = self.worker.take() {
            drop(hand_over);
            self.outcome =
                worker.join().map_err(|_| io::Error::other("the thread that makes profiles panicked"))?;
        }
        Ok(())
    }

    fn written(&self) -> Written {
        let Outcome { samples, malformed, profiles, .. } = self.outcome;
        let unwritten = self.outcome.unwritten();
        Written {
            samples,
            unwritten,
            switches: None,
            malformed,
            place: count(profiles, "profile"),
            cause: Written::FULL,
        }
    }

    fn is_written(&self) -> bool {
        self.outcome.is_written()
    }

    fn print_outcome(&self, is_quiet: bool) {
        let skipped = self.all_skipped;
        if skipped > 0 {
            note(format_args!("{} dropped, because naming functions took longer", count(skipped, "sample")));
        }
        self.outcome.print(is_quiet);
    }
}

impl fmt::Debug for Profiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Profiles").field("outcome", &self.outcome).finish_non_exhaustive()
    }
}
