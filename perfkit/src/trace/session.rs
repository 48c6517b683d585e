//! The loop from the rings to the lines.

use std::ffi::CString;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use perf_session::EventSet;
use perf_session::ring::{WaitResult, Waker};

use super::Options;
use super::tracer::Tracer;
use crate::measure::command::{self, RunningCommand};
use crate::measure::events::{note_refreshed, set_filters};
use crate::measure::failure::Failure;
use crate::out::interrupt::{end_on_interrupt, wake};

/// Interval of checks for CPUs that came online.
const INTERVAL: Duration = Duration::from_secs(1);

/// Traces until the command or the processes exit, or until Ctrl-C. Returns the status of the
/// command.
pub(super) fn run(
    options: &Options,
    set: &mut EventSet,
    filters: &[Option<CString>],
    tracer: &mut Tracer<'_>,
) -> Result<Option<ExitStatus>, Failure> {
    let stop = Waker::new()?;
    let is_interrupted = Arc::new(AtomicBool::new(false));
    let (interrupted, waker) = (Arc::clone(&is_interrupted), stop.clone());
    let interrupt = move || {
        interrupted.store(true, Ordering::Relaxed);
        wake(&waker);
    };
    end_on_interrupt(interrupt, || {})?;
    let running = if let Some(mut command) = command::command(&options.command) {
        Some(command::start(&mut command, set, options.target.is_empty())?)
    } else {
        set.enable()?;
        None
    };
    if let Some(running) = &running {
        let waker = stop.clone();
        running.on_exit(move || wake(&waker))?;
    }
    let traced = trace(options, set, filters, tracer, &stop);
    let must_end = traced.is_err() || is_interrupted.load(Ordering::Relaxed);
    if let Some(running) = running.as_ref().filter(|_| must_end) {
        running.terminate()?;
    }
    let status = running.map(RunningCommand::wait).transpose()?;
    traced.map(|()| status)
}

fn trace(
    options: &Options,
    set: &mut EventSet,
    filters: &[Option<CString>],
    tracer: &mut Tracer<'_>,
    stop: &Waker,
) -> Result<(), Failure> {
    let is_on_cpus = options.target.is_on_cpus();
    let mut last_look = Instant::now();
    loop {
        let readiness = set.wait_or_woken(Some(INTERVAL), stop)?;
        set.drain_sorted(|record| tracer.add(&record))?;
        tracer.flush()?;
        // The events of offline CPUs hang up, but the CPUs may return.
        if readiness == WaitResult::Woken || (readiness.is_final() && !is_on_cpus) {
            break;
        }
        if is_on_cpus && last_look.elapsed() >= INTERVAL {
            note_refreshed(&set.refresh_with(|set| set_filters(set, filters).map_err(Failure::from))?);
            last_look = Instant::now();
        }
    }
    set.disable()?;
    set.flush_sorted(|record| tracer.add(&record))?;
    Ok(tracer.flush()?)
}
