//! The commands of the protocol, parsed from lines.

use std::fmt;

/// A command of the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ControlCommand {
    /// `enable [EVENT]`: enable all events, or the one with this name. The recorder's separate
    /// event of side-band records, if the set has one, always stays enabled.
    Enable(Option<String>),
    /// `disable [EVENT]`: disable all events, or the one with this name.
    Disable(Option<String>),
    /// `ping`: acknowledge, and do nothing else.
    Ping,
    /// `snapshot`: write what an overwritten ring holds. Since perf 5.10.
    Snapshot,
    /// `stop`: end the recording. Since perf 5.12.
    Stop,
    /// `evlist [-v|-g|-F]`: print the events. The options are kept as they are. Since perf 5.12.
    EventList(String),
    /// Any other line. The perf tool does not acknowledge it.
    Unknown(String),
}

impl ControlCommand {
    /// Parses a line without its end. Bytes that are not UTF-8 are replaced.
    pub fn parse(line: &[u8]) -> Self {
        let line = String::from_utf8_lossy(line);
        let (word, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let rest = rest.trim();
        let event = (!rest.is_empty()).then(|| rest.to_owned());
        match (word, &event) {
            ("enable", _) => Self::Enable(event),
            ("disable", _) => Self::Disable(event),
            ("ping", None) => Self::Ping,
            ("snapshot", None) => Self::Snapshot,
            ("stop", None) => Self::Stop,
            ("evlist", _) => Self::EventList(rest.to_owned()),
            _ => Self::Unknown(line.into_owned()),
        }
    }
}

/// The line as a program writes it.
impl fmt::Display for ControlCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, rest) = match self {
            Self::Enable(event) => ("enable", event.as_deref().unwrap_or_default()),
            Self::Disable(event) => ("disable", event.as_deref().unwrap_or_default()),
            Self::Ping => ("ping", ""),
            Self::Snapshot => ("snapshot", ""),
            Self::Stop => ("stop", ""),
            Self::EventList(options) => ("evlist", options.as_str()),
            Self::Unknown(line) => (line.as_str(), ""),
        };
        match rest {
            "" => f.write_str(word),
            rest => write!(f, "{word} {rest}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_words_with_an_optional_event() {
        let parse = |line: &str| ControlCommand::parse(line.as_bytes());
        for line in
            ["ping", "enable", "enable cycles:u", "disable", "snapshot", "stop", "evlist", "evlist -v"]
        {
            assert!(!matches!(parse(line), ControlCommand::Unknown(_)), "{line}");
            assert_eq!(parse(line).to_string(), line);
        }
        assert_eq!(parse("enable  cycles "), ControlCommand::Enable(Some("cycles".to_owned())));
        for line in ["", "enablecycles", "ping pong", "ENABLE", "stop now", "\u{1b}[31m"] {
            assert_eq!(parse(line), ControlCommand::Unknown(line.to_owned()));
        }
        assert_eq!(ControlCommand::parse(b"\xff"), ControlCommand::Unknown("\u{fffd}".to_owned()));
    }
}
