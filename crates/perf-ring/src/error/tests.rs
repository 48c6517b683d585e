//! Tests of texts and chains.

use std::io;

use super::*;

const REFUSED: Error =
    Error::Sys(perf_sys::Error::System { call: Call::PerfEventOpen, errno: Errno::EACCES });

/// Returns the texts of `error` and its sources, as reporters of error chains print them.
fn chain(error: &dyn core::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}\ncaused by: {}", chain(cause)),
        None => error.to_string(),
    }
}

#[test]
fn a_chain_prints_the_errno_once() {
    let error = io::Error::from(REFUSED);
    for text in [chain(&REFUSED), chain(&error)] {
        assert!(
            text.starts_with("perf_event_open: Permission denied (os error 13): not permitted at"),
            "{text}"
        );
        assert_eq!(text.matches("Permission denied").count(), 1, "{text}");
        assert_eq!(text.matches("os error 13").count(), 1, "{text}");
    }
}

#[test]
fn an_io_error_keeps_kind_text_and_error() {
    let error = io::Error::from(REFUSED);
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    assert_eq!(error.to_string(), REFUSED.to_string());
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    assert_eq!(inner, Some(&REFUSED));
    assert_eq!(inner.unwrap().raw_os_error(), Some(13));
}

#[test]
fn os_error_keeps_the_errno_that_the_conversion_hides() {
    assert_eq!(io::Error::from(REFUSED).raw_os_error(), None);
    assert_eq!(REFUSED.to_os_error().raw_os_error(), Some(13));
    let size = Error::Sys(perf_sys::Error::AttrSize { kernel: 136, call: Call::PerfEventOpen });
    assert_eq!(size.to_os_error().raw_os_error(), Some(Errno::E2BIG.raw_os_error()));
    let misuse = Error::Sys(perf_sys::Error::PageCount { found: 3 });
    assert_eq!(misuse.to_os_error().to_string(), misuse.to_string());
}

#[test]
fn an_error_without_errno_has_a_fitting_kind() {
    let length = Error::ReadLength { needed: 16, found: 8 };
    let kinds = [
        (Error::Sys(perf_sys::Error::PageCount { found: 3 }), io::ErrorKind::InvalidInput),
        (Error::Sys(perf_sys::Error::WriteBackward), io::ErrorKind::InvalidInput),
        (length, io::ErrorKind::InvalidData),
        (Error::Sys(perf_sys::Error::ThreadId { found: 0 }), io::ErrorKind::InvalidInput),
        (Error::PinnedFailed, io::ErrorKind::ResourceBusy),
    ];
    for (error, kind) in kinds {
        assert_eq!(io::Error::from(error).kind(), kind, "{error}");
        assert_eq!((error.errno(), error.raw_os_error(), error.call()), (None, None, None), "{error}");
    }
}

#[test]
fn an_errno_without_a_hint_prints_its_text() {
    let text = Error::of(Call::Munmap)(rustix::io::Errno::NOMEM).to_string();
    assert_eq!(text, "munmap: Cannot allocate memory (os error 12)");
}

#[test]
fn error_has_at_most_48_bytes() {
    assert!(size_of::<Error>() <= 48, "{}", size_of::<Error>());
}
