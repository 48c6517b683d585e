//! Opening the rings, and following CPUs that come and go.

use std::sync::Arc;
use std::time::Instant;

use perf_ring::{Errno, Event, Ring, RingSet, Target};
use perf_session::CpuList;

use super::counts::CpuRing;
use super::{PerfBuffer, PerfBufferCounts, PerfBufferOptions};
use crate::array::EventArray;
use crate::error::{Error, Refused};

/// The CPUs of the rings that a [`PerfBuffer::refresh`] has opened and closed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefreshedRings {
    /// CPUs whose event no longer counts, because they are or were offline.
    pub closed: CpuList,
    /// CPUs with a new event and ring.
    pub opened: CpuList,
}

impl PerfBuffer {
    #[allow(clippy::result_large_err)] // the value is larger
    pub(super) fn open(
        options: PerfBufferOptions,
        array: EventArray,
        rings: RingSet<usize>,
    ) -> Result<Self, Refused<EventArray>> {
        let mut buffer = Self {
            format: options.format(true),
            array,
            rings,
            cpus: Vec::new(),
            options,
            offline: CpuList::default(),
            closed: Vec::new(),
            next_key: 0,
            reads_lost: true,
            is_paused: false,
            checked: Instant::now(),
            has_unreported_loss: false,
        };
        match buffer.start() {
            Ok(()) => Ok(buffer),
            Err(error) => Err(Refused { error, value: buffer.close() }),
        }
    }

    fn start(&mut self) -> Result<(), Error> {
        self.open_missing()?;
        if self.cpus.is_empty() {
            return Err(Error::NoCpu { offline: self.offline.clone() });
        }
        self.fill_slots()
    }

    /// Looks for CPUs that went offline or came online, also in between, and opens an event and a
    /// ring where one is missing.
    ///
    /// The unread records of a CPU that went offline stay in their ring. It is closed by the first
    /// call after they were read, and its counts are kept.
    ///
    /// It also fills all slots again, because another reader of the map may have taken them over or
    /// cleared them a moment ago ([`lost_slots`](Self::lost_slots)). So the last reader that was
    /// opened or refreshed gets the output.
    ///
    /// # Errors
    ///
    /// The errors of [`PerfBufferOptions::open`], and [`Error::Event`] if an event cannot be read.
    pub fn refresh(&mut self) -> Result<RefreshedRings, Error> {
        let online = CpuList::online(&self.options.system)?;
        let mut dead = Vec::new();
        for cpu in self.cpus.iter().filter(|cpu| cpu.is_live) {
            if !online.contains(cpu.cpu) || !self.is_paused && !cpu.is_counting()? {
                dead.push(cpu.cpu);
            }
        }
        // After the last error, so that no CPU is missing in the next call's result.
        let dead: CpuList = dead.into_iter().collect();
        self.cpus.iter_mut().filter(|cpu| dead.contains(cpu.cpu)).for_each(|cpu| cpu.is_live = false);
        self.close_consumed()?;
        let opened = self.open_missing()?;
        self.fill_slots()?;
        Ok(RefreshedRings { closed: dead, opened })
    }

    /// Closes the rings whose event no longer counts and whose records were read.
    fn close_consumed(&mut self) -> Result<(), Error> {
        let mut consumed = Vec::new();
        for cpu in self.cpus.iter().filter(|cpu| !cpu.is_live) {
            if self.rings.get(&cpu.key).is_none_or(|ring| !ring.has_records()) {
                consumed.push((cpu.key, cpu.cpu, cpu.read_counts()?));
            }
        }
        for (key, cpu, counts) in consumed {
            self.closed.push((cpu, counts));
            self.rings.remove(&key);
            self.cpus.retain(|other| other.key != key);
        }
        Ok(())
    }

    /// Opens an event and a ring for each online CPU without one, and returns these CPUs. Does
    /// everything that can fail, and leaves the slots alone, because they may belong to another
    /// reader.
    fn open_missing(&mut self) -> Result<CpuList, Error> {
        let system = &self.options.system;
        let wanted = match &self.options.cpus {
            Some(cpus) => cpus.clone(),
            None => CpuList::possible(system)?,
        };
        let online = wanted.intersection(&CpuList::online(system)?);
        let mut opened = Vec::new();
        let mut offline: Vec<u32> = wanted.difference(&online).iter().collect();
        let missing = online.difference(&self.cpus());
        missing.iter().try_for_each(|cpu| self.array.check(cpu))?;
        for cpu in &missing {
            match self.open_cpu(cpu) {
                Ok(()) => opened.push(cpu),
                // It went offline since the list was read. ESRCH and ENODEV depend on the version.
                Err(error)
                    if matches!(error.errno(), Some(Errno::ENODEV | Errno::ESRCH))
                        && !CpuList::online(&self.options.system)?.contains(cpu) =>
                {
                    offline.push(cpu);
                }
                Err(error) => return Err(error),
            }
        }
        self.offline = offline.into_iter().collect();
        Ok(opened.into_iter().collect())
    }

    fn open_cpu(&mut self, cpu: u32) -> Result<(), Error> {
        let event = Arc::new(self.open_event(cpu)?);
        let ring = Ring::map(Arc::clone(&event), self.options.pages).map_err(perf_ring::Error::from)?;
        let key = self.next_key;
        self.rings.add(key, ring).map_err(perf_ring::Error::from)?;
        self.next_key += 1;
        if !self.is_paused {
            event.enable()?;
        }
        let counts = PerfBufferCounts::default();
        self.cpus.push(CpuRing { key, cpu, event, slot: None, lost_before: 0, counts, is_live: true });
        Ok(())
    }

    fn open_event(&mut self, cpu: u32) -> Result<Event, Error> {
        let open = |reads_lost| Event::open(&self.options.attr(reads_lost), Target::cpu(cpu));
        match open(self.reads_lost) {
            // Linux before 6.0 does not have the field.
            Err(error) if self.reads_lost && error.errno() == Some(Errno::EINVAL) => {
                let event = open(false).map_err(|_| error)?;
                self.reads_lost = false;
                self.format = self.options.format(false);
                Ok(event)
            }
            opened => Ok(opened?),
        }
    }
}
