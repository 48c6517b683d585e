//! Counts stacks in the folded form of flame graphs: one line per stack, outermost function first.

use std::collections::BTreeMap;
use std::io;

use perf_decode::{Layout, Record};
use perf_symbols::{
    AddressSpaces, FileFinder, Query, Stack, StackEnd, Symbolizer, Symbols, Unnamed, Unwinder,
};

/// Number of stacks to name at once. Large, because addresses of one file are looked up together.
const BATCH: usize = 1024;

pub(crate) struct Folded {
    pub(crate) spaces: AddressSpaces,
    unwinder: Unwinder,
    symbolizer: Symbolizer,
    stack: Stack,
    /// Stacks without names yet: the thread name and the number of frames.
    unnamed: Vec<(String, usize)>,
    queries: Vec<Query>,
    stacks: BTreeMap<String, u64>,
    ends: BTreeMap<String, u64>,
    /// The largest stack copy, in bytes, that a truncated stack needs.
    needed: u64,
}

impl Folded {
    pub(crate) fn new(unwinder: Unwinder, finder: FileFinder) -> io::Result<Self> {
        Ok(Self {
            spaces: AddressSpaces::new(),
            unwinder,
            symbolizer: Symbolizer::new(finder)?,
            stack: Stack::new(),
            unnamed: Vec::new(),
            queries: Vec::new(),
            stacks: BTreeMap::new(),
            ends: BTreeMap::new(),
            needed: 0,
        })
    }

    /// Adds a record. Pass all records in time order.
    pub(crate) fn add<L: Layout>(&mut self, record: &Record<'_, L>) {
        self.spaces.update(record);
        let Record::Sample(sample) = record else { return };
        let (pid, tid) = (sample.pid().unwrap_or(0), sample.tid().unwrap_or(0));
        self.unwinder.unwind(&self.spaces, sample, &mut self.stack);
        self.stack.leave_out_unmapped(&self.spaces, pid);
        // The queries keep the current mappings, so that names can be looked up later.
        let thread = String::from_utf8_lossy(self.spaces.thread_name(tid).unwrap_or(b"?")).into_owned();
        let frames = self.stack.frames();
        self.queries.extend(frames.iter().map(|frame| Query::new(&self.spaces, pid, frame)));
        self.unnamed.push((thread, frames.len()));
        let reason = self.reason(pid);
        *self.ends.entry(reason).or_default() += 1;
        if self.unnamed.len() >= BATCH {
            self.name();
        }
    }

    /// Names the frames of the pending stacks.
    fn name(&mut self) {
        let named = self.symbolizer.symbolize(&self.queries);
        let mut frames = self.queries.iter().zip(&named);
        for (mut line, len) in self.unnamed.drain(..) {
            let frames: Vec<_> = frames.by_ref().take(len).collect();
            for (query, symbols) in frames.into_iter().rev() {
                push_names(&mut line, query, symbols);
            }
            *self.stacks.entry(line).or_default() += 1;
        }
        self.queries.clear();
    }

    /// Returns why the stack ends, as text that is equal for stacks with the same remedy.
    fn reason(&mut self, pid: u32) -> String {
        let end = self.stack.end();
        if let StackEnd::Truncated { needed } = end {
            self.needed = self.needed.max(needed);
        }
        let missing = match end {
            StackEnd::NoUnwindInfo { address } => self.unwinder.missing_info(pid, address),
            _ => None,
        };
        missing.map_or_else(|| end.reason().to_string(), |reason| reason.to_string())
    }

    /// Prints the stacks; prints to stderr how they end and why frames have no name.
    pub(crate) fn print(mut self) {
        self.name();
        for (stack, count) in &self.stacks {
            println!("{stack} {count}");
        }
        for (end, count) in &self.ends {
            eprintln!("{count:>7} stacks: {end}");
        }
        if self.needed > 0 {
            eprintln!("copies of at least {} bytes, and at most 65528, lead to more frames", self.needed);
        }
        for (count, reason) in self.symbolizer.counts().reasons() {
            eprintln!("{count:>7} frames without a name: {reason}");
        }
    }
}

/// Appends the functions of a frame, inlined ones last; without a name, the object and the offset.
fn push_names(line: &mut String, query: &Query, symbols: &Result<Symbols, Unnamed>) {
    match (symbols, query.object()) {
        (Ok(symbols), _) => {
            for function in symbols.functions.iter().rev() {
                line.extend([";", &function.name]);
            }
        }
        (Err(_), Some((object, offset))) => {
            let path = String::from_utf8_lossy(object.path());
            let name = path.rsplit('/').next().unwrap_or_default();
            line.extend([";", name, &format!("+{offset:#x}")]);
        }
        (Err(_), None) => line.extend([";[", &format!("{:#x}", query.address()), "]"]),
    }
}
