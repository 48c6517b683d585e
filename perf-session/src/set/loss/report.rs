use std::error::Error;
use std::fmt;

use super::{Gap, Loss};

/// The losses of a [`LossLedger`](crate::LossLedger), as an error.
///
/// Prints one line for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LossReport {
    /// The losses, ordered by scope and kind.
    pub losses: Vec<Loss>,
    /// The times in which CPUs had no events.
    pub gaps: Vec<Gap>,
}

impl Error for LossReport {}

impl fmt::Display for LossReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (line, loss) in self.losses.iter().enumerate() {
            if line != 0 {
                writeln!(f)?;
            }
            loss.fmt(f)?;
        }
        self.gaps.iter().try_for_each(|gap| write!(f, "\n{gap}"))
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.scope)?;
        if let Some(event) = &self.event {
            write!(f, "{event}: ")?;
        }
        write!(f, "{} {} {}", self.amount, self.kind.unit(), self.kind)?;
        match (self.from, self.to) {
            (Some(from), Some(to)) => write!(f, ", between {from} and {to} ns"),
            (Some(from), None) => write!(f, ", after {from} ns"),
            (None, Some(to)) => write!(f, ", before {to} ns"),
            (None, None) => Ok(()),
        }
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: no events after {} ns", self.scope, self.from)?;
        match self.to {
            Some(to) => write!(f, " until {to} ns of CLOCK_MONOTONIC"),
            None => f.write_str(" of CLOCK_MONOTONIC, and still none"),
        }
    }
}
