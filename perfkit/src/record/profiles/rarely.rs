//! Rate limit for repeated messages.

use std::fmt;
use std::time::{Duration, Instant};

use crate::out::message::note;

/// The shortest time between two messages.
const INTERVAL: Duration = Duration::from_secs(60);

/// Prints a message at once, and later ones at most once a minute, with the number of suppressed
/// messages.
#[derive(Debug, Default)]
pub(super) struct Rarely {
    last: Option<Instant>,
    hidden: u64,
}

impl Rarely {
    pub(super) fn note(&mut self, text: impl fmt::Display) {
        if self.last.is_some_and(|last| last.elapsed() < INTERVAL) {
            self.hidden += 1;
            return;
        }
        match std::mem::take(&mut self.hidden) {
            0 => note(text),
            hidden => note(format_args!("{text} (and {hidden} times since the last message)")),
        }
        self.last = Some(Instant::now());
    }
}
