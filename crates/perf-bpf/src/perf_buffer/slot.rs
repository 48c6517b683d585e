//! The event in the slot of a CPU, and the detection of its replacement.

use core::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use perf_ring::decode::ReadValues;
use perf_ring::{AttrFlags, Errno, Event, OpenOptions, ReadFormat, RingSet, Target, WaitResult};
use perf_session::CpuList;

use super::PerfBuffer;
use super::counts::CpuRing;
use crate::error::Error;

/// The event that was put into the slot of a CPU. Its descriptor is closed, so the slot alone keeps
/// it, and it ends when the slot is replaced or cleared.
///
/// The kernel reports neither. But the event is a sibling in the group of the ring's event, and
/// that group then has one member less.
#[derive(Debug)]
pub(super) struct Slot {
    id: u64,
    /// The most lost records that a read has found. They cannot be read after the event's end.
    lost: AtomicU64,
    /// Set when the event was found to have ended.
    is_lost: bool,
}

/// The shortest time between two checks of the slots by waits that end without a record. The kernel
/// ends an event some ms after its slot was replaced.
const IDLE_PAUSE: Duration = Duration::from_millis(10);

/// The longest time between two checks of the slots by waits.
const PAUSE: Duration = Duration::from_secs(1);

/// Attempts at a sibling while the group is full of those whose slots were replaced a moment ago,
/// and the pause between two. Linux 6.18 permits 680.
const ATTEMPTS: u32 = 1000;
const ATTEMPT_PAUSE: Duration = Duration::from_millis(1);

/// Returns the number of words in a read of `events` events.
fn words(format: ReadFormat, events: u64) -> usize {
    usize::try_from(ReadValues::words(format, events)).unwrap_or(usize::MAX)
}

impl CpuRing {
    /// Opens an event for the slot, which writes into the ring and is enabled with the ring's
    /// event.
    fn open_slot_event(&self) -> perf_ring::Result<Event> {
        let attr = self.event.attr().without_flags(AttrFlags::DISABLED);
        let options = OpenOptions::new().leader(&self.event);
        let mut attempts = 1;
        let event = loop {
            match options.open(&attr, Target::cpu(self.cpu)) {
                Err(error) if error.errno() == Some(Errno::E2BIG) && attempts < ATTEMPTS => {
                    thread::sleep(ATTEMPT_PAUSE);
                    attempts += 1;
                }
                opened => break opened?,
            }
        };
        event.set_output(Some(&self.event))?;
        Ok(event)
    }

    /// Records that the event with this id has replaced an earlier one in the slot.
    fn set_slot(&mut self, id: u64) {
        let earlier = self.slot.replace(Slot { id, lost: AtomicU64::new(0), is_lost: false });
        self.lost_before += earlier.map_or(0, |slot| slot.lost.into_inner());
    }

    /// Returns whether the slot is known to have lost the event.
    fn has_lost_slot(&self) -> bool {
        self.is_live && self.slot.as_ref().is_some_and(|slot| slot.is_lost)
    }

    /// Returns whether the slot still had the event at the last check, and lacks it now.
    fn loses_slot(&self) -> perf_ring::Result<bool> {
        if !self.is_live || self.slot.as_ref().is_none_or(|slot| slot.is_lost) {
            return Ok(false);
        }
        // The kernel refuses to read a group that does not fit into the buffer, before it
        // interrupts the CPU for the counts.
        let mut buffer = [0; 8];
        let leader_alone = words(self.event.attr().read_format, 1).min(buffer.len());
        match self.event.read_raw(buffer.get_mut(..leader_alone).unwrap_or_default()) {
            Err(error) if error.errno() == Some(Errno::ENOSPC) => Ok(false),
            // The group also dissolves when the CPU goes offline.
            Ok(_) => self.is_counting(),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads the group: the time in ns that the event was enabled, and the lost records, as far as
    /// the kernel counts them.
    pub(super) fn read_group(&self) -> perf_ring::Result<(Option<u64>, Option<u64>)> {
        let format = self.event.attr().read_format;
        let mut events = 4;
        let (buffer, read) = loop {
            let mut buffer = vec![0; words(format, events)];
            match self.event.read_raw(&mut buffer) {
                // Siblings whose slots were replaced a moment ago.
                Err(error) if error.errno() == Some(Errno::ENOSPC) && events < 1 << 16 => events *= 2,
                read => break (buffer, read?),
            }
        };
        let Ok(values) = ReadValues::parse(buffer.get(..read).unwrap_or_default(), format) else {
            return Ok((None, None)); // not from this kernel
        };
        let lost_by =
            |id: Option<u64>| values.iter().find(|entry| entry.id == id).and_then(|entry| entry.lost);
        // Nothing loses records of the leader, unless the user has put it into another array.
        let leader = values.iter().next().and_then(|entry| entry.lost);
        let lost = leader.map(|leader| {
            let in_slot = self.slot.as_ref().map_or(0, |slot| {
                let found = lost_by(Some(slot.id)).unwrap_or(0);
                found.max(slot.lost.fetch_max(found, Ordering::Relaxed))
            });
            leader + self.lost_before + in_slot
        });
        Ok((values.time_enabled(), lost))
    }
}

impl PerfBuffer {
    /// Puts a new event into the slot of each live CPU. The slot of a CPU that went offline keeps
    /// its event, because clearing it could clear the event of another reader.
    pub(super) fn fill_slots(&mut self) -> Result<(), Error> {
        // All of them before the first slot is touched.
        let mut events = Vec::new();
        for cpu in self.cpus.iter().filter(|cpu| cpu.is_live) {
            let event = cpu.open_slot_event()?;
            events.push((cpu.key, event.id()?, event));
        }
        for (key, id, event) in events {
            let Some(cpu) = self.cpus.iter_mut().find(|cpu| cpu.key == key) else { continue };
            cpu.read_group()?; // notes the losses of the event that is replaced
            self.array.insert(cpu.cpu, &event)?;
            cpu.set_slot(id);
        }
        self.checked = Instant::now();
        Ok(())
    }

    /// Returns the CPUs whose slot no longer holds the event of this reader, because another reader
    /// has replaced or cleared it. Output of programs on these CPUs is missing here until
    /// [`refresh`](Self::refresh) takes the slot back.
    ///
    /// [`wait`](Self::wait) checks the slots, too. The kernel ends an event some ms after its slot
    /// was replaced, so a slot that was lost a moment ago may not be reported yet. Lost slots of a
    /// [paused](Self::pause) reader are found after it resumes.
    ///
    /// # Errors
    ///
    /// [`Error::Event`] if an event cannot be read.
    pub fn lost_slots(&mut self) -> Result<CpuList, Error> {
        self.checked = Instant::now();
        if !self.is_paused {
            for cpu in &mut self.cpus {
                if cpu.loses_slot()? {
                    cpu.slot.iter_mut().for_each(|slot| slot.is_lost = true);
                    self.has_unreported_loss = true;
                }
            }
        }
        Ok(self.cpus.iter().filter(|cpu| cpu.has_lost_slot()).map(|cpu| cpu.cpu).collect())
    }

    /// Waits by `wait`, in parts of at most [`PAUSE`], and checks the slots in between.
    pub(super) fn wait_and_check(
        &mut self,
        timeout: Option<Duration>,
        mut wait: impl FnMut(&mut RingSet<usize>, Duration) -> perf_ring::Result<WaitResult>,
    ) -> Result<WaitResult, Error> {
        let start = Instant::now();
        loop {
            let left = timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
            let part = left.map_or(PAUSE, |left| left.min(PAUSE));
            let found = wait(&mut self.rings, part)?;
            let pause = if found == WaitResult::TimedOut { IDLE_PAUSE } else { PAUSE };
            if self.checked.elapsed() >= pause {
                self.lost_slots()?;
            }
            // Records first: their reader returns to the next wait.
            if found != WaitResult::TimedOut {
                return Ok(found);
            }
            if self.has_unreported_loss {
                self.has_unreported_loss = false;
                let cpus = self.cpus.iter().filter(|cpu| cpu.has_lost_slot()).map(|cpu| cpu.cpu).collect();
                return Err(Error::SlotsLost { cpus });
            }
            if left.is_some_and(|left| left <= part) {
                return Ok(found);
            }
        }
    }
}
