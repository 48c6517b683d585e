//! `perfkit archive`: the files that a recording needs on another machine.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use perf_file::format::Feature;
use perf_profile::read::{Metadata, Records};
use perf_symbols::{AddressSpaces, ObjectKind, RecordedObject, RecordedObjects};
use serde_json::json;

mod files;
mod name;
mod pack;

use files::{Files, Packed};
use pack::Pack;

use crate::cli::help;
use crate::out::message::{self, note, shown, size};
use crate::out::whole_file;
use crate::recording::{FinderOptions, InputOptions, Progress, Shown, show_progress};

/// Pack the files that a recording needs on another machine
#[derive(Args, Debug)]
#[command(after_help = help::end(
    "The archive has the programs, libraries, debug information and kernel symbols in which samples are, in the form of \
     the build-id cache of the perf tool. Unpack it into ~/.debug there, or into any folder for --buildid-dir.\n\n\
     A file is packed only if it has the build id in the recording. Objects without such a file are listed on standard \
     error, one a line with the reason, and are no failure. Not packed are objects without a build id, and code that was \
     written at run time. The same files give the same archive, byte by byte. `perf archive` compresses by bzip2, and this \
     command by gzip; `tar` unpacks both.",
    &[
        ("perfkit archive", "perf.data.tar.gz with the files of perf.data"),
        ("perfkit archive -i FILE -o OUT.tar", "without compression"),
        ("perfkit archive -o - | ssh HOST tar -x -C .debug", "unpacked on another machine"),
        ("perfkit archive --json", "what was packed, and what was not found"),
    ],
    &[
        ("0", "the archive was written, with at least one file"),
        ("1", "failure, with the reason on standard error; a file OUT is not changed"),
        ("2", "wrong arguments"),
    ]
))]
pub(crate) struct Options {
    #[command(flatten)]
    input: InputOptions,
    /// The archive, compressed if its name ends with .gz or .tgz; - is standard output [default: FILE.tar.gz]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Pack all executable objects that were mapped, by default those that samples are in
    #[arg(long)]
    all: bool,
    /// Print one JSON object for each object to standard output
    #[arg(short, long)]
    json: bool,
    #[command(flatten)]
    finder: FinderOptions,
}

/// Packs the files of a recording.
pub(crate) fn run(out: &mut dyn Write, options: &Options) -> io::Result<ExitCode> {
    let output = options.output.clone().unwrap_or_else(|| default_output(options.input.path()));
    let is_standard = output == Path::new("-");
    if is_standard && options.json {
        note("standard output cannot have both the archive and the list: name a file by -o, or omit --json");
        return Ok(ExitCode::from(2));
    }
    if is_standard && io::stdout().is_terminal() {
        return Err(io::Error::other(
            "standard output is a terminal: redirect the archive to a file or a pipe",
        ));
    }
    let mut recording = options.input.open()?;
    // The build ids are in a section at the end of the file. Without this section, no object has a
    // build id.
    let section = recording.reader().feature(Feature::BUILD_ID);
    let ids = section.and_then(|section| section.map_or(Ok(()), |ids| ids.section().data().map(drop)));
    let ids = ids.map_err(|error| io::Error::other(format!("{}: {error}", recording.name())));
    let (about, mut records) = recording.in_time_order();
    let files =
        Files { finder: options.finder.finder(&about), release: about.release.clone().unwrap_or_default() };
    let objects = read(&about, &mut records);
    let objects = objects.into_iter().filter(|object| {
        let is_wanted = object.is_used || options.all && object.mapping.is_executable();
        is_wanted && (object.is_kernel || has_file(object))
    });
    let mut list = List::new(objects);
    let name = shown(&output);
    let written = whole_file::write_private(&output, |out| {
        pack::write(out, is_compressed(&output), |pack| list.pack(&files, pack))
    });
    if options.json {
        list.print(out)?;
    } else {
        list.note_missing();
    }
    // Damage is the error of the command, after the archive has all that could be read.
    let damage = records.finish().and(ids);
    if let Err(error) = written {
        if let Err(damage) = damage {
            note(damage);
        }
        return Err(error);
    }
    note(list.summary(if is_standard { "standard output" } else { &name }));
    if !is_standard && output.is_file() {
        note(format_args!("unpack it by: mkdir -p ~/.debug && tar -xf {name} -C ~/.debug"));
    }
    damage.map(|()| ExitCode::SUCCESS)
}

/// Reads the records, and returns the objects.
pub(crate) fn read(about: &Metadata, records: &mut Records) -> Vec<RecordedObject> {
    let (mut spaces, mut objects) = (AddressSpaces::new(), RecordedObjects::new());
    for (path, id) in &about.build_ids {
        spaces.add_build_id(path, *id);
    }
    show_progress(records, Shown::BeforeOutput);
    while let Some(next) = records.next_decoded(&mut spaces) {
        if let Some((_, record)) = next {
            spaces.update(&record);
            objects.update(&spaces, &record);
        }
    }
    records.end_progress();
    objects.into_objects(&spaces)
}

/// Returns whether the object of a process has a file that could be packed.
fn has_file(object: &RecordedObject) -> bool {
    matches!(object.object().kind(), ObjectKind::File | ObjectKind::Vdso | ObjectKind::Memfd)
}

/// Returns the name of the archive of a recording, in its folder.
fn default_output(input: &Path) -> PathBuf {
    // Removes a trailing slash of a directory's name.
    let input: PathBuf =
        if input == Path::new("-") { "perf.data".into() } else { input.components().collect() };
    let mut output = OsString::from(input);
    output.push(".tar.gz");
    output.into()
}

fn is_compressed(output: &Path) -> bool {
    output.extension().is_some_and(|extension| extension == "gz" || extension == "tgz")
}

/// The objects of the recording, each with its files or the reason why they are missing.
struct List {
    /// Objects by build id, so that the archive is in the order of its links. Objects without a
    /// build id come first.
    objects: BTreeMap<(Option<String>, Vec<u8>), Listed>,
    bytes: u64,
}

struct Listed {
    object: RecordedObject,
    /// The files, or the reason why they are missing; `None` before the search.
    outcome: Option<Result<Vec<Packed>, String>>,
}

impl List {
    fn new(objects: impl Iterator<Item = RecordedObject>) -> Self {
        let key = |object: &RecordedObject| {
            (object.build_id.map(|id| id.to_string()), object.object().path().to_vec())
        };
        let listed = |object| (key(&object), Listed { object, outcome: None });
        Self { objects: objects.map(listed).collect(), bytes: 0 }
    }

    /// Packs the files.
    fn pack(&mut self, files: &Files, pack: &mut Pack<'_>) -> io::Result<()> {
        let mut progress = Progress::new(Shown::BeforeOutput, "packing".to_owned(), None);
        for listed in self.objects.values_mut() {
            listed.outcome = Some(files.pack(&listed.object, pack)?);
            if let Some(progress) = &mut progress {
                progress.set(pack.bytes());
            }
        }
        self.bytes = pack.bytes();
        if self.packed().next().is_some() {
            return Ok(());
        }
        let reason = if self.objects.is_empty() {
            "not written: no sample of the recording is in an object; --all packs all that were mapped"
        } else {
            "not written: no object of the recording was found"
        };
        Err(io::Error::other(reason))
    }

    fn packed(&self) -> impl Iterator<Item = &Packed> {
        self.objects.values().filter_map(|listed| listed.files()).flatten()
    }

    fn missing(&self) -> impl Iterator<Item = (&Listed, &str)> {
        self.objects.values().filter_map(|listed| Some((listed, listed.reason()?)))
    }

    /// Prints a line for each object without files.
    fn note_missing(&self) {
        for (listed, reason) in self.missing() {
            note(format_args!("not found: {}: {reason}", listed.name()));
        }
    }

    fn summary(&self, archive: &str) -> String {
        let (all, missing) = (self.objects.len(), self.missing().count());
        format!("{archive} has {} of {all} objects, {} of files", all - missing, size(self.bytes))
    }

    /// Prints an object a line, in the form of `docs/archive-json.md`.
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        for listed in self.objects.values() {
            let object = &listed.object;
            let file =
                |file: &Packed| json!({ "name": file.name, "source": file.source, "bytes": file.bytes });
            let files: Vec<_> = listed.files().into_iter().flatten().map(file).collect();
            let line = json!({
                "object": String::from_utf8_lossy(object.object().path()),
                "build_id": object.build_id.map(|id| id.to_string()),
                "is_used": object.is_used,
                "files": files,
                "reason": listed.reason(),
            });
            writeln!(out, "{}", message::json(&line))?;
        }
        out.flush()
    }
}

impl Listed {
    fn files(&self) -> Option<&[Packed]> {
        self.outcome.as_ref()?.as_deref().ok()
    }

    /// Returns the reason why the object has no files.
    fn reason(&self) -> Option<&str> {
        Some(self.outcome.as_ref()?.as_ref().err()?)
    }

    fn name(&self) -> String {
        shown(OsStr::from_bytes(self.object.object().path()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archive_is_beside_the_recording() {
        for (input, output) in [
            ("perf.data", "perf.data.tar.gz"),
            ("/tmp/a.data", "/tmp/a.data.tar.gz"),
            ("folder/", "folder.tar.gz"),
            ("-", "perf.data.tar.gz"),
        ] {
            assert_eq!(default_output(Path::new(input)), Path::new(output));
        }
        let compressed =
            ["a.tar.gz", "a.tgz", "a.tar", "-", ".gz"].map(|name| is_compressed(Path::new(name)));
        assert_eq!(compressed, [true, true, false, false, false]);
    }
}
