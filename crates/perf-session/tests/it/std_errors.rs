//! Conversions of errors into std's: `?` into `io::Error`, and the fields in `Debug`.

use std::error::Error;
use std::fmt::{Debug, Display};
use std::io::{self, ErrorKind};

use perf_session::ring::{Attr, EventType, Target};
use perf_session::{AttrFallback, CpuList, CpuListError, Pmu, PmuTerm, Probe, System, Tracefs, parse};

/// Converts, and checks that text and error are kept.
fn into_io<E: Error + Display + Debug + Into<io::Error> + Send + Sync + 'static>(error: E) -> io::Error {
    let text = error.to_string();
    assert_ne!(format!("{error:?}"), text);
    let error: io::Error = error.into();
    assert_eq!(error.to_string(), text);
    assert!(error.get_ref().unwrap().is::<E>());
    error
}

#[test]
fn errors_of_files_keep_the_kind_of_the_errno() {
    let nowhere = System::at("/nonexistent");
    let file = nowhere.read("/proc/x").unwrap_err();
    assert_eq!((file.raw_os_error(), file.to_os_error().raw_os_error()), (Some(2), Some(2)));
    assert_eq!(into_io(file).kind(), ErrorKind::NotFound);
    let pmu = Pmu::named(&nowhere, "cpu").unwrap_err();
    assert_eq!(pmu.to_os_error().raw_os_error(), Some(2));
    assert_eq!(into_io(pmu).kind(), ErrorKind::NotFound);
    let probe = Probe::file_function("/nonexistent/x", "main").unwrap_err();
    assert_eq!(probe.raw_os_error(), Some(2));
    assert_eq!(into_io(probe).kind(), ErrorKind::NotFound);
    let tracefs = Tracefs::find(&nowhere).unwrap_err();
    assert_eq!((tracefs.raw_os_error(), tracefs.to_os_error().kind()), (None, ErrorKind::NotFound));
    assert_eq!(into_io(tracefs).kind(), ErrorKind::NotFound);
}

#[test]
fn errors_of_texts_are_invalid_input() {
    let nowhere = System::at("/nonexistent");
    assert_eq!(into_io(parse("cyclse", &nowhere).unwrap_err()).kind(), ErrorKind::InvalidInput);
    let cpus: Result<CpuList, CpuListError> = "0-".parse();
    assert_eq!(into_io(cpus.unwrap_err()).kind(), ErrorKind::InvalidInput);
    assert_eq!(into_io(PmuTerm::parse_list("a=b=c").unwrap_err()).kind(), ErrorKind::InvalidInput);
}

#[test]
fn errors_of_a_fallback_have_the_errno_of_the_last_call() {
    let attr = Attr::new(EventType(0x7fff_ffff), 0);
    let opened =
        AttrFallback::new(&attr).open(|attr| perf_session::ring::Event::open(attr, Target::calling_thread()));
    let error = opened.unwrap_err();
    let raw = error.raw_os_error();
    assert!(raw.is_some(), "{error}");
    assert_eq!(error.to_os_error().raw_os_error(), raw);
    into_io(error);
}
