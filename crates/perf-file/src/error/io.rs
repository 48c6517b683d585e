//! The way to std's error.

use std::io;

use super::{Error, Reason};
use crate::std_error::into_std;

impl Error {
    /// Returns the number of the errno if a system call failed.
    pub fn raw_os_error(&self) -> Option<i32> {
        match &self.reason {
            Reason::Io(error) | Reason::Write { error, .. } => error.raw_os_error(),
            _ => None,
        }
    }

    /// Returns the kind of the failed call, and of a malformed file `InvalidData`.
    fn kind(&self) -> io::ErrorKind {
        match &self.reason {
            Reason::Io(error) | Reason::Write { error, .. } => error.kind(),
            Reason::NoDataFile | Reason::NoPart { .. } => io::ErrorKind::NotFound,
            Reason::Truncated { .. } | Reason::TruncatedRecord { .. } | Reason::Empty => {
                io::ErrorKind::UnexpectedEof
            }
            Reason::NotPipe
            | Reason::NotRegularFile { .. }
            | Reason::RecordTooLong { .. }
            | Reason::NoEvent { .. } => io::ErrorKind::InvalidInput,
            _ => io::ErrorKind::InvalidData,
        }
    }
}

into_std! { Error }

impl From<io::Error> for Error {
    /// Takes out the error that [`io::Error::from`] put in.
    fn from(error: io::Error) -> Self {
        match error.downcast() {
            Ok(error) => error,
            Err(error) => Self::of_file(Reason::Io(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused() -> Error {
        Error::of_file(Reason::Io(io::Error::from_raw_os_error(13)))
    }

    #[test]
    fn std_error_keeps_kind_and_text_and_the_error_itself() {
        let error = io::Error::from(refused());
        assert_eq!((error.kind(), error.raw_os_error()), (io::ErrorKind::PermissionDenied, None));
        assert_eq!(error.to_string(), refused().to_string());
        let inner = error.get_ref().unwrap().downcast_ref::<Error>().unwrap();
        assert_eq!((inner.raw_os_error(), inner.to_os_error().raw_os_error()), (Some(13), Some(13)));
        let back = Error::from(error);
        assert_eq!((back.raw_os_error(), back.offset), (Some(13), None));
        let malformed = Error::new(8, Reason::Size { what: "the header", expected: "16", found: 5 });
        assert_eq!(malformed.to_os_error().kind(), io::ErrorKind::InvalidData);
        assert_eq!(malformed.to_os_error().to_string(), malformed.to_string());
    }

    #[test]
    fn kind_of_a_std_error_is_that_of_the_cause() {
        let truncated = Reason::Truncated { what: "the header", needed: 8, available: 0 };
        for (reason, kind) in [
            (Reason::NoDataFile, io::ErrorKind::NotFound),
            (truncated, io::ErrorKind::UnexpectedEof),
            (Reason::NotPipe, io::ErrorKind::InvalidInput),
            (Reason::Unsupported { what: "version", found: 7 }, io::ErrorKind::InvalidData),
        ] {
            assert_eq!(io::Error::from(Error::of_file(reason)).kind(), kind);
        }
        // One that this crate did not make.
        let other = Error::from(io::Error::from(io::ErrorKind::StorageFull));
        assert!(matches!(other.reason, Reason::Io(error) if error.kind() == io::ErrorKind::StorageFull));
    }

    #[test]
    fn file_that_cannot_be_opened_has_no_offset() {
        let error = crate::read::Reader::open("/nowhere/at/all").unwrap_err();
        assert_eq!((error.offset, error.raw_os_error()), (None, Some(2)));
        assert!(error.to_string().starts_with("No such file"), "{error}");
    }
}
