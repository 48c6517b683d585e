//! Compares counts with the counts of an earlier run, which `stat --json` wrote.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde_json::Value as Json;

use crate::out::message::{of_file, shown};

/// The code if an event grew by more than the limit.
pub(super) const GREW: u8 = 3;

/// Maximum length of the file in bytes. An event takes some 200.
const MAX_BYTES: u64 = 16 << 20;

/// The keys that name a part; see [`Part`](super::split::Part).
const PARTS: [&str; 6] = ["cpu", "core", "die", "socket", "thread", "cgroup"];

/// Times that `stat --json` adds to the counts. They are not compared: on a machine that others use
/// they vary by more than any limit.
const TIMES: [&str; 3] = ["duration_time", "user_time", "system_time"];

/// An event of a part with its value.
#[derive(Clone, Debug, PartialEq)]
struct Counted {
    event: String,
    /// The names of the part, in the order of [`PARTS`].
    part: Vec<String>,
    value: f64,
    /// Empty for a number of events.
    unit: String,
    /// Standard error of the value; `None` of a single run.
    error: Option<f64>,
}

/// The counts of an earlier run.
#[derive(Debug)]
pub(super) struct Baseline {
    counted: Vec<Counted>,
}

/// The change of an event.
#[derive(Clone, Debug, PartialEq)]
struct Change {
    name: String,
    unit: String,
    base: f64,
    new: f64,
    /// In percent of the base.
    percent: f64,
    /// Twice the standard error of the change, in percent of the base.
    noise: f64,
    /// Whether both sides have several runs.
    is_known: bool,
}

/// The result of a comparison.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// One line for each event, and notes about what was not compared.
    pub(super) lines: Vec<String>,
    /// Whether an event grew by more than the limit, beyond its noise.
    pub(super) has_grown: bool,
}

impl Counted {
    /// Reads an object of `stat --json`; `None` for an event without a value, and for a time.
    fn of(object: &Json) -> Option<Self> {
        let text = |key: &str| object.get(key).and_then(Json::as_str);
        let event = text("event").filter(|event| !TIMES.contains(event))?;
        let value = text("counter-value")?.parse::<f64>().ok().filter(|value| value.is_finite())?;
        let variance = object.get("variance").and_then(Json::as_f64);
        Some(Self {
            event: event.to_owned(),
            part: PARTS.iter().map(|key| text(key).unwrap_or_default().to_owned()).collect(),
            value,
            unit: text("unit").unwrap_or_default().to_owned(),
            error: variance.map(|percent| percent / 100.0 * value.abs()),
        })
    }

    fn name(&self) -> String {
        let part = self.part.iter().filter(|name| !name.is_empty()).map(|name| shown(name) + " ");
        part.collect::<String>() + &shown(&self.event)
    }
}

impl Baseline {
    /// Reads the file that `stat --json -o FILE` wrote.
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_string(&mut text));
        read.map_err(|error| of_file(path, &error))?;
        let counted: Vec<_> =
            text.lines().filter_map(|line| Counted::of(&serde_json::from_str(line).ok()?)).collect();
        if counted.is_empty() {
            let text = "expected the lines of `perfkit stat --json`, found none with a value";
            return Err(of_file(path, &io::Error::other(text)));
        }
        Ok(Self { counted })
    }

    /// Compares the objects of `stat --json` with the baseline. With a limit in percent, an event
    /// that grew by more than it, even if the noise is subtracted, is a failure.
    pub(super) fn compare(&self, new: &[Json], limit: Option<f64>) -> Verdict {
        let new: Vec<_> = new.iter().filter_map(Counted::of).collect();
        let mut verdict = Verdict::default();
        let mut is_known = true;
        for base in &self.counted {
            let same = new.iter().find(|new| (&new.event, &new.part) == (&base.event, &base.part));
            let Some(new) = same else {
                verdict.lines.push(format!("{}: not compared, because it was not counted now", base.name()));
                continue;
            };
            let change = Change::new(base, new);
            let has_grown = limit.is_some_and(|limit| change.percent - change.noise > limit);
            verdict.has_grown |= has_grown;
            is_known &= change.is_known;
            verdict.lines.push(change.line(limit.filter(|_| has_grown)));
        }
        if limit.is_some() && !is_known {
            let note =
                "the verdict may be wrong, because the noise of a single run is unknown: use -r 5 for both";
            verdict.lines.push(note.to_owned());
        }
        verdict
    }
}

impl Change {
    fn new(base: &Counted, new: &Counted) -> Self {
        // Of nothing, any growth is infinite.
        let scale = if base.value == 0.0 { new.value.abs() / f64::MAX } else { base.value.abs() / 100.0 };
        let in_percent = |value: f64| if value == 0.0 { 0.0 } else { value / scale };
        let errors = base.error.unwrap_or(0.0).hypot(new.error.unwrap_or(0.0));
        Self {
            name: base.name(),
            unit: base.unit.clone(),
            base: base.value,
            new: new.value,
            percent: in_percent(new.value - base.value),
            noise: in_percent(2.0 * errors),
            is_known: base.error.is_some() && new.error.is_some(),
        }
    }

    fn line(&self, exceeded: Option<f64>) -> String {
        let Self { name, unit, base, new, percent, noise, .. } = self;
        let (decimals, unit) =
            if unit.is_empty() { (0, String::new()) } else { (2, format!(" {}", shown(unit))) };
        let percent = match *base {
            0.0 if *percent > 0.0 => "from nothing".to_owned(),
            _ => format!("{percent:+.1} %"),
        };
        let noise = if self.is_known { format!(" +- {noise:.1} %") } else { String::new() };
        let grew = exceeded.map_or_else(String::new, |limit| format!(": grew by more than {limit} %"));
        format!("{name}: {base:.decimals$} -> {new:.decimals$}{unit}, {percent}{noise}{grew}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(event: &str, value: &str, variance: Option<f64>) -> Json {
        let mut object = json!({"event": event, "counter-value": value});
        if let Some(variance) = variance {
            object["variance"] = variance.into();
        }
        object
    }

    fn verdict(base: &[Json], new: &[Json], limit: f64) -> Verdict {
        Baseline { counted: base.iter().filter_map(Counted::of).collect() }.compare(new, Some(limit))
    }

    #[test]
    fn event_fails_if_it_grew_by_more_than_the_limit_and_the_noise() {
        let base = [object("faults", "1000.000000", Some(3.0))];
        // Twice the root of 30^2 + 44^2 is 106.5: 150 is beyond it by 43.5, which is 4.3 %.
        let new = [object("faults", "1150.000000", Some(3.8261))];
        assert!(verdict(&base, &new, 4.0).has_grown && !verdict(&base, &new, 5.0).has_grown);
        assert_eq!(
            verdict(&base, &new, 4.0).lines,
            ["faults: 1000 -> 1150, +15.0 % +- 10.7 %: grew by more than 4 %"]
        );
        assert!(!verdict(&new, &base, 0.0).has_grown);
    }

    #[test]
    fn what_is_missing_is_said() {
        let base = [object("faults", "0.000000", None), object("cycles", "7", Some(0.0))];
        let new = [object("faults", "2", Some(0.0)), object("cycles", "<not supported>", Some(0.0))];
        let found = verdict(&base, &new, 1000.0);
        assert!(found.has_grown);
        assert_eq!(found.lines[0], "faults: 0 -> 2, from nothing: grew by more than 1000 %");
        assert_eq!(found.lines[1], "cycles: not compared, because it was not counted now");
        assert!(found.lines[2].starts_with("the verdict may be wrong"));
        assert_eq!(Counted::of(&object("cycles", "<not counted>", None)), None);
        assert!(!verdict(&base[..1], &base[..1], 0.0).has_grown, "nothing did not grow");
    }

    #[test]
    fn parts_are_compared_with_themselves() {
        let part = |cpu: &str, value: &str| json!({"event": "faults", "cpu": cpu, "counter-value": value});
        let found = verdict(&[part("0", "10"), part("1", "20")], &[part("1", "20"), part("0", "10")], 0.0);
        assert!(!found.has_grown);
        assert_eq!(found.lines[..2], ["0 faults: 10 -> 10, +0.0 %", "1 faults: 20 -> 20, +0.0 %"]);
    }
}
