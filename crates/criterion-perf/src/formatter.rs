//! Formats counts with their event, for criterion.

use std::slice;

use criterion::Throughput;
use criterion::measurement::ValueFormatter;

use crate::text::to_static;

/// Prints counts with their event: `12.345 K instructions:u`, and the ns of a clock:
/// `1.2345 ms task-clock:u`.
#[derive(Clone, Debug)]
pub(crate) struct EventFormatter {
    /// The name of the event, preceded by the unit of its counts unless that is 1 or ns.
    what: String,
    is_clock: bool,
}

/// Prefixes of counts, ascending. The first one is for all counts below the second.
const COUNTS: &[(f64, &str)] = &[(1.0, ""), (1e3, "K "), (1e6, "M "), (1e9, "G "), (1e12, "T ")];

/// Units of times in ns, ascending.
const CLOCKS: &[(f64, &str)] = &[(1e-3, "ps "), (1.0, "ns "), (1e3, "µs "), (1e6, "ms "), (1e9, "s ")];

impl EventFormatter {
    /// Creates the formatter of an event. `unit` is the unit of its counts, empty for most.
    pub(crate) fn new(event: &str, unit: &str) -> Self {
        let is_clock = unit == "ns";
        let what = if unit.is_empty() || is_clock { event.to_owned() } else { format!("{unit} {event}") };
        Self { what, is_clock }
    }

    /// Scales the values to the prefix that suits the typical value. Returns the unit with its
    /// `suffix`.
    fn scale(&self, typical: f64, values: &mut [f64], suffix: &str) -> &'static str {
        let factors = if self.is_clock { CLOCKS } else { COUNTS };
        let (fitting, first) =
            (factors.iter().rfind(|(factor, _)| typical.abs() >= *factor), factors.first());
        let &(factor, prefix) = fitting.or(first).unwrap_or(&(1.0, ""));
        divide(values, factor);
        to_static(&format!("{prefix}{}{suffix}", self.what))
    }
}

fn divide(values: &mut [f64], divisor: f64) {
    for value in values {
        *value /= divisor;
    }
}

/// Returns the number with five digits, as criterion prints times.
fn digits(number: f64) -> String {
    match number.abs() {
        0.0 => "0".to_owned(),
        ..0.1 => format!("{number:.4e}"),
        ..10.0 => format!("{number:.4}"),
        ..100.0 => format!("{number:.3}"),
        ..1000.0 => format!("{number:.2}"),
        _ => format!("{number:.1}"),
    }
}

impl ValueFormatter for EventFormatter {
    fn format_value(&self, value: f64) -> String {
        let mut number = value;
        let unit = self.scale_values(value, slice::from_mut(&mut number));
        format!("{} {unit}", digits(number))
    }

    fn format_throughput(&self, throughput: &Throughput, value: f64) -> String {
        let mut number = value;
        let unit = self.scale_throughputs(value, throughput, slice::from_mut(&mut number));
        format!("{} {unit}", digits(number))
    }

    fn scale_values(&self, typical_value: f64, values: &mut [f64]) -> &'static str {
        self.scale(typical_value, values, "")
    }

    /// Returns counts per byte, bit or element. Unlike for the rates of a time, less is better.
    fn scale_throughputs(
        &self,
        typical_value: f64,
        throughput: &Throughput,
        values: &mut [f64],
    ) -> &'static str {
        let (number, suffix) = match *throughput {
            Throughput::Bytes(bytes) | Throughput::BytesDecimal(bytes) => (bytes, "/byte"),
            Throughput::Bits(bits) => (bits, "/bit"),
            // criterion formats the bytes itself.
            Throughput::Elements(elements) | Throughput::ElementsAndBytes { elements, .. } => {
                (elements, "/element")
            }
        };
        #[allow(clippy::cast_precision_loss)] // a ratio does not need more than 53 bits
        let number = number.max(1) as f64;
        divide(values, number);
        self.scale(typical_value / number, values, suffix)
    }

    /// Leaves counts and ns unscaled.
    fn scale_for_machines(&self, _values: &mut [f64]) -> &'static str {
        let prefix = if self.is_clock { "ns " } else { "" };
        to_static(&format!("{prefix}{}", self.what))
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // quotients that are exact
mod tests {
    use super::*;

    fn instructions() -> EventFormatter {
        EventFormatter::new("instructions:u", "")
    }

    #[test]
    fn counts_have_the_prefix_of_their_size() {
        let text = |value| instructions().format_value(value);
        assert_eq!(text(0.0), "0 instructions:u");
        assert_eq!(text(0.000_244_14), "2.4414e-4 instructions:u");
        assert_eq!(text(0.25), "0.2500 instructions:u");
        assert_eq!(text(12.0), "12.000 instructions:u");
        assert_eq!(text(12_345.0), "12.345 K instructions:u");
        assert_eq!(text(1.2e6), "1.2000 M instructions:u");
        assert_eq!(text(7e9), "7.0000 G instructions:u");
        assert_eq!(text(7e15), "7000.0 T instructions:u");
    }

    #[test]
    fn clocks_have_units_of_time_and_their_name() {
        let text = |value| EventFormatter::new("task-clock:u", "ns").format_value(value);
        assert_eq!(text(0.25), "250.00 ps task-clock:u");
        assert_eq!(text(12.0), "12.000 ns task-clock:u");
        assert_eq!(text(1_234_500.0), "1.2345 ms task-clock:u");
    }

    #[test]
    fn unit_of_an_event_is_before_its_name() {
        assert_eq!(EventFormatter::new("msr/thermal/", "C").format_value(5.0), "5.0000 C msr/thermal/");
    }

    #[test]
    fn throughput_is_a_count_of_each_byte_or_element() {
        let text = |throughput| instructions().format_throughput(&throughput, 3e6);
        assert_eq!(text(Throughput::Bytes(2_000_000)), "1.5000 instructions:u/byte");
        assert_eq!(text(Throughput::BytesDecimal(2_000_000)), "1.5000 instructions:u/byte");
        assert_eq!(text(Throughput::Bits(1000)), "3.0000 K instructions:u/bit");
        assert_eq!(text(Throughput::Elements(3)), "1.0000 M instructions:u/element");
        let both = Throughput::ElementsAndBytes { elements: 30, bytes: 1 };
        assert_eq!(text(both), "100.00 K instructions:u/element");
    }

    #[test]
    fn values_of_one_graph_have_one_unit_and_no_nan() {
        let mut values = [0.0, 500.0, 2e6];
        assert_eq!(instructions().scale_values(4e3, &mut values), "K instructions:u");
        assert_eq!(values, [0.0, 0.5, 2000.0]);
        let mut values = [0.0, 5.0];
        instructions().scale_throughputs(0.0, &Throughput::Bytes(0), &mut values);
        assert_eq!(values, [0.0, 5.0]);
    }

    #[test]
    fn machines_read_unscaled_values() {
        let mut values = [12_345.0];
        assert_eq!(instructions().scale_for_machines(&mut values), "instructions:u");
        let clock = EventFormatter::new("task-clock:u", "ns");
        assert_eq!(clock.scale_for_machines(&mut values), "ns task-clock:u");
        assert_eq!(values, [12_345.0]);
    }
}
