//! All records of a reader.

use perf_file::{Error, FileRecord, Reader, Source};

/// Returns what `f` returns for each record, and the error at the end. Nothing follows it.
pub(crate) fn until_error<S: Source, T>(
    reader: &mut Reader<S>,
    mut f: impl FnMut(FileRecord<'_>) -> T,
) -> (Vec<T>, Option<Error>) {
    let mut found = Vec::new();
    let error = loop {
        match reader.next() {
            Ok(Some(record)) => found.push(f(record)),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    assert!(matches!(reader.next(), Ok(None)), "a record after the end");
    (found, error)
}

/// Returns what `f` returns for each record of a reader without an error.
pub(crate) fn all<S: Source, T>(reader: &mut Reader<S>, f: impl FnMut(FileRecord<'_>) -> T) -> Vec<T> {
    let (found, error) = until_error(reader, f);
    assert!(error.is_none(), "{error:?}");
    found
}

/// Returns the times of all records that have one.
pub(crate) fn times<S: Source>(reader: &mut Reader<S>) -> Vec<u64> {
    all(reader, |record| record.time()).into_iter().flatten().collect()
}
