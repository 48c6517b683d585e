//! The handle of the thread that looks names up.

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
/// // For each sample, while the address spaces are as they were then.
/// let queries: Vec<_> = stack.frames().iter().map(|frame| Query::new(&spaces, pid, frame)).collect();
/// // Now, or for many samples at once.
/// for symbols in symbolizer.symbolize(&queries) {
///     match symbols {
///         Ok(symbols) => symbols.functions().iter().for_each(|function| println!("{}", function.name)),
///         Err(reason) => println!("[{reason}]"),
///     }
/// }
/// # Ok(())
/// # }
/// ```
///
/// The work is done by a separate thread; the handle and its clones can be used by several. Ask for many addresses at once:
/// those of one file are looked up together.
///
/// Names that were found are kept, and the symbols of the files that were used last, up to
/// [a number of files](Self::with_max_files) and [of bytes](Self::with_max_bytes). For a recording they are large, so that
/// each file is read once. A program that runs for as long as what it observes takes less, such as 32 files and 192 MiB.
#[derive(Clone)]
pub struct Symbolizer {
    requests: Sender<Request>,
    /// Of debug information. Unused with other symbols.
    max_file_bytes: Arc<AtomicU64>,
    /// Addresses in the requests.
    queued: Arc<AtomicUsize>,
}

/// Bytes of debug information of one file. A browser has some 4 GB.
const MAX_FILE_BYTES: u64 = 8 << 30;
/// Bytes of the stack: debug information within the limits takes less than one MB.
const STACK: usize = 8 << 20;

/// The symbols of one ELF file that is open.
///
/// [`ElfSymbols`] are those that [`Symbolizer::new`] uses. A panic is caught and counted, and the file is not asked for again.
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
    /// Returns the functions at an address of the file's symbol table. Addresses that are asked for at once are ascending.
    fn symbolize(&mut self, address: u64) -> Option<Symbols>;
}

/// Reads the symbols of a file that was found and is open.
pub(super) type OpenSymbols = dyn FnMut(Arc<FoundFile>) -> Result<Box<dyn FileSymbols>, ElfError>;

/// The addresses that were looked up, by result: returned by [`Symbolizer::counts`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NameCounts {
    /// Addresses with a name.
    pub named: u64,
    /// Addresses without a name, by reason.
    pub unnamed: HashMap<Unnamed, u64>,
    /// Named addresses without a line, by reason, if the file has debug information.
    pub without_lines: HashMap<NoLines, u64>,
    /// Files whose [`FileSymbols`] panicked.
    pub panics: u64,
}

/// Names that were asked for by [`Symbolizer::request`].
#[derive(Debug)]
#[must_use]
pub struct NameRequest {
    answer: Option<Receiver<Vec<Result<Symbols, Unnamed>>>>,
    len: usize,
    /// Nothing more is looked up for a request that was dropped.
    _wanted: Arc<()>,
}

impl NameRequest {
    /// Waits for the names: those of [`Symbolizer::symbolize`].
    pub fn wait(self) -> Vec<Result<Symbols, Unnamed>> {
        let named = self.answer.and_then(|answer| answer.recv().ok());
        named.unwrap_or_else(|| vec![Err(Unnamed::Stopped); self.len])
    }

    /// As [`wait`](Self::wait), until this moment.
    ///
    /// # Errors
    ///
    /// The request, if its names are not there then.
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
    /// Starts the thread. Files are found by `finder`; functions have lines and inlined functions.
    ///
    /// # Errors
    ///
    /// The system cannot start a thread.
    pub fn new(finder: FileFinder) -> io::Result<Self> {
        Self::by_elf(finder, true)
    }

    /// As [`new`](Self::new), without lines and inlined functions: several times faster, with less memory.
    ///
    /// # Errors
    ///
    /// The system cannot start a thread.
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

    /// Starts the thread with another source of the symbols of ELF files: `open` reads one that was found, and may keep it.
    ///
    /// # Errors
    ///
    /// The system cannot start a thread.
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
                // Who asked may have gone: a reply that cannot be sent is not needed.
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

    /// Reads lines and inlined functions from files with at most this number of bytes of debug information, 8 GiB by default,
    /// and the names alone of others: [`NoLines::TooLarge`]. It is in memory while it is read, decompressed, and takes up to
    /// as much again.
    #[must_use]
    pub fn with_max_file_bytes(self, bytes: u64) -> Self {
        self.max_file_bytes.store(bytes, Ordering::Relaxed);
        self
    }

    /// Keeps the symbols of at most this number of files, 256 by default and at least one: those that were used last. Each
    /// file takes one or two descriptors.
    #[must_use]
    pub fn with_max_files(self, files: usize) -> Self {
        // Without the thread, there is nothing to limit.
        let _ = self.requests.send(Request::MaxFiles(files));
        self
    }

    /// Keeps at most about this number of bytes, 512 MiB by default: a half for the symbols of files, an eighth for names, and
    /// the rest for the perf maps of runtimes and the headers of closed files. The file whose symbols are read may be larger than its part: it is then
    /// the only one.
    ///
    /// A smaller limit costs time: files that were forgotten are read again when an address of theirs has no name yet.
    #[must_use]
    pub fn with_max_bytes(self, bytes: u64) -> Self {
        let _ = self.requests.send(Request::MaxBytes(bytes));
        self
    }

    /// Returns the functions at each address, in the order of the queries, or the reason why there is no name.
    pub fn symbolize(&self, queries: &[Query]) -> Vec<Result<Symbols, Unnamed>> {
        self.request(queries.to_vec()).wait()
    }

    /// Asks for the functions at each address, which are looked up while the caller continues. A request that is dropped ends at
    /// the next file.
    pub fn request(&self, queries: Vec<Query>) -> NameRequest {
        let len = queries.len();
        let (reply, answer) = mpsc::channel();
        let wanted = Arc::new(());
        let request = Request::Names { queries, reply, wanted: Arc::downgrade(&wanted) };
        self.queued.fetch_add(len, Ordering::Relaxed);
        let sent = self.requests.send(request);
        NameRequest { answer: sent.is_ok().then_some(answer), len, _wanted: wanted }
    }

    /// Returns the number of addresses that wait to be looked up, those of dropped requests among them: for a program that limits
    /// what it asks for, because each takes some hundred bytes.
    pub fn queued(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
    }

    /// Returns how many addresses were looked up since the start, by result.
    pub fn counts(&self) -> NameCounts {
        self.ask(|reply| Request::Counts { reply }).unwrap_or_default()
    }

    /// Returns the files that were not found, each with the reason and the candidates that were rejected; the first 1024.
    pub fn missing_files(&self) -> Vec<NotFound> {
        self.ask(|reply| Request::MissingFiles { reply }).unwrap_or_default()
    }

    /// Returns when the code of a process changed, by [the jitdump](crate::AddressSpaces::jitdump) that it mapped, up to now;
    /// without changes if there is no such file. It waits for the requests before it.
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
                self.named += 1;
                if let Some(reason) = symbols.no_lines() {
                    *self.without_lines.entry(reason).or_default() += 1;
                }
            }
            Err(reason) => *self.unnamed.entry(reason).or_default() += 1,
        }
    }

    /// Returns the reasons for no name as text, the most frequent first.
    pub fn reasons(&self) -> Vec<(u64, String)> {
        most_frequent_first(&self.unnamed)
    }

    /// Returns the reasons for no line as text, the most frequent first.
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
        // Its answer comes after the dropped request.
        assert!((3..=8).contains(&symbolizer.counts().unnamed.values().sum::<u64>()));
        assert_eq!(symbolizer.queued(), 0);
    }
}
