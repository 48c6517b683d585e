//! The handle of the thread that looks up names.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Weak};
use std::time::Instant;

use super::code_changes::CodeChanges;
use super::elf::{ElfSymbols, NoLines};
use super::query::{Query, Symbols, Unnamed};
use super::worker::Worker;
use crate::MappedObject;
use crate::file::{ElfError, FileFinder, FoundFile, NotFound};

/// Names the functions at addresses.
///
/// ```no_run
/// use perf_symbols::{AddressSpaces, FileFinder, Query, Stack, Symbolizer};
///
/// # fn main() -> std::io::Result<()> {
/// # let (spaces, stack, pid) = (AddressSpaces::new(), Stack::new(), 1);
/// let symbolizer = Symbolizer::new(FileFinder::local())?;
/// // For each sample, before later records change the address spaces.
/// let queries: Vec<_> = stack.frames().iter().map(|frame| Query::new(&spaces, pid, frame)).collect();
/// // Now, or for many samples at once.
/// for symbols in symbolizer.symbolize(&queries) {
///     match symbols {
///         Ok(symbols) => symbols.functions.iter().for_each(|function| println!("{}", function.name)),
///         Err(reason) => println!("[{reason}]"),
///     }
/// }
/// # Ok(())
/// # }
/// ```
///
/// A separate thread does the work; the handle and its clones can be used from several threads.
/// Request many addresses at once, because addresses of one file are looked up together.
///
/// Names are cached, and so are the symbols of the most recently used files, up to
/// [a number of files](Self::with_max_files) and [of bytes](Self::with_max_bytes). The defaults
/// suit recordings, where each file is read only once. A program that runs as long as the system it
/// observes should choose less, such as 32 files and 192 MiB.
#[derive(Clone)]
pub struct Symbolizer {
    requests: Sender<Request>,
    /// Limit for debug information, in bytes. Unused with
    /// [`with_file_symbols`](Self::with_file_symbols).
    max_file_bytes: Arc<AtomicU64>,
    /// Number of addresses in pending requests.
    queued: Arc<AtomicUsize>,
}

/// Default limit in bytes for the debug information of a file. A browser has some 4 GB.
const MAX_FILE_BYTES: u64 = 8 << 30;
/// Stack size in bytes. Debug information within the limits needs less than 1 MB.
const STACK: usize = 8 << 20;

/// The symbols of an open ELF file.
///
/// [`Symbolizer::new`] uses [`ElfSymbols`]. A panic of an implementation is caught and counted, and
/// the file is not used again.
///
/// ```
/// use perf_symbols::{FileFinder, FileSymbols, Function, Symbolizer, Symbols};
///
/// /// Names each address by the file.
/// struct FileName(String);
///
/// impl FileSymbols for FileName {
///     fn symbolize(&mut self, _address: u64) -> Option<Symbols> {
///         Some(Symbols::new([Function { name: self.0.as_str().into(), source: None }], 0))
///     }
/// }
///
/// let symbolizer = Symbolizer::with_file_symbols(FileFinder::local(), |found| {
///     Ok(Box::new(FileName(found.object().path().display().to_string())))
/// })?;
/// # assert_eq!(symbolizer.counts().named, 0);
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait FileSymbols {
    /// Returns the functions at an address of the file's symbol table. Addresses of one request are
    /// ascending.
    fn symbolize(&mut self, address: u64) -> Option<Symbols>;

    /// Returns why [`symbolize`](Self::symbolize) found no function at an address; by default,
    /// [`Unnamed::NoSymbol`].
    fn no_symbol(&self, _address: u64) -> Unnamed {
        Unnamed::NoSymbol
    }
}

/// Reads the symbols of an open file.
pub(super) type OpenSymbols = dyn FnMut(Arc<FoundFile>) -> Result<Box<dyn FileSymbols>, ElfError>;

/// Numbers of addresses that were looked up, by result: returned by [`Symbolizer::counts`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NameCounts {
    /// Addresses with a name.
    pub named: u64,
    /// Addresses without a name, by reason. Includes functions of which only the start is known:
    /// [`Symbols::unnamed`].
    pub unnamed: HashMap<Unnamed, u64>,
    /// Addresses of functions without a line although the file has debug information, by reason.
    pub without_lines: HashMap<NoLines, u64>,
    /// Files whose [`FileSymbols`] panicked.
    pub panics: u64,
}

/// A pending request: returned by [`Symbolizer::request`].
#[derive(Debug)]
#[must_use]
pub struct NameRequest {
    answer: Option<Receiver<Vec<Result<Symbols, Unnamed>>>>,
    len: usize,
    /// Its drop signals the thread that the request is no longer wanted.
    _wanted: Arc<()>,
}

impl NameRequest {
    /// Waits for the names, in the form of [`Symbolizer::symbolize`].
    pub fn wait(self) -> Vec<Result<Symbols, Unnamed>> {
        let named = self.answer.and_then(|answer| answer.recv().ok());
        named.unwrap_or_else(|| vec![Err(Unnamed::Stopped); self.len])
    }

    /// Waits for the names, at most until `end`.
    ///
    /// # Errors
    ///
    /// Returns the request itself if its names are not complete by then.
    pub fn wait_until(self, end: Instant) -> Result<Vec<Result<Symbols, Unnamed>>, Self> {
        let left = end.saturating_duration_since(Instant::now());
        match self.answer.as_ref().map(|answer| answer.recv_timeout(left)) {
            Some(Ok(named)) => Ok(named),
            Some(Err(RecvTimeoutError::Timeout)) => Err(self),
            // The thread has ended.
            Some(Err(RecvTimeoutError::Disconnected)) | None => Ok(self.wait()),
        }
    }
}

pub(super) enum Request {
    Names { queries: Vec<Query>, reply: Sender<Vec<Result<Symbols, Unnamed>>>, wanted: Weak<()> },
    MaxFiles(usize),
    MaxBytes(u64),
    Counts { reply: Sender<NameCounts> },
    MissingFiles { reply: Sender<Vec<NotFound>> },
    CodeChanges { pid: u32, jitdump: MappedObject, reply: Sender<CodeChanges> },
}

impl Symbolizer {
    /// Starts the thread. It locates files with `finder`, and reads lines and inlined functions.
    ///
    /// # Errors
    ///
    /// Returns the error of the system if it cannot start a thread.
    pub fn new(finder: FileFinder) -> io::Result<Self> {
        Self::by_elf(finder, true)
    }

    /// Starts the thread without lines and inlined functions: several times faster, with less
    /// memory.
    ///
    /// # Errors
    ///
    /// Returns the error of the system if it cannot start a thread.
    pub fn without_lines(finder: FileFinder) -> io::Result<Self> {
        Self::by_elf(finder, false)
    }

    fn by_elf(finder: FileFinder, has_lines: bool) -> io::Result<Self> {
        let max_file_bytes = Arc::new(AtomicU64::new(MAX_FILE_BYTES));
        let (of_worker, limit) = (finder.clone(), max_file_bytes.clone());
        let symbolizer = Self::with_file_symbols(of_worker, move |found| {
            let limit = has_lines.then(|| limit.load(Ordering::Relaxed));
            Ok(Box::new(ElfSymbols::read(&finder, found, limit)?))
        })?;
        Ok(Self { max_file_bytes, ..symbolizer })
    }

    /// Starts the thread with another implementation of symbols: `open` reads the symbols of a file
    /// that was found, and may keep the file.
    ///
    /// # Errors
    ///
    /// Returns the error of the system if it cannot start a thread.
    pub fn with_file_symbols(
        finder: FileFinder,
        open: impl FnMut(Arc<FoundFile>) -> Result<Box<dyn FileSymbols>, ElfError> + Send + 'static,
    ) -> io::Result<Self> {
        let (requests, received) = mpsc::channel();
        let queued = Arc::new(AtomicUsize::new(0));
        let waiting = Arc::clone(&queued);
        let thread = std::thread::Builder::new().name("perf-symbols".to_owned()).stack_size(STACK);
        thread.spawn(move || {
            let mut worker = Worker::new(finder, Box::new(open));
            while let Ok(request) = received.recv() {
                // Sending fails if the caller has dropped the request, and then the reply is not
                // needed.
                match request {
                    Request::Names { queries, reply, wanted } => {
                        let named = worker.symbolize(&queries, || wanted.strong_count() > 0);
                        waiting.fetch_sub(queries.len(), Ordering::Relaxed);
                        if let Some(named) = named {
                            let _ = reply.send(named);
                        }
                    }
                    Request::MaxFiles(files) => worker.set_max_files(files),
                    Request::MaxBytes(bytes) => worker.set_max_bytes(bytes),
                    Request::Counts { reply } => drop(reply.send(worker.counts())),
                    Request::MissingFiles { reply } => drop(reply.send(worker.missing_files())),
                    Request::CodeChanges { pid, jitdump, reply } => {
                        drop(reply.send(worker.code_changes(pid, &jitdump)));
                    }
                }
            }
        })?;
        Ok(Self { requests, max_file_bytes: Arc::default(), queued })
    }

    /// Limits the debug information to read of a file, in bytes; 8 GiB by default. Larger files
    /// have names only: [`NoLines::TooLarge`]. Debug information is kept in memory decompressed,
    /// and takes up to the same amount again.
    #[must_use]
    pub fn with_max_file_bytes(self, bytes: u64) -> Self {
        self.max_file_bytes.store(bytes, Ordering::Relaxed);
        self
    }

    /// Limits the number of files whose symbols are cached, 256 by default and at least one; the
    /// least recently used are evicted. Each file takes one or two descriptors.
    #[must_use]
    pub fn with_max_files(self, files: usize) -> Self {
        // If the thread has ended, there is nothing to limit.
        let _ = self.requests.send(Request::MaxFiles(files));
        self
    }

    /// Limits the memory to about this number of bytes, 512 MiB by default: one half for the
    /// symbols of files, an eighth for names, and the rest for perf maps and the headers of closed
    /// files. A file may exceed its part; then it is the only one in the cache.
    ///
    /// A smaller limit costs time, because evicted files are read again for each address without a
    /// cached name.
    #[must_use]
    pub fn with_max_bytes(self, bytes: u64) -> Self {
        let _ = self.requests.send(Request::MaxBytes(bytes));
        self
    }

    /// Returns the functions at each address, in the order of the queries, or the reason for no
    /// name.
    pub fn symbolize(&self, queries: &[Query]) -> Vec<Result<Symbols, Unnamed>> {
        self.request(queries.to_vec()).wait()
    }

    /// Starts a lookup of the functions at each address, which runs while the caller continues. If
    /// the request is dropped, the work stops at the next file.
    pub fn request(&self, queries: Vec<Query>) -> NameRequest {
        let len = queries.len();
        let (reply, answer) = mpsc::channel();
        let wanted = Arc::new(());
        let request = Request::Names { queries, reply, wanted: Arc::downgrade(&wanted) };
        self.queued.fetch_add(len, Ordering::Relaxed);
        let sent = self.requests.send(request);
        NameRequest { answer: sent.is_ok().then_some(answer), len, _wanted: wanted }
    }

    /// Returns the number of addresses that wait for their lookup, including those in dropped
    /// requests. Use it to limit the requests, because each address takes some hundred bytes.
    pub fn queued(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
    }

    /// Returns the number of addresses that were looked up so far, by result.
    pub fn counts(&self) -> NameCounts {
        self.ask(|reply| Request::Counts { reply }).unwrap_or_default()
    }

    /// Returns the first 1024 files that were not found, with the reason and the rejected
    /// candidates of each.
    pub fn missing_files(&self) -> Vec<NotFound> {
        self.ask(|reply| Request::MissingFiles { reply }).unwrap_or_default()
    }

    /// Returns the code changes of a process so far, from
    /// [the jitdump](crate::AddressSpaces::jitdump) that it mapped; empty if the file is missing.
    /// Waits for earlier requests.
    pub fn code_changes(&self, pid: u32, jitdump: &MappedObject) -> CodeChanges {
        let jitdump = jitdump.clone();
        self.ask(|reply| Request::CodeChanges { pid, jitdump, reply }).unwrap_or_default()
    }

    fn ask<T>(&self, request: impl FnOnce(Sender<T>) -> Request) -> Option<T> {
        let (reply, answer) = mpsc::channel();
        self.requests.send(request(reply)).ok()?;
        answer.recv().ok()
    }
}

impl fmt::Debug for Symbolizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Symbolizer").finish_non_exhaustive()
    }
}

impl NameCounts {
    pub(super) fn add(&mut self, result: Result<&Symbols, Unnamed>) {
        match result {
            Ok(symbols) => {
                match symbols.unnamed {
                    None => self.named += 1,
                    Some(reason) => *self.unnamed.entry(reason).or_default() += 1,
                }
                if let Some(reason) = symbols.no_lines {
                    *self.without_lines.entry(reason).or_default() += 1;
                }
            }
            Err(reason) => *self.unnamed.entry(reason).or_default() += 1,
        }
    }

    /// Returns the reasons for missing names as text, the most frequent first.
    pub fn reasons(&self) -> Vec<(u64, String)> {
        most_frequent_first(&self.unnamed)
    }

    /// Returns the reasons for missing lines as text, the most frequent first.
    pub fn line_reasons(&self) -> Vec<(u64, String)> {
        most_frequent_first(&self.without_lines)
    }
}

fn most_frequent_first(reasons: &HashMap<impl fmt::Display, u64>) -> Vec<(u64, String)> {
    let mut by_text = BTreeMap::<String, u64>::new();
    for (reason, count) in reasons {
        *by_text.entry(reason.to_string()).or_default() += count;
    }
    let mut reasons: Vec<_> = by_text.into_iter().map(|(text, count)| (count, text)).collect();
    reasons.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    reasons
}

#[cfg(test)]
mod tests {
    use perf_abi::CpuMode;

    use super::*;
    use crate::{AddressSpaces, StackFrame};

    #[test]
    fn queue_is_empty_when_all_requests_were_answered_or_dropped() {
        let frame = StackFrame { mode: CpuMode::USER, address: 0x1000, is_return_address: false };
        let query = Query::new(&AddressSpaces::new(), 1, &frame);
        let symbolizer = Symbolizer::without_lines(FileFinder::local()).unwrap();
        let kept = symbolizer.request(vec![query.clone(); 3]);
        drop(symbolizer.clone().request(vec![query; 5]));
        assert_eq!(kept.wait().len(), 3);
        // The thread replies to this after the dropped request.
        assert!((3..=8).contains(&symbolizer.counts().unnamed.values().sum::<u64>()));
        assert_eq!(symbolizer.queued(), 0);
    }
}
