//! The settings of criterion for all benches: short measurements, because there are hundreds of
//! them, of time or of a perf event.

use std::env;
use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

use criterion::Criterion;
use criterion::measurement::Measurement;
use criterion_perf::{Error, PerfMeasurement, PerfMeasurementOptions};

/// Environment variable with the name of an event to count instead of time.
pub const EVENT: &str = "PERFKIT_BENCH_EVENT";

/// Returns the settings of all benches. Command-line options override them.
pub fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(400))
        .nresamples(10_000)
        .without_plots()
}

/// Returns the counter of the event in [`EVENT`], or of the task clock if this machine refuses the
/// event.
///
/// # Errors
///
/// [`Error`] if the event's name is unknown, or the machine permits no event.
pub fn event() -> Result<Option<PerfMeasurement>, Error> {
    let Ok(name) = env::var(EVENT) else { return Ok(None) };
    PerfMeasurementOptions::new(name).clock_if_refused().open().map(Some)
}

/// Returns the folder for results of an event, which must not be compared with times.
pub fn results_of(event: &str) -> PathBuf {
    let home = env::var_os("CRITERION_HOME").map_or_else(|| "target/criterion".into(), PathBuf::from);
    home.join(event.replace('/', "_"))
}

/// Runs a group of benches, or prints the reason why the machine cannot.
pub fn run<M: Measurement, E: Display>(
    mut criterion: Criterion<M>,
    group: impl FnOnce(&mut Criterion<M>) -> Result<(), E>,
) {
    if let Err(reason) = group(&mut criterion) {
        eprintln!("skipped: {reason}");
    }
    criterion.final_summary();
}

/// Defines `main` of a bench target. Its benches are a function that is generic over the
/// measurement: time, or the event of [`EVENT`].
#[macro_export]
macro_rules! bench_main {
    ($group:path) => {
        fn main() -> $crate::Result<()> {
            use $crate::measurement::{criterion, event, results_of, run};
            match event()? {
                None => run(criterion().configure_from_args(), $group),
                Some(event) => {
                    let results = results_of(event.event());
                    let criterion = criterion().with_measurement(event).output_directory(&results);
                    run(criterion.configure_from_args(), $group);
                }
            }
            Ok(())
        }
    };
}
