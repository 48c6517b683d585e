//! The samples of each thread in time order.

use std::io;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::profile::{EventId, Profile, Sample, StringId};

/// The samples of a profile by thread and time.
pub(super) struct Timeline {
    /// Times of the first and the last sample in ns; 0 without samples.
    pub(super) first: u64,
    pub(super) last: u64,
    /// The first event with samples.
    pub(super) event: Option<EventId>,
    /// Indices of the samples: one track after another, each in time order.
    order: Vec<u32>,
    tracks: Vec<Track>,
    /// The names of the main threads, by process.
    processes: FxHashMap<u32, StringId>,
}

/// A thread with all its names.
pub(super) struct Track {
    pub(super) pid: u32,
    pub(super) tid: u32,
    /// The name that was set last.
    pub(super) name: StringId,
    samples: Range<usize>,
}

impl Timeline {
    /// Sorts the samples.
    ///
    /// # Errors
    ///
    /// A sample has no time.
    pub(super) fn new(profile: &Profile) -> io::Result<Self> {
        let samples = profile.samples();
        if samples.iter().any(|sample| sample.time.is_none()) {
            let text = "a timeline needs the time of each sample, and the profile has samples without a time";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let mut numbers = FxHashMap::default();
        // The track index of each thread. All names of a thread share a track.
        let track_of: Vec<_> = profile
            .threads()
            .iter()
            .map(|thread| {
                let next = numbers.len();
                *numbers.entry((thread.pid, thread.tid)).or_insert(next)
            })
            .collect();
        let track_of = |sample: &Sample| track_of.get(sample.thread.index()).copied();
        let mut order: Vec<u32> = (0..).take(samples.len()).collect();
        let sample = |index: u32| samples.get(index as usize);
        order.sort_by_key(|&index| sample(index).map(|sample| (track_of(sample), sample.time)));
        let mut tracks: Vec<Track> = Vec::new();
        for (position, sample) in order.iter().filter_map(|&index| sample(index)).enumerate() {
            let Some(thread) = profile.thread(sample.thread) else { continue };
            match tracks.last_mut().filter(|track| (track.pid, track.tid) == (thread.pid, thread.tid)) {
                Some(track) => {
                    track.name = thread.name;
                    track.samples.end = position + 1;
                }
                None => tracks.push(Track {
                    pid: thread.pid,
                    tid: thread.tid,
                    name: thread.name,
                    samples: position..position + 1,
                }),
            }
        }
        let main = tracks.iter().filter(|track| track.pid == track.tid);
        let processes = main.map(|track| (track.pid, track.name)).collect();
        let times = || samples.iter().filter_map(|sample| sample.time);
        Ok(Self {
            first: times().min().unwrap_or(0),
            last: times().max().unwrap_or(0),
            event: samples.iter().map(|sample| sample.event).min(),
            order,
            tracks,
            processes,
        })
    }

    /// Returns the threads that have samples.
    pub(super) fn tracks(&self) -> impl Iterator<Item = &Track> {
        self.tracks.iter()
    }

    /// Returns the samples of a thread, of all events, in time order.
    pub(super) fn samples<'p>(
        &'p self,
        profile: &'p Profile,
        track: &Track,
    ) -> impl Iterator<Item = &'p Sample> {
        let indexes = self.order.get(track.samples.clone()).unwrap_or_default();
        indexes.iter().filter_map(|&index| profile.samples().get(index as usize))
    }

    /// Returns the name of a thread's process: the name of its main thread, otherwise the thread's
    /// own name.
    pub(super) fn process_name(&self, track: &Track) -> StringId {
        self.processes.get(&track.pid).copied().unwrap_or(track.name)
    }
}
