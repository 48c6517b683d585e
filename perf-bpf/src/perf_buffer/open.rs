use std::sync::Arc;

use perf_events::CpuList;
use perf_sys::{Errno, Event, Ring, RingSet, Target};

use super::cpu_ring::CpuRing;
use super::{OutputCounts, PerfBuffer, PerfBufferOptions};
use crate::{Error, EventArray};

/// The CPUs of the rings that a [`PerfBuffer::refresh`] has opened and closed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefreshedRings {
    /// CPUs whose event no longer counts, because they are or were offline.
    pub closed: CpuList,
    /// CPUs with a new event and ring.
    pub opened: CpuList,
}

impl PerfBuffer {
    pub(super) fn open(
        options: PerfBufferOptions,
        array: EventArray,
        rings: RingSet<usize>,
    ) -> Result<Self, Error> {
        let mut buffer = Self {
            format: options.format(),
            array,
            rings,
            cpus: Vec::new(),
            options,
            offline: CpuList::default(),
            closed: Vec::new(),
            next_key: 0,
            reads_lost: true,
        };
        // Dropped with all that is open if one fails.
        buffer.open_missing()?;
        if buffer.cpus.is_empty() {
            return Err(Error::NoCpu { offline: buffer.offline.clone() });
        }
        Ok(buffer)
    }

    /// Looks for CPUs that went offline or came online, also in between, and opens an event and a ring
    /// where one is missing.
    ///
    /// The unread records of a CPU that went offline stay in their ring. It is closed by the first call
    /// after they were read, and its counts are kept.
    ///
    /// # Errors
    ///
    /// As [`PerfBufferOptions::open`], and if an event cannot be read.
    pub fn refresh(&mut self) -> Result<RefreshedRings, Error> {
        let online = CpuList::online(&self.options.system)?;
        let mut dead = Vec::new();
        for cpu in self.cpus.iter_mut().filter(|cpu| cpu.is_live) {
            if !online.contains(cpu.cpu) || !cpu.is_counting()? {
                cpu.is_live = false;
                dead.push(cpu.cpu);
            }
        }
        for &cpu in &dead {
            self.array.remove(cpu)?;
        }
        self.close_consumed()?;
        let opened = self.open_missing()?;
        Ok(RefreshedRings { closed: dead.into_iter().collect(), opened })
    }

    /// Closes the rings whose event no longer counts and whose records were read.
    fn close_consumed(&mut self) -> Result<(), Error> {
        let mut kept = Vec::with_capacity(self.cpus.len());
        for cpu in std::mem::take(&mut self.cpus) {
            let is_consumed = self.rings.get(&cpu.key).is_none_or(|ring| !ring.has_records());
            if cpu.is_live || !is_consumed {
                kept.push(cpu);
            } else {
                self.closed.push((cpu.cpu, cpu.read_counts()?));
                self.rings.remove(&cpu.key);
            }
        }
        self.cpus = kept;
        Ok(())
    }

    /// Opens an event and a ring for each online CPU without one, and returns these CPUs.
    fn open_missing(&mut self) -> Result<CpuList, Error> {
        let system = &self.options.system;
        let wanted = match &self.options.cpus {
            Some(cpus) => cpus.clone(),
            None => CpuList::possible(system)?,
        };
        let online = wanted.intersection(&CpuList::online(system)?);
        let mut opened = Vec::new();
        let mut offline: Vec<u32> = wanted.difference(&online).iter().collect();
        for cpu in &online.difference(&self.cpus()) {
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
        let ring = Ring::map(Arc::clone(&event), self.options.pages).map_err(perf_sys::Error::from)?;
        let key = self.next_key;
        self.rings.add(key, ring).map_err(perf_sys::Error::from)?;
        self.next_key += 1;
        event.enable()?;
        // Last, so that a program finds a slot only if it can write.
        self.array.insert(cpu, &event)?;
        self.cpus.push(CpuRing { key, cpu, event, counts: OutputCounts::default(), is_live: true });
        Ok(())
    }

    fn open_event(&mut self, cpu: u32) -> Result<Event, Error> {
        let open = |reads_lost| Event::open(&self.options.attr(reads_lost), Target::cpu(cpu));
        match open(self.reads_lost) {
            // Linux before 6.0 does not have the field.
            Err(error) if self.reads_lost && error.errno() == Some(Errno::EINVAL) => {
                let event = open(false).map_err(|_| error)?;
                self.reads_lost = false;
                Ok(event)
            }
            opened => Ok(opened?),
        }
    }
}
