use std::sync::{Mutex, MutexGuard, PoisonError};

use perf_abi::{Attr, EventType, SampleType, Software};

use crate::error::{Error, Result};

/// The registers that the open software events of this process sample.
///
/// The kernel prepares one sample for all software events of a kind. It reserves space for the registers of
/// the event that it serves first, and writes those of each event. So it overwrites unread records, which
/// may be borrowed, if two events sample different numbers of registers (`docs/kernel-errata.md`).
static OPEN: Mutex<Vec<Group>> = Mutex::new(Vec::new());

/// Open events of one kind that sample the same numbers of registers.
#[derive(Debug)]
struct Group {
    registers: Registers,
    events: usize,
}

/// The numbers of registers in the samples of a software event, 0 for those that it does not sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Registers {
    kind: Software,
    user: u32,
    intr: u32,
}

impl Registers {
    /// Returns `None` for an event whose samples the kernel does not prepare together with others, or that
    /// samples no registers.
    fn of(attr: &Attr) -> Option<Self> {
        let count = |field, mask: u64| if attr.sample_type.contains(field) { mask.count_ones() } else { 0 };
        let user = count(SampleType::REGS_USER, attr.sample_regs_user);
        let intr = count(SampleType::REGS_INTR, attr.sample_regs_intr);
        let kind = Software(attr.config);
        // The clocks have a timer each, and a BPF program writes into one event.
        let is_alone = [Software::CPU_CLOCK, Software::TASK_CLOCK, Software::DUMMY, Software::BPF_OUTPUT]
            .contains(&kind);
        let is_shared = attr.kind == EventType::SOFTWARE && attr.sample_period != 0 && !is_alone;
        (is_shared && (user, intr) != (0, 0)).then_some(Self { kind, user, intr })
    }

    /// Returns [`Error::Registers`] if the kernel could overwrite records of one of two events.
    fn check(self, open: Self) -> Result<()> {
        let differ = |one: u32, other: u32| one != 0 && other != 0 && one != other;
        let (expected, found) = match self.kind == open.kind {
            true if differ(self.user, open.user) => (open.user, self.user),
            true if differ(self.intr, open.intr) => (open.intr, self.intr),
            _ => return Ok(()),
        };
        Err(Error::Registers { kind: self.kind, expected, found })
    }
}

/// The right to open a software event that samples registers. Drop it after the descriptor was closed.
#[derive(Debug)]
pub(super) struct RegistersClaim(Option<Registers>);

impl RegistersClaim {
    /// Claims the registers of an event that is not open yet.
    ///
    /// # Errors
    ///
    /// [`Error::Registers`].
    pub(super) fn new(attr: &Attr) -> Result<Self> {
        let Some(registers) = Registers::of(attr) else { return Ok(Self(None)) };
        let mut groups = open();
        groups.iter().try_for_each(|group| registers.check(group.registers))?;
        match groups.iter_mut().find(|group| group.registers == registers) {
            Some(group) => group.events += 1,
            None => groups.push(Group { registers, events: 1 }),
        }
        Ok(Self(Some(registers)))
    }

    /// Returns the claim of a foreign descriptor, whose caller keeps the rule.
    pub(super) const fn foreign() -> Self {
        Self(None)
    }
}

impl Drop for RegistersClaim {
    fn drop(&mut self) {
        let Some(registers) = self.0 else { return };
        let mut groups = open();
        if let Some(group) = groups.iter_mut().find(|group| group.registers == registers) {
            group.events = group.events.saturating_sub(1);
        }
        groups.retain(|group| group.events != 0);
    }
}

fn open() -> MutexGuard<'static, Vec<Group>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: Software, user: u64, intr: u64) -> Attr {
        Attr::software(kind).with_period(1).with_regs_user(user).with_regs_intr(intr)
    }

    #[test]
    fn other_number_of_registers_of_the_same_kind_is_refused_until_the_event_is_closed() {
        let kind = Software::EMULATION_FAULTS; // each test has its own kinds
        let first = RegistersClaim::new(&event(kind, 0b111, 0)).unwrap();
        let equal = RegistersClaim::new(&event(kind, 0b1011, 0)).unwrap();
        let error = RegistersClaim::new(&event(kind, 1, 0)).unwrap_err();
        assert_eq!(error, Error::Registers { kind, expected: 3, found: 1 });
        assert!(error.to_string().contains("expected 3 registers"), "{error}");
        drop(first);
        assert!(RegistersClaim::new(&event(kind, 1, 0)).is_err(), "one is still open");
        drop(equal);
        assert!(RegistersClaim::new(&event(kind, 1, 0)).is_ok());
    }

    #[test]
    fn interrupt_registers_are_compared_apart_from_those_of_user_space() {
        let kind = Software::ALIGNMENT_FAULTS;
        let _user = RegistersClaim::new(&event(kind, 1, 0)).unwrap();
        let _intr = RegistersClaim::new(&event(kind, 0, 0b11)).unwrap();
        assert!(RegistersClaim::new(&event(kind, 0b10, 0b110)).is_ok());
        let error = RegistersClaim::new(&event(kind, 1, 1)).unwrap_err();
        assert_eq!(error, Error::Registers { kind, expected: 2, found: 1 });
    }

    #[test]
    fn events_that_share_no_sample_claim_nothing() {
        let kind = Software::CPU_MIGRATIONS;
        let _open = RegistersClaim::new(&event(kind, 0b11, 0)).unwrap();
        let counting = event(kind, 1, 0).with_period(0);
        let plain = Attr::software(kind).with_period(1);
        let other = event(Software::CGROUP_SWITCHES, 1, 0);
        for attr in [counting, plain, other, event(Software::CPU_CLOCK, 1, 0), Attr::tracepoint(kind.0)] {
            assert!(RegistersClaim::new(&attr).is_ok(), "{attr:?}");
        }
    }
}
