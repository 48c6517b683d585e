//! Reading commands from a FIFO, a pipe or a socket.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::ControlCommand;

/// Longest line that is kept, in bytes. The rest of a longer line is skipped.
const MAX_LINE: usize = 4096;

/// Reads commands, in order. It blocks, so run it in a separate thread.
///
/// The iteration ends when all writers of a descriptor have closed their ends. A FIFO never ends,
/// because it is open for reading and writing.
#[derive(Debug)]
pub struct ControlReader {
    file: File,
    lines: Lines,
    has_ended: bool,
}

impl ControlReader {
    pub(super) fn new(file: File) -> Self {
        Self { file, lines: Lines::default(), has_ended: false }
    }

    /// Waits for bytes, and splits them into commands.
    fn fill(&mut self) -> io::Result<()> {
        // The descriptor may be nonblocking.
        while poll(&mut [PollFd::new(&self.file, PollFlags::IN)], None) == Err(Errno::INTR) {}
        let mut bytes = [0; 512];
        match self.file.read(&mut bytes) {
            Ok(0) => self.has_ended = true,
            Ok(count) => self.lines.add(bytes.get(..count).unwrap_or_default()),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Ends after a read error.
impl Iterator for ControlReader {
    type Item = io::Result<ControlCommand>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(command) = self.lines.commands.pop_front() {
                return Some(Ok(command));
            }
            if self.has_ended {
                return None;
            }
            if let Err(error) = self.fill() {
                self.has_ended = true;
                return Some(Err(error));
            }
        }
    }
}

/// Splits bytes that arrive in parts into commands. A line ends with a newline or, as in the perf
/// tool, with a NUL.
#[derive(Debug, Default)]
struct Lines {
    rest: Vec<u8>,
    commands: VecDeque<ControlCommand>,
}

impl Lines {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if byte != b'\n' && byte != 0 {
                if self.rest.len() < MAX_LINE {
                    self.rest.push(byte);
                }
            } else if !self.rest.is_empty() {
                self.commands.push_back(ControlCommand::parse(&self.rest));
                self.rest.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::io::Write as _;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    proptest! {
        #[test]
        fn commands_do_not_depend_on_the_parts_in_which_they_come(
            text in "(ping|enable|stop|x|\n|\0){0,40}", parts in prop::collection::vec(1usize..9, 1..40)
        ) {
            let (mut lines, mut rest) = (Lines::default(), text.as_bytes());
            for part in parts.iter().cycle() {
                let (first, second) = rest.split_at(rest.len().min(*part));
                lines.add(first);
                rest = second;
                if rest.is_empty() {
                    break;
                }
            }
            let (whole, _) = text.rsplit_once(['\n', '\0']).unwrap_or_default();
            let expected = whole.split(['\n', '\0']).filter(|line| !line.is_empty());
            let expected: Vec<ControlCommand> = expected.map(|line| ControlCommand::parse(line.as_bytes())).collect();
            prop_assert_eq!(Vec::from(lines.commands), expected);
        }
    }

    #[test]
    fn long_line_is_one_unknown_command() {
        let (reader, mut writer) = UnixStream::pair().unwrap();
        let mut commands = ControlReader::new(File::from(OwnedFd::from(reader)));
        writer.write_all(&[b'x'; 2 * MAX_LINE]).unwrap();
        writer.write_all(b"\nstop\nping").unwrap();
        drop(writer);
        let Some(Ok(ControlCommand::Unknown(line))) = commands.next() else { panic!() };
        assert_eq!(line.len(), MAX_LINE);
        assert!(matches!(commands.next(), Some(Ok(ControlCommand::Stop))));
        assert!(commands.next().is_none(), "a line without an end is no command");
    }
}
