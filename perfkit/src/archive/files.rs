//! Finds the files of an object, and packs them.

use std::io;
use std::path::Path;

use perf_symbols::{
    BuildId, FileFinder, FoundFile, Kallsyms, NotFound, ObjectFile, ObjectKind, RecordedObject,
    kernel_build_id,
};

use super::name::{folder, is_kernel_itself, link, target};
use super::pack::{Pack, is_too_large};
use crate::out::message::shown;

/// A file in the archive.
#[derive(Debug)]
pub(super) struct Packed {
    /// Name in the archive.
    pub(super) name: String,
    /// Path of the file, or the name of its source in memory.
    pub(super) source: String,
    pub(super) bytes: u64,
}

/// The sources of files of one recording.
pub(super) struct Files {
    pub(super) finder: FileFinder,
    /// The release of the recorded kernel.
    pub(super) release: String,
}

/// A file that was found, and the name that the build-id cache gives to it.
struct Part<'a> {
    name: &'static str,
    content: Content<'a>,
}

enum Content<'a> {
    File(&'a ObjectFile),
    Kallsyms(&'a Kallsyms, String),
}

impl Files {
    /// Packs the files of an object. Returns the files, or the reason why none was found.
    ///
    /// # Errors
    ///
    /// The archive cannot be written, or a file cannot be read to its end.
    pub(super) fn pack(
        &self,
        object: &RecordedObject,
        pack: &mut Pack<'_>,
    ) -> io::Result<Result<Vec<Packed>, String>> {
        let Some((id, link)) = object.build_id.and_then(|id| Some((id, link(id)?))) else {
            return Ok(Err(NO_ID.to_owned()));
        };
        let folder = folder(object, id);
        let mut add = |parts: &[Part<'_>]| {
            pack.link(&link, &target(&folder))?;
            parts.iter().map(|part| part.pack(&folder, pack)).collect::<io::Result<Vec<_>>>()
        };
        if is_kernel_itself(object) {
            let kallsyms = self.kallsyms(id);
            let kernel = self.finder.find_kernel(&self.release, id);
            let mut parts = kernel.as_ref().map_or_else(|_| Vec::new(), |found| parts_of(found, "elf"));
            match kallsyms {
                Err(reason) if parts.is_empty() => return Ok(Err(reason)),
                Err(_) => return add(&parts).map(Ok),
                Ok((list, source)) => {
                    parts.push(Part { name: "kallsyms", content: Content::Kallsyms(&list, source) });
                    return add(&parts).map(Ok);
                }
            }
        }
        if object.is_kernel && object.object().kind() != ObjectKind::File {
            return Ok(Err(NO_MODULE.to_owned()));
        }
        let found = match self.finder.find(object.pid, &object.mapping, Some(id)) {
            Ok(found) => found,
            Err(error) => return Ok(Err(reason(&error))),
        };
        let name = if object.object().kind() == ObjectKind::Vdso { "vdso" } else { "elf" };
        let parts = parts_of(&found, name);
        if parts.is_empty() { Ok(Err(TOO_LARGE.to_owned())) } else { add(&parts).map(Ok) }
    }

    /// Returns the symbols of the recorded kernel and the name of their source, or the reason why
    /// they are missing.
    fn kallsyms(&self, id: BuildId) -> Result<(Kallsyms, String), String> {
        let (list, source) = if kernel_build_id() == Some(id) {
            (Kallsyms::of_this_kernel(), "/proc/kallsyms".to_owned())
        } else {
            let path = self.finder.kallsyms(id).ok_or(OTHER_KERNEL)?;
            (Kallsyms::read(&path), shown(&path))
        };
        list.map(|list| (list, source)).map_err(|error| shown(error.to_string()))
    }
}

const NO_ID: &str =
    "the recording has no build id of it; `perfkit record` and `perf record --buildid-all` write all";
const NO_MODULE: &str = "a kernel module of which the recording does not name the file";
const OTHER_KERNEL: &str = "recorded with another kernel than the one that runs; archive on the machine of the recording, or give its kallsyms by --buildid-dir";
const TOO_LARGE: &str = "the file has more than 16 GiB";

/// Returns the files of an object with their names in the cache: the object itself as `name`, and
/// its debug information.
fn parts_of<'a>(found: &'a FoundFile, name: &'static str) -> Vec<Part<'a>> {
    let is_debug_only = !found.object().has_code();
    let object =
        Part { name: if is_debug_only { "debug" } else { name }, content: Content::File(found.object()) };
    let debug = found.debug_file().map(|file| Part { name: "debug", content: Content::File(file) });
    let mut parts: Vec<_> = debug.filter(|_| !is_debug_only).into_iter().chain([object]).collect();
    parts.retain(|part| !matches!(part.content, Content::File(file) if is_too_large(file)));
    parts
}

impl Part<'_> {
    fn pack(&self, folder: &Path, pack: &mut Pack<'_>) -> io::Result<Packed> {
        let name = folder.join(self.name);
        let (source, bytes) = match &self.content {
            Content::File(file) => (shown(file.path()), pack.object(&name, file)?),
            Content::Kallsyms(list, source) => (source.clone(), pack.text(&name, list.text())?),
        };
        Ok(Packed { name: shown(&name), source, bytes })
    }
}

/// Returns the reason as one line, without the path of the object before it.
fn reason(error: &NotFound) -> String {
    let text = error.to_string();
    let path = format!("{}: ", String::from_utf8_lossy(error.object().path()));
    shown(text.strip_prefix(&path).unwrap_or(&text))
}
