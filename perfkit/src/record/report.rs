//! The summary of a recording.

use std::time::Duration;

use perf_decode::LostCounts;
use perf_session::{Gap, Loss, LossKind, LossLedger};

use crate::out::message::{count, note};

/// The counts of the output.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) samples: u64,
    /// Samples that are missing because the output failed.
    pub(super) unwritten: u64,
    /// Switches of threads to a CPU and from it; `None` if waits are not recorded.
    pub(super) switches: Option<u64>,
    /// Bytes that do not form a record.
    pub(super) malformed: u64,
    /// Name and size of the file, or the number of files.
    pub(super) place: String,
    /// Why records are lost, and the remedy.
    pub(super) cause: &'static str,
}

impl Written {
    /// The cause in a recording whose rings are read all the time.
    pub(super) const FULL: &'static str = "a ring was full, use larger ones (-m) or fewer samples";
}

/// The numbers of a recording.
#[derive(Debug)]
pub(super) struct Report<'r> {
    pub(super) written: Written,
    pub(super) ledger: &'r LossLedger,
    /// The sum of the losses, as the recording has it.
    pub(super) lost: LostCounts,
    /// A clause with the event that replaces the default, and the reason.
    pub(super) clause: Option<String>,
    /// The records that are missing while a CPU is offline.
    pub(super) of_cpus: OfCpus,
    /// The threads that waited all the time.
    pub(super) waiting: Option<String>,
}

/// The records of events on CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OfCpus {
    All,
    /// Only wakeups; the other events observe tasks.
    Wakeups,
}

impl Report<'_> {
    /// Prints one line about a written recording, and one for each loss except losses of a full
    /// ring.
    pub(super) fn print(&self) {
        note(self.line());
        // Other recordings are not about waits.
        if let Some(waiting) =
            self.waiting.as_ref().filter(|_| self.written.switches.is_some() && !self.is_empty())
        {
            note(waiting);
        }
        self.print_losses();
    }

    /// Returns whether nothing was sampled, no switches were recorded and no loss is known.
    fn is_empty(&self) -> bool {
        let Written { samples, unwritten, switches, .. } = &self.written;
        // Waits need no samples.
        (*samples, *unwritten, switches.unwrap_or(0)) == (0, 0, 0) && self.lost().is_none()
    }

    fn line(&self) -> String {
        let Written { samples, unwritten, switches, place, .. } = &self.written;
        let clause = self.clause.as_ref().map(|clause| format!("; {clause}")).unwrap_or_default();
        let lost = self.lost();
        if self.is_empty() {
            return match &self.waiting {
                Some(waiting) => format!("no samples in {place}{clause}: {waiting}"),
                None => format!("nothing was sampled: no samples in {place}{clause}"),
            };
        }
        let switches = switches.filter(|switches| *switches > 0);
        let unwritten = (*unwritten > 0).then(|| format!("{unwritten} not written"));
        let missing: Vec<_> = unwritten.into_iter().chain(lost).collect();
        let missing = if missing.is_empty() { "none lost".to_owned() } else { missing.join(", ") };
        let switches =
            switches.map(|switches| format!(" and {switches} switches of threads")).unwrap_or_default();
        format!("{}{switches} in {place}, {missing}{clause}", count(*samples, "sample"))
    }

    /// Prints what was recorded before the output failed.
    pub(super) fn print_unwritten(&self) {
        // The records of the last read are missing too, so "none lost" holds only for the time
        // before.
        let lost = self.lost().unwrap_or_else(|| "none lost before".to_owned());
        let samples = count(self.written.samples, "sample");
        note(format_args!("the recording is not complete: {samples} until then, {lost}"));
        self.print_losses();
    }

    /// Returns the sum of the losses, or `None` if nothing was lost.
    fn lost(&self) -> Option<String> {
        let (lost, cause) = (self.lost, self.written.cause);
        match self.ledger.dropped() {
            0 if !lost.is_empty() => Some(format!("{lost}, see below")),
            0 if self.ledger.nothing_lost().is_ok() && self.written.malformed == 0 => None,
            0 => Some("not complete, see below".to_owned()),
            dropped if dropped == lost.total() => Some(format!("{lost}: {cause}")),
            dropped => Some(format!("{lost}, {dropped} of them: {cause}")),
        }
    }

    fn print_losses(&self) {
        if self.written.malformed > 0 {
            note(format_args!("{} bytes of the rings are no records", self.written.malformed));
        }
        // The first line has the losses of a full ring.
        let is_other = |loss: &&Loss| {
            !matches!(loss.kind, LossKind::Lost | LossKind::ReadLost | LossKind::Gap | LossKind::Late)
        };
        self.ledger.losses().filter(is_other).map(loss).for_each(note);
        self.ledger.gaps().iter().map(|it| gap(it, self.of_cpus)).for_each(note);
    }
}

fn loss(loss: &Loss) -> String {
    let event = loss.event.as_ref().map(|event| format!("{event}: ")).unwrap_or_default();
    let span = loss.from.zip(loss.to).map(|(from, to)| to.saturating_sub(from)).filter(|span| *span > 0);
    let within = span.map(|span| format!(" within {}", duration(span))).unwrap_or_default();
    // "record" for 1, as `count` makes "records" of it.
    let unit = loss.kind.unit();
    let unit = if loss.amount == 1 { unit.strip_suffix('s').unwrap_or(unit) } else { unit };
    format!("{}: {event}{} {unit} {}{within}", loss.scope, loss.amount, loss.kind)
}

fn gap(gap: &Gap, of_cpus: OfCpus) -> String {
    let what = match of_cpus {
        OfCpus::All => "not recorded",
        OfCpus::Wakeups => "no wakeups recorded",
    };
    match gap.at_most() {
        Some(ns) => format!("{}: {what} for at most {}, while offline", gap.scope, duration(ns)),
        None => format!("{}: {what} after it went offline", gap.scope),
    }
}

/// Returns a time in ns with a unit that needs few digits.
fn duration(ns: u64) -> String {
    let time = Duration::from_nanos(ns);
    match ns {
        0..1_000_000 => format!("{:.1} us", time.as_secs_f64() * 1e6),
        1_000_000..1_000_000_000 => format!("{:.1} ms", time.as_secs_f64() * 1e3),
        _ => format!("{:.2} s", time.as_secs_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::out::message::size;

    #[test]
    fn samples_that_were_not_written_were_sampled() {
        let ledger = LossLedger::default();
        let line = |samples, unwritten, switches| {
            let place = "0 profiles".to_owned();
            let written = Written { samples, unwritten, switches, malformed: 0, place, cause: Written::FULL };
            let lost = LostCounts::default();
            Report { written, ledger: &ledger, lost, clause: None, of_cpus: OfCpus::All, waiting: None }
                .line()
        };
        assert_eq!(line(0, 0, None), "nothing was sampled: no samples in 0 profiles");
        assert_eq!(line(0, 0, Some(0)), "nothing was sampled: no samples in 0 profiles");
        assert_eq!(line(0, 0, Some(7)), "0 samples and 7 switches of threads in 0 profiles, none lost");
        assert_eq!(line(0, 23_647, None), "0 samples in 0 profiles, 23647 not written");
        assert_eq!(line(1, 0, None), "1 sample in 0 profiles, none lost");
    }

    #[test]
    fn times_and_sizes_have_few_digits() {
        assert_eq!([800, 2_500_000, 1_234_567_890].map(duration), ["0.8 us", "2.5 ms", "1.23 s"]);
        assert_eq!([31, 31_952, 12_345_678].map(size), ["31 bytes", "32 kB", "12.3 MB"]);
    }
}
