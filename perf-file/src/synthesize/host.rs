use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use zerocopy::FromBytes;

/// Bytes of a file that are read at most. Files of `/proc` and `/sys` that are read whole are smaller.
const MAX_FILE: u64 = 16 << 20;

/// Bytes that the first read of a file asks for at least.
const FIRST_READ: usize = 8 << 10;

/// The machine that is recorded: a root below which `/proc` and `/sys` are found.
///
/// Programs use [`Host::new`]. Tests build a tree with the files of another machine and use
/// [`Host::at`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    root: PathBuf,
}

impl Default for Host {
    fn default() -> Self {
        Self::new()
    }
}

impl Host {
    /// Returns the running machine.
    #[must_use]
    pub fn new() -> Self {
        Self::at("/")
    }

    /// Returns a machine whose files are below `root`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the path of a file that is at `absolute` on a running machine.
    pub fn path(&self, absolute: impl AsRef<Path>) -> PathBuf {
        let absolute = absolute.as_ref();
        self.root.join(absolute.strip_prefix("/").unwrap_or(absolute))
    }

    /// Returns the content of a file, at most 16 MiB of it.
    pub(super) fn read(&self, absolute: impl AsRef<Path>) -> io::Result<Vec<u8>> {
        // With capacity, because the first read of some files of tracefs returns all that there ever is.
        let mut bytes = Vec::with_capacity(FIRST_READ);
        File::open(self.path(absolute))?.take(MAX_FILE).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Returns the text of a file without white space around it; `None` if there is no such file or
    /// it is not UTF-8.
    pub(super) fn text(&self, absolute: impl AsRef<Path>) -> Option<String> {
        let text = String::from_utf8(self.read(absolute).ok()?).ok()?;
        Some(text.trim().to_owned())
    }

    /// Returns the number in a file.
    pub(super) fn number(&self, absolute: impl AsRef<Path>) -> Option<u64> {
        self.text(absolute)?.parse().ok()
    }

    /// Returns the size of a page in bytes: the entry `AT_PAGESZ` of the auxiliary vector.
    pub(super) fn page_size(&self) -> u32 {
        const AT_PAGESZ: usize = 6;
        let vector = self.read("/proc/self/auxv").unwrap_or_default();
        let mut entries = vector.chunks_exact(2 * size_of::<usize>());
        let page_size = entries.find_map(|entry| {
            let [key, value] = <[usize; 2]>::read_from_bytes(entry).ok()?;
            (key == AT_PAGESZ).then_some(value as u32)
        });
        // The kernel always passes it to a program.
        page_size.unwrap_or(4096)
    }

    /// Returns the names of the entries of a folder, none if it cannot be read.
    pub(super) fn entries(&self, folder: &str) -> impl Iterator<Item = String> + use<> {
        let entries = fs::read_dir(self.path(folder)).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok())
    }

    /// Returns the numbers after a prefix in the names of a folder, ascending: `cpu0`, `cpu1`, ...
    pub(super) fn numbered(&self, folder: &str, prefix: &str) -> Vec<u32> {
        let number = |name: String| name.strip_prefix(prefix)?.parse().ok();
        let mut numbers: Vec<u32> = self.entries(folder).filter_map(number).collect();
        numbers.sort_unstable();
        numbers
    }
}

/// Returns the path of these bytes.
pub(super) fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
