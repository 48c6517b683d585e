//! The file, or another output, of a recording.

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::path::Path;

use perf_file::writer::{Features, RecordedEvent, Writer};

use crate::out::destination::Stream;
use crate::out::message::{of_file, shown};
use crate::out::output_path::OutputPath;
use crate::out::standard_output;

/// An output that is open, and nothing is written yet.
#[derive(Debug)]
pub(super) struct Output {
    stream: Stream,
    is_pipe: bool,
    place: Place,
}

/// The place of an output.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The path of a regular file.
    path: Option<OutputPath>,
    /// The new name of the file that existed before.
    old: Option<OutputPath>,
}

impl Place {
    /// Removes a recording that never began, and gives the file that existed before its name again.
    pub(super) fn discard(&self) {
        let Some(path) = &self.path else { return };
        // The caller reports why nothing was recorded, which matters more than this error.
        let _ = match &self.old {
            Some(old) => old.rename(path),
            None => path.remove(),
        };
    }

    /// Returns the path of a regular file.
    pub(super) fn path(&self) -> Option<&OutputPath> {
        self.path.as_ref()
    }
}

impl Output {
    /// Returns whether the path is standard output.
    pub(super) fn is_standard(path: &Path) -> bool {
        path == Path::new("-")
    }

    /// Returns the path as messages name it.
    pub(super) fn name(path: &Path) -> String {
        if Self::is_standard(path) { "standard output".to_owned() } else { shown(path) }
    }

    /// Opens the output. An existing file becomes `FILE.old`. A new file has mode 0600, because a
    /// recording has the addresses, names and paths of everything that ran.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        if Self::is_standard(path) {
            standard_output::expect_open()?;
            if io::stdout().is_terminal() {
                let text =
                    "standard output is a terminal: name a file with -o, or redirect it to a file or a pipe";
                return Err(io::Error::other(text));
            }
            let stream = Stream::of(&io::stdout())?;
            return Ok(Self { stream, is_pipe: true, place: Place { path: None, old: None } });
        }
        Self::create_file(path).map_err(|error| of_file(path, &error))
    }

    fn create_file(path: &Path) -> io::Result<Self> {
        let place = OutputPath::find(path)?;
        let mut old = None;
        if place.is_replaceable()? {
            let name = place.with_suffix(".old");
            place.rename(&name).map_err(|error| {
                let text = format!("cannot be renamed to {}: {error}", shown(name.path()));
                io::Error::new(error.kind(), text)
            })?;
            old = Some(name);
        }
        let file = match place.stat()? {
            None => place.create(0o600),
            Some(_) => place.open(0o600, false),
        };
        let stream = Stream::new(file?)?;
        if stream.is_regular() && place.is_of_proc() {
            stream.handle()?.set_len(0)?;
        }
        let is_pipe = !stream.is_regular() || place.is_of_proc();
        let path = (!is_pipe).then_some(place);
        Ok(Self { stream, is_pipe, place: Place { path, old } })
    }

    /// Returns whether the output is not a regular file, or has no name.
    pub(super) fn is_pipe(&self) -> bool {
        self.is_pipe
    }

    /// Returns the place of the output.
    pub(super) fn place(&self) -> Place {
        self.place.clone()
    }

    /// Returns another handle of the output.
    pub(super) fn handle(&self) -> io::Result<File> {
        self.stream.handle()
    }

    /// Starts the recording: in the file form in a regular file, otherwise in the pipe form.
    pub(super) fn start(
        self,
        events: &[RecordedEvent],
        features: &Features,
        compression: Option<i32>,
    ) -> perf_file::Result<Writer<Stream>> {
        let writer = if self.is_pipe {
            Writer::pipe(self.stream, events, features)
        } else {
            Writer::file(self.stream, events)
        };
        match compression {
            Some(level) => writer?.compressed_at(level),
            None => writer,
        }
    }
}
