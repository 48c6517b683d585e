//! CPU cycles, or a clock where they are missing.

use std::fmt;

use perf_ring::{Attr, AttrFlags, Errno, Error, Hardware, Software};

/// The event that was opened: CPU cycles, or the CPU clock where the machine or the user's
/// permissions have no cycles.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CpuEvent<T> {
    /// The result of the successful call.
    pub value: T,
    /// The attr of that call.
    pub attr: Attr,
    /// The error of the cycles; `None` if the cycles were opened.
    pub refused: Option<Error>,
}

impl<T> CpuEvent<T> {
    /// Returns `true` if the event is the hardware event.
    pub fn is_cycles(&self) -> bool {
        self.refused.is_none()
    }
}

/// The event, and the reason if it is the clock: `cpu-clock (cycles: perf_event_open: ...)`.
impl<T> fmt::Display for CpuEvent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.refused {
            None => f.write_str("cycles"),
            Some(error) => write!(f, "cpu-clock (cycles: {error})"),
        }
    }
}

/// Opens CPU cycles, or the CPU clock if that fails with an errno of a machine without counters or
/// of a missing permission: `EOPNOTSUPP`, `ENOENT`, `ENODEV`, `EINVAL`, `EACCES`, `EPERM`.
///
/// `attr` has everything but the event: its type and config are replaced. With
/// [`FREQ`](AttrFlags::FREQ) both events sample at the same frequency. Otherwise `sample_period` is
/// a number of cycles, and the clock samples at `clock_period` ns.
///
/// ```
/// use perf_session::cpu_event;
/// use perf_session::ring::{Attr, AttrFlags, Event, Target};
///
/// let attr = Attr::default().with_frequency(99).with_flags(AttrFlags::EXCLUDE_KERNEL);
/// match cpu_event(&attr, 10_101_010, |attr| Event::open(attr, Target::calling_thread())) {
///     Ok(opened) => println!("{opened}"), // cycles, or cpu-clock (cycles: ...)
///     Err(error) => println!("{error}"),
/// }
/// ```
///
/// # Errors
///
/// Any other errno of the cycles, such as `EMFILE`, and any error of the clock.
pub fn cpu_event<T, E: Into<Error>>(
    attr: &Attr,
    clock_period: u64,
    mut open: impl FnMut(&Attr) -> Result<T, E>,
) -> Result<CpuEvent<T>, Error> {
    let mut open = |attr: &Attr| open(attr).map_err(E::into);
    let event = |source: Attr| {
        attr.with(|attr| {
            attr.kind = source.kind;
            attr.config = source.config;
        })
    };
    let cycles = event(Attr::hardware(Hardware::CPU_CYCLES));
    let refused = match open(&cycles) {
        Ok(value) => return Ok(CpuEvent { value, attr: cycles, refused: None }),
        Err(error) if has_no_cycles(&error) => error,
        Err(error) => return Err(error),
    };
    let mut clock = event(Attr::software(Software::CPU_CLOCK));
    if clock.sample_period != 0 && !clock.flags.contains(AttrFlags::FREQ) {
        clock.sample_period = clock_period;
    }
    let value = open(&clock)?;
    Ok(CpuEvent { value, attr: clock, refused: Some(refused) })
}

fn has_no_cycles(error: &Error) -> bool {
    let errnos =
        [Errno::EOPNOTSUPP, Errno::ENOENT, Errno::ENODEV, Errno::EINVAL, Errno::EACCES, Errno::EPERM];
    error.errno().is_some_and(|errno| errnos.contains(&errno))
}

#[cfg(test)]
mod tests {
    use perf_ring::sys::Error as SysError;
    use perf_ring::{Call, EventType};

    use super::*;

    fn refuse(errno: Errno) -> Error {
        Error::Sys(SysError::System { call: Call::PerfEventOpen, errno })
    }

    /// Opens nothing but clocks; cycles fail with `errno`.
    fn without_cycles(errno: Errno) -> Result<CpuEvent<Attr>, Error> {
        let attr = Attr::default().with_period(1000).with_flags(AttrFlags::DISABLED);
        cpu_event(
            &attr,
            77,
            |attr| {
                if attr.kind == EventType::HARDWARE { Err(refuse(errno)) } else { Ok(*attr) }
            },
        )
    }

    #[test]
    fn clock_replaces_cycles_that_the_machine_does_not_have() {
        for errno in
            [Errno::EOPNOTSUPP, Errno::ENOENT, Errno::ENODEV, Errno::EINVAL, Errno::EACCES, Errno::EPERM]
        {
            let opened = without_cycles(errno).unwrap();
            assert!(!opened.is_cycles());
            let expected =
                Attr::software(Software::CPU_CLOCK).with_period(77).with_flags(AttrFlags::DISABLED);
            assert_eq!((opened.value, opened.attr), (expected, expected));
            assert_eq!(opened.refused, Some(refuse(errno)));
            let text = opened.to_string();
            assert!(text.starts_with("cpu-clock (cycles: perf_event_open: "), "{text}");
        }
    }

    #[test]
    fn other_errnos_are_reported() {
        for errno in [Errno::EMFILE, Errno::ESRCH, Errno::ENOMEM, Errno::EBUSY, Errno::ENOSYS] {
            assert_eq!(without_cycles(errno).unwrap_err(), refuse(errno));
        }
    }

    #[test]
    fn error_of_the_clock_is_reported() {
        let attr = Attr::default();
        let mut errnos = [Errno::ENOENT, Errno::EACCES].into_iter();
        let error = cpu_event(&attr, 1, |_| -> Result<(), _> { Err(refuse(errnos.next().unwrap())) });
        assert_eq!(error.unwrap_err(), refuse(Errno::EACCES));
    }

    #[test]
    fn cycles_are_taken_where_they_open() {
        let attr = Attr::default().with_period(1000);
        let opened = cpu_event(&attr, 77, |attr| Ok::<_, Error>(attr.sample_period)).unwrap();
        assert_eq!((opened.value, opened.is_cycles(), opened.to_string().as_str()), (1000, true, "cycles"));
    }

    #[test]
    fn frequency_and_counting_are_kept_for_the_clock() {
        for attr in [Attr::default().with_frequency(99), Attr::default()] {
            let opened = cpu_event(&attr, 77, |attr| {
                if attr.kind == EventType::HARDWARE { Err(refuse(Errno::ENOENT)) } else { Ok(()) }
            });
            assert_eq!(opened.unwrap().attr.sample_period, attr.sample_period);
        }
    }
}
