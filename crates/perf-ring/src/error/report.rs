//! The error for `main`.

use core::error::Error;
use core::{fmt, iter};

/// The error that `main` returns: `Debug`, by which the standard library prints it, has the text of
/// the error and of its sources, not the fields.
///
/// `?` makes it of any error, as of a text:
///
/// ```no_run
/// use perf_ring::{Attr, Count, Event, Report, Software, Target};
///
/// fn main() -> Result<(), Report> {
///     let event = Event::open(&Attr::software(Software::TASK_CLOCK), Target::calling_thread())?;
///     println!("{}", Count::read(&event)?);
///     Ok(())
/// }
/// // Error: perf_event_open: Permission denied (os error 13): not permitted at ...
/// ```
///
/// It holds a `Box<dyn Error>`, which [`into_inner`](Self::into_inner) returns. Like the box, it
/// does not implement `Error`: a library returns its own errors. An error of `perf-sys` gets its
/// [usual cause](crate::Error::hint).
pub struct Report(Box<dyn Error>);

impl Report {
    /// Returns the error.
    #[must_use]
    pub fn into_inner(self) -> Box<dyn Error> {
        self.0
    }
}

impl<E: Into<Box<dyn Error>>> From<E> for Report {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

/// `{error}: {source}: {its source}`, without a source that has the text of its error.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = None;
        for error in chain(&*self.0) {
            let text = match error.downcast_ref::<perf_sys::Error>() {
                Some(&error) => super::Error::Sys(error).to_string(),
                None => error.to_string(),
            };
            match &before {
                Some(before) if *before == text => {}
                Some(_) => write!(f, ": {text}")?,
                None => f.write_str(&text)?,
            }
            before = Some(text);
        }
        Ok(())
    }
}

/// The text of `Display`.
impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns the error, its source, the source's source and so on.
pub(super) fn chain<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> + use<'a> {
    iter::successors(Some(error), |&error| error.source())
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::{Call, Errno, Refused};

    const EACCES: perf_sys::Error =
        perf_sys::Error::System { call: Call::PerfEventOpen, errno: Errno::EACCES };

    #[test]
    fn error_that_main_returns_prints_the_text_with_its_cause() {
        fn main() -> Result<(), Report> {
            Err(EACCES)?
        }
        let text = format!("{:?}", main().unwrap_err());
        assert_eq!(text, crate::Error::Sys(EACCES).to_string());
        assert!(
            text.starts_with("perf_event_open: Permission denied (os error 13): not permitted"),
            "{text}"
        );
    }

    #[test]
    fn refused_value_is_reported_with_the_reason_once() {
        let refused = Refused { error: crate::Error::Sys(EACCES), value: 7 };
        let text = Report::from(refused).to_string();
        assert!(text.starts_with("perf_event_open: Permission"), "{text}");
        assert_eq!(text.matches("os error 13").count(), 1, "{text}");
    }

    #[test]
    fn texts_and_boxes_become_reports_too() {
        assert_eq!(Report::from("no such thread").to_string(), "no such thread");
        let boxed: Box<dyn Error> = "no such thread".into();
        assert_eq!(Report::from(boxed).into_inner().to_string(), "no such thread");
    }

    #[test]
    fn error_is_found_in_sources_and_in_errors_of_std() {
        let error = crate::Error::Sys(EACCES);
        let found = |error: Box<dyn Error>| crate::Error::find(&*error);
        assert_eq!(found(EACCES.into()), Some(error));
        assert_eq!(found(error.into()), Some(error));
        assert_eq!(found(Refused { error, value: 7 }.into()), Some(error));
        assert_eq!(found(io::Error::from(error).into()), Some(error));
        assert_eq!(found(io::Error::other(Refused { error, value: 7 }).into()), Some(error));
        assert_eq!(found(io::Error::other("text").into()), None);
        assert_eq!(found("text".into()), None);
    }
}
