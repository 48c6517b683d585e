//! The start and the stop of the events: by time and by the commands of another program.

use std::io;
use std::time::Duration;

use clap::Args;
use perf_record::{Control, ControlAck, ControlCommand};
use perf_session::{EventSet, EventSetError};

use super::requests::Requests;
use crate::out::message::{count, note, shown};

/// The options that start events later than the command.
#[derive(Args, Clone, Debug)]
pub(super) struct ControlOptions {
    /// Commands from a FIFO or an open descriptor, one a line: enable, disable, ping, snapshot, stop, evlist; enable and
    /// disable take the name of an event. ACK gets `ack` after each
    #[arg(long, value_name = "fifo:CTL[,ACK]|fd:CTL[,ACK]")]
    control: Option<String>,
    /// Milliseconds after the start until events are enabled; -1 leaves that to --control
    #[arg(short = 'D', long, value_name = "MS", allow_hyphen_values = true, value_parser = delay)]
    delay: Option<Delay>,
}

/// The time until events are enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delay {
    After(Duration),
    UntilEnabled,
}

impl ControlOptions {
    /// Returns the delay; `None` to start at once.
    pub(super) fn delay(&self) -> Option<Delay> {
        self.delay.filter(|delay| *delay != Delay::After(Duration::ZERO))
    }

    /// Returns whether events may be disabled during the recording.
    pub(super) fn is_used(&self) -> bool {
        self.control.is_some() || self.delay().is_some()
    }

    /// Opens the control channel.
    pub(super) fn open(&self) -> io::Result<Option<Control>> {
        if self.delay == Some(Delay::UntilEnabled) && self.control.is_none() {
            let text = "-D -1 needs --control: nothing else enables the events";
            return Err(io::Error::other(text));
        }
        Ok(self.control.as_deref().map(Control::open).transpose()?)
    }
}

fn delay(text: &str) -> Result<Delay, String> {
    match text.parse() {
        Ok(ms) => Ok(Delay::After(Duration::from_millis(ms))),
        Err(_) if text == "-1" => Ok(Delay::UntilEnabled),
        Err(_) => Err("expected milliseconds, or -1 for events that --control enables".to_owned()),
    }
}

/// The events that are enabled and disabled, and the place of the acknowledgements.
#[derive(Debug)]
pub(super) struct Controlled {
    /// Indexes of the events, except for events with side-band records only.
    events: Vec<usize>,
    ack: Option<ControlAck>,
    /// Acknowledgements that were not sent because their pipe was full.
    unsent: u64,
}

impl Controlled {
    pub(super) fn new(events: Vec<usize>) -> Self {
        Self { events, ack: None, unsent: 0 }
    }

    /// Starts to receive commands.
    pub(super) fn listen(&mut self, channel: Control, requests: Requests) -> io::Result<()> {
        self.ack = Some(channel.ack);
        requests.send_commands(channel.reader)
    }

    /// Enables the events that write only side-band records.
    pub(super) fn enable_others(&self, set: &EventSet) -> Result<(), EventSetError> {
        set.enable_events(|index| !self.events.contains(&index))
    }

    /// Enables the events.
    pub(super) fn enable(&self, set: &EventSet) -> Result<(), EventSetError> {
        set.enable_events(|index| self.events.contains(&index))
    }

    /// Applies a command that concerns events.
    pub(super) fn apply(&self, set: &EventSet, command: &ControlCommand) -> Result<(), EventSetError> {
        let names = set.names();
        let is_chosen = |index: usize, name: &Option<String>| {
            let is_named = |name: &String| names.get(index).is_some_and(|known| **known == **name);
            self.events.contains(&index) && name.as_ref().is_none_or(is_named)
        };
        if let ControlCommand::Enable(Some(name)) | ControlCommand::Disable(Some(name)) = command
            && !names.iter().any(|known| **known == **name)
        {
            note(format_args!("--control: no event is named {}", shown(name)));
        }
        match command {
            ControlCommand::Enable(name) => set.enable_events(|index| is_chosen(index, name)),
            ControlCommand::Disable(name) => set.disable_events(|index| is_chosen(index, name)),
            ControlCommand::EventList(_) => {
                names.iter().for_each(note);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Acknowledges a command, unless it is unknown, as the perf tool does.
    pub(super) fn acknowledge(&mut self, command: &ControlCommand) {
        if let ControlCommand::Unknown(line) = command {
            note(format_args!("--control: unknown command {:?}", shown(line)));
            return;
        }
        match self.ack.as_mut().map_or(Ok(()), ControlAck::send) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.unsent += 1,
            Err(error) => note(format_args!("--control: no further acknowledgements: {error}")),
        }
    }

    /// Prints the number of unsent acknowledgements.
    pub(super) fn print_unsent(&self) {
        if self.unsent > 0 {
            let unsent = count(self.unsent, "acknowledgement");
            note(format_args!("--control: {unsent} not sent, because nobody read them"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delay_is_a_number_of_milliseconds_or_minus_one() {
        assert_eq!(delay("-1"), Ok(Delay::UntilEnabled));
        assert_eq!(delay("250"), Ok(Delay::After(Duration::from_millis(250))));
        for text in ["-2", "1s", "", "10-20"] {
            assert!(delay(text).unwrap_err().contains("milliseconds"), "{text}");
        }
    }
}
