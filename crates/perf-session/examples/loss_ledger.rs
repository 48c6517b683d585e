//! One thread renames itself as fast as it can, each time a record. Another reads them too slowly
//! from rings that are too small. At the end, every renaming must have been delivered or be in the
//! ledger.
//!
//! Usage: `loss_ledger [SECONDS [PAGES]]`, 10 seconds and 1 page by default.
//!
//! Needs a tracefs, the permission to read it, and Linux 6.0, which counts the losses of each
//! event.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use perf_session::ring::RecordType;
use perf_session::{EventSetOptions, EventSetTarget, LossKind, LossLedger, System, Tracefs};

/// Number of renamings by their fate.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Renamings that the thread made.
    pub(crate) calls: u64,
    /// Renamings that the event counted.
    pub(crate) counted: u64,
    /// Samples that were read from the rings.
    pub(crate) delivered: u64,
    /// The losses, after the rings are gone.
    pub(crate) ledger: LossLedger,
}

impl Outcome {
    /// Returns whether each renaming was delivered or lost, and none twice.
    pub(crate) fn is_exact(&self) -> bool {
        let dropped = self.ledger.dropped();
        let reported = self.ledger.amount(LossKind::Lost);
        self.calls == self.counted && self.counted == self.delivered + dropped && reported <= dropped
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calls, counted, delivered, ledger } = self;
        let dropped = ledger.dropped();
        writeln!(f, "{calls} renamings, {counted} counted = {delivered} delivered + {dropped} dropped")?;
        ledger.fmt(f)
    }
}

/// Renames a thread for `time`, with rings of `pages` data pages.
pub(crate) fn run(time: Duration, pages: usize) -> Result<Outcome, Box<dyn Error>> {
    let renames = Tracefs::find(&System::new())?.tracepoint("task", "task_rename")?;
    let renames = renames.event_spec().map_attr(|attr| attr.with_period(1));
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let (send_thread, thread) = channel();
        let (start, started) = channel::<()>();
        let is_over = &is_over;
        let caller = scope.spawn(move || {
            let own = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
            let mut calls = 0;
            if send_thread.send(own).is_ok() && started.recv().is_ok() {
                while !is_over.load(Ordering::Relaxed) && rustix::thread::set_name(c"soak").is_ok() {
                    calls += 1;
                }
            }
            calls
        });
        let options = EventSetOptions::new()
            .event(renames)
            .target(EventSetTarget::thread(thread.recv()?))
            .ring_pages(pages);
        let mut set = options.open()?;
        if !set.reads_lost() {
            return Err("this kernel does not count the lost samples of an event (since Linux 6.0)".into());
        }
        set.enable()?;
        start.send(())?;
        let mut delivered = 0;
        let end = Instant::now() + time;
        while Instant::now() < end {
            set.wait(Some(Duration::from_millis(50)))?;
            set.drain_sorted(|record| delivered += u64::from(record.raw().kind() == RecordType::SAMPLE))?;
        }
        is_over.store(true, Ordering::Relaxed);
        let calls = caller.join().map_err(|_| "the caller has panicked")?;
        set.disable()?;
        set.flush_sorted(|record| delivered += u64::from(record.raw().kind() == RecordType::SAMPLE))?;
        let counted = set.counts()?.get(0).map_or(0, |event| event.total().value);
        Ok(Outcome { calls, counted, delivered, ledger: set.close()? })
    })
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u32>());
    let (seconds, pages) = match (arguments.next().unwrap_or(Ok(10)), arguments.next().unwrap_or(Ok(1))) {
        (Ok(seconds), Ok(pages)) => (seconds, pages as usize),
        (Err(error), _) | (_, Err(error)) => {
            eprintln!("soak: {error}\nusage: soak [SECONDS [PAGES]]");
            return ExitCode::FAILURE;
        }
    };
    match run(Duration::from_secs(seconds.into()), pages) {
        Ok(outcome) => {
            println!("{outcome}");
            if outcome.is_exact() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("soak: {error}");
            ExitCode::FAILURE
        }
    }
}
