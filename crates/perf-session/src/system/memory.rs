//! Texts in the memory of other processes, and the paths of their descriptors.

use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use super::{FileError, System, Task};

/// The memory of a process, as long as it runs the program that it runs now: reads fail after it has
/// called `execve` or exited, and never read the memory of another program.
#[derive(Debug)]
pub struct TaskMemory(File);

/// Bytes of a read. Reads do not cross pages, which may be unmapped, and all page sizes are multiples.
const PAGE: u64 = 4096;

impl TaskMemory {
    /// Returns the bytes from an address to the next 0, at most `limit`, and whether the 0 was found.
    /// `None` if the memory cannot be read.
    ///
    /// The process runs meanwhile, so the bytes may be newer than what led to the address.
    pub fn text(&self, address: u64, limit: usize) -> Option<(Vec<u8>, bool)> {
        let mut text = Vec::new();
        while text.len() < limit {
            let at = address.checked_add(text.len() as u64)?;
            let in_page = usize::try_from(PAGE - at % PAGE).ok()?;
            let mut part = vec![0; in_page.min(limit - text.len())];
            let count = self.0.read_at(&mut part, at).ok().filter(|count| *count > 0)?;
            part.truncate(count);
            if let Some(end) = part.iter().position(|byte| *byte == 0) {
                part.truncate(end);
                text.extend(part);
                return Some((text, true));
            }
            text.extend(part);
        }
        Some((text, false))
    }
}

impl Task<'_> {
    /// Returns the memory of the process.
    ///
    /// # Errors
    ///
    /// The file `mem` cannot be opened: this user may not trace the process, or it has exited.
    pub fn memory(&self) -> Result<TaskMemory, FileError> {
        let path = self.path("mem");
        File::open(&path).map(TaskMemory).map_err(|error| FileError::io(path, error))
    }

    /// Returns what a file descriptor of the process leads to: a path, or a text such as
    /// `socket:[1234]`.
    ///
    /// # Errors
    ///
    /// The link `fd/FD` cannot be read; [`FileError::is_not_found`] if the process or the descriptor
    /// does not exist.
    pub fn descriptor(&self, fd: u32) -> Result<PathBuf, FileError> {
        let path = self.path(&format!("fd/{fd}"));
        fs::read_link(&path).map_err(|error| FileError::io(path, error))
    }
}

/// Texts at addresses that system calls got, read from the processes after the calls began.
///
/// A text is a guess: the process may have written something else to the address meanwhile, which
/// nobody can see. So mark it where it is shown. Texts of a program that the process has replaced are
/// not read, if [`forget`](Self::forget) is called when it did.
#[derive(Debug)]
pub struct LateTexts {
    system: System,
    /// The memory of each process, `None` if it cannot be read.
    memory: HashMap<u32, Option<TaskMemory>>,
}

impl LateTexts {
    /// Maximum length of a text in bytes.
    pub const LIMIT: usize = 256;

    /// Maximum number of processes whose memory is open. With more, all are closed.
    const MAX_PROCESSES: usize = 128;

    /// Returns a reader of the texts of a system.
    pub fn new(system: System) -> Self {
        Self { system, memory: HashMap::new() }
    }

    /// Returns the text at an address, and whether it is whole.
    ///
    /// `None` if the process can no longer be read, or if what is there does not look like a text:
    /// if it is empty, not UTF-8, or has controls. So a path of such bytes is not read, either.
    pub fn read(&mut self, pid: u32, address: u64) -> Option<(String, bool)> {
        if self.memory.len() >= Self::MAX_PROCESSES && !self.memory.contains_key(&pid) {
            self.memory.clear();
        }
        let open = || self.system.task(pid).memory().ok();
        let memory = self.memory.entry(pid).or_insert_with(open).as_ref()?;
        let (mut bytes, is_whole) = memory.text(address, Self::LIMIT)?;
        if !is_whole {
            // The last character may be cut.
            let valid = std::str::from_utf8(&bytes).map_or_else(|error| error.valid_up_to(), str::len);
            if bytes.len() - valid < 4 {
                bytes.truncate(valid);
            }
        }
        let text = String::from_utf8(bytes).ok()?;
        let is_text = !text.is_empty() && !text.chars().any(char::is_control);
        is_text.then_some((text, is_whole))
    }

    /// Notes that a process has exited or replaced its program.
    pub fn forget(&mut self, pid: u32) {
        self.memory.remove(&pid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_this_process_is_read_up_to_its_end_and_limit() {
        let mut texts = LateTexts::new(System::new());
        let own = std::process::id();
        let long = "x".repeat(LateTexts::LIMIT - 1) + "\u{e4}" + "y\0";
        for (bytes, expected) in [
            ("/etc/passwd\0rest", Some(("/etc/passwd".to_owned(), true))),
            ("\0", None),
            ("a\nb\0", None),
            (&*long, Some(("x".repeat(LateTexts::LIMIT - 1), false))),
        ] {
            assert_eq!(texts.read(own, bytes.as_ptr() as u64), expected, "{bytes:?}");
        }
        assert_eq!(texts.read(own, 8), None, "the first page is not mapped");
        assert_eq!(texts.read(own, u64::MAX), None);
        assert_eq!(texts.read(u32::MAX, 8), None, "there is no such process");
    }

    #[test]
    fn descriptor_leads_to_its_file() {
        use std::os::fd::AsRawFd as _;
        let file = File::open("/dev/null").unwrap();
        let task = System::new();
        let task = task.this_process();
        let fd = u32::try_from(file.as_raw_fd()).unwrap();
        assert_eq!(task.descriptor(fd).unwrap(), PathBuf::from("/dev/null"));
        assert!(task.descriptor(u32::MAX).unwrap_err().is_not_found());
    }
}
