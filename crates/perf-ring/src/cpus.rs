//! Opening events on each online CPU.

use perf_sys::{Errno, Error as SysError};

use crate::error::{Error, Result};

/// Opens something on each online CPU, typically an event with [`Target::cpu`](crate::Target::cpu),
/// and returns it with the number of the CPU, in their order.
///
/// The errors of `perf_event_open` show which CPUs exist, so no file is read, and a CPU that goes
/// offline meanwhile is skipped like others. `open` is called with ascending numbers from 0 until
/// it fails with [`NoSuchCpu`](SysError::NoSuchCpu). A CPU for which it fails with `ENODEV` is
/// skipped: it is offline, or the event's PMU does not cover it.
///
/// ```no_run
/// use perf_ring::{Attr, Event, Ring, RingSet, Software, Target, on_each_cpu};
///
/// # fn main() -> perf_ring::Result<()> {
/// let attr = Attr::software(Software::CPU_CLOCK).with_period(10_000_000); // ns
/// let mut rings = RingSet::new()?;
/// for (cpu, event) in on_each_cpu(|cpu| Event::open(&attr, Target::cpu(cpu)))? {
///     rings.add(cpu, Ring::map_bytes(event, Ring::DEFAULT_BYTES)?)?;
/// }
/// # Ok(())
/// # }
/// ```
///
/// A closure that opens and maps names its error: `Ok::<_, perf_ring::Error>(..)`. For a whole
/// process, open `Target::calling_thread().on_cpu(cpu)` with
/// [`AttrFlags::INHERIT`](crate::AttrFlags::INHERIT) before its threads start: an inherited event
/// has a ring only on one CPU.
///
/// # Errors
///
/// The first other error of `open`, or the last one if it succeeds for no CPU.
pub fn on_each_cpu<T, E: Into<Error>>(mut open: impl FnMut(u32) -> Result<T, E>) -> Result<Vec<(u32, T)>> {
    let mut opened = Vec::new();
    let mut offline = None;
    for cpu in 0.. {
        match open(cpu).map_err(E::into) {
            Ok(value) => opened.push((cpu, value)),
            Err(error) if error.errno() == Some(Errno::ENODEV) => offline = Some(error),
            Err(Error::Sys(SysError::NoSuchCpu { .. })) if cpu != 0 => break,
            Err(error) => return Err(error),
        }
    }
    match offline {
        Some(error) if opened.is_empty() => Err(error),
        _ => Ok(opened),
    }
}

#[cfg(test)]
mod tests {
    use perf_sys::Call;

    use super::*;

    /// Simulates a kernel with CPUs 0 to 3, of which these are online.
    fn kernel(online: &[u32]) -> impl FnMut(u32) -> Result<u32, SysError> {
        move |cpu| match cpu {
            0..4 if online.contains(&cpu) => Ok(cpu * 10),
            0..4 => Err(SysError::System { call: Call::PerfEventOpen, errno: Errno::ENODEV }),
            _ => Err(SysError::NoSuchCpu { cpu }),
        }
    }

    #[test]
    fn offline_cpus_are_left_out() {
        assert_eq!(on_each_cpu(kernel(&[0, 1, 2, 3])).unwrap().len(), 4);
        assert_eq!(on_each_cpu(kernel(&[1, 3])), Ok(vec![(1, 10), (3, 30)]));
    }

    #[test]
    fn event_that_opens_on_no_cpu_is_an_error() {
        assert_eq!(on_each_cpu(kernel(&[])).unwrap_err().errno(), Some(Errno::ENODEV));
        let none = on_each_cpu(|cpu| Err::<(), _>(SysError::NoSuchCpu { cpu }));
        assert_eq!(none.unwrap_err(), SysError::NoSuchCpu { cpu: 0 });
    }

    #[test]
    fn other_error_ends_at_once() {
        let denied = SysError::System { call: Call::PerfEventOpen, errno: Errno::EACCES };
        let error = on_each_cpu(|cpu| if cpu == 2 { Err(denied) } else { Ok(cpu) }).unwrap_err();
        assert_eq!(error, denied);
    }
}
