//! Measurements of the running kernel. A test that may not open its event prints the reason and
//! passes.

#![allow(clippy::unwrap_used, clippy::panic)] // a failure here fails the test

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, thread};

use criterion::Criterion;
use criterion::measurement::Measurement;
use criterion_perf::{Error, PerfMeasurement, PerfMeasurementOptions};
use perf_session::Cause;
use rustix::process::Uid;

/// A hardware event number that no kernel has.
const REFUSED: &str = "0:0x4d";

/// Opens the event, or prints why not. A missing permission fails the test with
/// `PERFKIT_REQUIRE_LIVE=1`.
fn open_or_skip(options: PerfMeasurementOptions) -> Option<PerfMeasurement> {
    let error = match options.open() {
        Ok(measurement) => return Some(measurement),
        Err(error) => error,
    };
    let is_missing = matches!(&error, Error::Name(_))
        || error.diagnosis().is_some_and(|why| why.cause == Cause::NoHardwarePmu);
    let required = std::env::var_os("PERFKIT_REQUIRE_LIVE").is_some_and(|value| value == "1");
    assert!(is_missing || !required, "{error}");
    eprintln!("skipped: {error}");
    None
}

fn options(event: &str) -> PerfMeasurementOptions {
    PerfMeasurementOptions::new(event)
}

/// Returns the value of `work`.
fn measure(measurement: &PerfMeasurement, work: impl FnOnce()) -> Option<u64> {
    let start = measurement.start();
    work();
    measurement.end(start)
}

/// Larger than any block that malloc keeps for the next allocation.
const BYTES: usize = 64 << 20;

fn touch_new_pages() {
    black_box(vec![1_u8; BYTES]);
}

/// Returns the minimum and maximum of page faults in [`touch_new_pages`]. malloc has a header
/// before the block.
fn expected_faults() -> std::ops::RangeInclusive<u64> {
    let pages = (BYTES / rustix::param::page_size()) as u64;
    let huge = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    if huge.contains("[always]") { 10..=pages + 8 } else { pages..=pages + 8 }
}

#[test]
fn page_faults_are_those_of_the_new_pages() {
    let Some(measurement) = open_or_skip(options("page-faults")) else { return };
    assert_eq!(measurement.event(), "page-faults:u");
    let value = measure(&measurement, touch_new_pages).unwrap();
    assert!(expected_faults().contains(&value), "{value}");
    let text = measurement.formatter().format_value(measurement.to_f64(&Some(16_384)));
    assert_eq!(text, "16.384 K page-faults:u");
}

#[test]
fn task_clock_is_at_most_the_time_that_passes() {
    let Some(measurement) = open_or_skip(options("task-clock")) else { return };
    let start = Instant::now();
    let value = measure(&measurement, touch_new_pages).unwrap();
    let limit = u64::try_from(start.elapsed().as_nanos()).unwrap() / 100 * 101; // two clocks
    assert!((1..=limit).contains(&value), "{value} of {limit}");
    assert_eq!(measurement.formatter().scale_for_machines(&mut []), "ns task-clock:u");
}

#[test]
fn tracepoint_counts_the_system_calls_and_the_read_of_the_measurement() {
    let Some(measurement) = open_or_skip(options("raw_syscalls:sys_enter")) else { return };
    let value = measure(&measurement, || {
        for _ in 0..100 {
            black_box(rustix::process::getppid());
        }
    });
    // System call tracepoints do not fire for 32-bit programs.
    if cfg!(target_pointer_width = "64") {
        assert_eq!(value, Some(101));
    }
}

#[test]
fn instructions_grow_with_the_loop() {
    let Some(measurement) = open_or_skip(options("instructions")) else { return };
    let run =
        |times: u64| measure(&measurement, || (0..times).for_each(|number| _ = black_box(number))).unwrap();
    let (short, long) = (run(1_000), run(101_000));
    assert!(long - short >= 100_000, "{short}, {long}");
}

#[test]
fn threads_are_counted_only_if_they_inherit_the_event() {
    let faults = |options| {
        let measurement = open_or_skip(options)?;
        measure(&measurement, || thread::spawn(touch_new_pages).join().unwrap())
    };
    let (alone, inherited) =
        (faults(options("page-faults")), faults(options("page-faults").inherit_threads()));
    let Some((alone, inherited)) = alone.zip(inherited) else { return };
    let expected = *expected_faults().start();
    assert!(inherited >= alone + expected, "{alone}, {inherited}");
}

#[test]
fn clock_is_measured_in_place_of_an_event_that_is_refused() {
    if open_or_skip(options("task-clock")).is_none() {
        return;
    }
    let measurement = options(REFUSED).clock_if_refused().open().unwrap();
    assert_eq!(measurement.event(), "task-clock:u");
    assert!(matches!(measurement.refused(), Some(Error::Open { .. })));
    let value = measure(&measurement, touch_new_pages);
    let text = measurement.formatter().format_value(measurement.to_f64(&value));
    assert!(value > Some(0) && text.ends_with("s task-clock:u"), "{text}");
}

#[test]
fn refused_event_is_an_error_with_its_explanation() {
    let error = options(REFUSED).open().unwrap_err();
    let text = error.to_string();
    assert!(text.contains("perf_event_open") && text.contains("\nremedy"), "{text}");
    assert_eq!(format!("{error:#}").lines().count(), 1);
}

#[test]
fn misspelt_names_are_errors_with_the_nearest_name_even_if_the_clock_is_permitted() {
    let error = options("instrutions").clock_if_refused().open().unwrap_err();
    assert!(matches!(error, Error::Name(_)) && error.to_string().contains("instructions"), "{error}");
    let error = options("cycles,instructions").open().unwrap_err();
    assert!(error.to_string().contains("expected one event"), "{error}");
}

#[test]
fn kernel_needs_a_permission_and_user_space_does_not() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped: only root can become nobody");
    }
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    if level.trim() != "2" {
        return eprintln!("skipped: perf_event_paranoid is not 2");
    }
    let as_nobody = || {
        let nobody = Uid::from_raw(65534);
        // Make the system call directly, because it changes only this thread.
        rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
        assert!(open_or_skip(options("page-faults")).is_some());
        for options in [options("page-faults").include_kernel(), options("context-switches")] {
            let error = options.open().unwrap_err();
            assert_eq!(error.diagnosis().unwrap().cause, Cause::Paranoid, "{error}");
        }
    };
    thread::spawn(as_nobody).join().unwrap();
}

#[test]
fn unknown_values_stay_unknown_in_sums_and_are_0_for_criterion() {
    let Some(measurement) = open_or_skip(options("page-faults")) else { return };
    assert_eq!(measurement.end(None), None);
    assert_eq!(measurement.add(&Some(1), &None), None);
    assert_eq!(measurement.add(&measurement.zero(), &Some(2)), Some(2));
    assert!(measurement.to_f64(&None).abs() < f64::MIN_POSITIVE);
}

#[test]
fn equal_counts_differ_for_criterion_by_less_than_one() {
    let Some(measurement) = open_or_skip(options("page-faults")) else { return };
    let (one, other) = (measurement.to_f64(&Some(1_000_000)), measurement.to_f64(&Some(1_000_000)));
    let difference = (one - other).abs();
    assert!(difference > 0.0 && difference < 0.01, "{one}, {other}");
}

/// A page-fault measurement whose reads fail.
struct Unreadable(PerfMeasurement);

impl Measurement for Unreadable {
    type Intermediate = <PerfMeasurement as Measurement>::Intermediate;
    type Value = <PerfMeasurement as Measurement>::Value;

    fn start(&self) -> Self::Intermediate {
        None
    }

    fn end(&self, start: Self::Intermediate) -> Self::Value {
        self.0.end(start)
    }

    fn add(&self, one: &Self::Value, other: &Self::Value) -> Self::Value {
        self.0.add(one, other)
    }

    fn zero(&self) -> Self::Value {
        self.0.zero()
    }

    fn to_f64(&self, value: &Self::Value) -> f64 {
        self.0.to_f64(value)
    }

    fn formatter(&self) -> &dyn criterion::measurement::ValueFormatter {
        self.0.formatter()
    }
}

/// Runs a benchmark of page faults. Returns whether criterion has a result.
fn has_result<M: Measurement + 'static>(measurement: M, folder: &Path) -> bool {
    let criterion =
        Criterion::default().without_plots().output_directory(folder).with_measurement(measurement);
    let mut criterion = criterion
        .sample_size(10)
        .nresamples(100)
        .warm_up_time(Duration::from_millis(1))
        .measurement_time(Duration::from_millis(10));
    criterion.bench_function("touch", |bencher| bencher.iter(touch_new_pages));
    let is_there = folder.join("touch/new/estimates.json").exists();
    let _ = fs::remove_dir_all(folder);
    is_there
}

#[test]
fn criterion_has_a_result_of_known_values_only() {
    let folder = std::env::temp_dir().join(format!("criterion-perf-test-{}", std::process::id()));
    let Some(measurement) = open_or_skip(options("page-faults")) else { return };
    assert!(has_result(measurement, &folder));
    let Some(measurement) = open_or_skip(options("page-faults")) else { return };
    assert!(!has_result(Unreadable(measurement), &folder));
}
