//! Keeps the payloads of tracepoints, which a profile lacks.

use perf_abi::{Attr, EventType};
use perf_decode::Sample;

use crate::profile::Thread;

/// The payload of each sample of a tracepoint.
#[derive(Debug, Default)]
pub struct Payloads {
    /// Sorted by time after `sort`.
    entries: Vec<Entry>,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    time: u64,
    tid: u32,
    /// Id of the tracepoint.
    id: u64,
    start: usize,
    len: usize,
    is_taken: bool,
}

impl Payloads {
    /// Keeps the payload of a sample, if it has one.
    pub(super) fn add<L: perf_decode::Layout>(&mut self, attr: &Attr, sample: &Sample<'_, L>) {
        let (Some(time), Some(raw)) = (sample.time(), sample.raw()) else { return };
        if attr.kind != EventType::TRACEPOINT {
            return;
        }
        let tid = sample.tid().unwrap_or(0);
        let start = self.bytes.len();
        self.bytes.extend_from_slice(raw);
        self.entries.push(Entry { time, tid, id: attr.config, start, len: raw.len(), is_taken: false });
    }

    /// Sorts the payloads, because late records are among later ones.
    pub(super) fn sort(&mut self) {
        self.entries.sort_by_key(|entry| entry.time);
    }

    /// Takes the payload of a sample. If several samples of a thread have the same time, each call
    /// takes another payload.
    pub fn take(&mut self, attr: &Attr, thread: Thread, time: u64) -> Option<&[u8]> {
        let first = self.entries.partition_point(|entry| entry.time < time);
        let same_time = self.entries.iter_mut().skip(first).take_while(|entry| entry.time == time);
        let is_it =
            |entry: &&mut Entry| (entry.tid, entry.id, entry.is_taken) == (thread.tid, attr.config, false);
        let entry = same_time.into_iter().find(is_it)?;
        entry.is_taken = true;
        self.bytes.get(entry.start..entry.start + entry.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Locations, ProfileBuilder};

    #[test]
    fn each_payload_is_taken_once_by_a_sample_of_its_thread_and_tracepoint() {
        let attr = |id| {
            Attr::default().with(|attr| {
                attr.kind = EventType::TRACEPOINT;
                attr.config = id;
            })
        };
        let mut locations = Locations::new();
        let mut builder = ProfileBuilder::new();
        let name = locations.intern("x");
        let threads = [1, 2].map(|tid| builder.thread(1, tid, name));
        let profile = builder.finish(locations);
        let [first, second] = threads.map(|id| profile.thread(id).unwrap());
        let mut payloads = Payloads { bytes: b"abcd".to_vec(), ..Payloads::default() };
        for (start, (time, tid, id)) in
            [(20, 1, 7), (10, 1, 7), (20, 1, 7), (20, 2, 8)].into_iter().enumerate()
        {
            payloads.entries.push(Entry { time, tid, id, start, len: 1, is_taken: false });
        }
        payloads.sort();
        assert_eq!(payloads.take(&attr(7), first, 20), Some(&b"a"[..]));
        assert_eq!(payloads.take(&attr(7), first, 20), Some(&b"c"[..]));
        assert_eq!(payloads.take(&attr(7), first, 20), None);
        assert_eq!(payloads.take(&attr(7), second, 20), None);
        assert_eq!(payloads.take(&attr(8), second, 20), Some(&b"d"[..]));
        assert_eq!(payloads.take(&attr(7), first, 10), Some(&b"b"[..]));
    }
}
