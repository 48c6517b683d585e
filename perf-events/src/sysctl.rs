//! Settings of the kernel's perf events.

use std::str::FromStr;

use crate::{FileError, System};

impl System {
    /// Returns whether the kernel has perf events: whether `/proc/sys/kernel/perf_event_paranoid`
    /// exists. A seccomp filter may forbid them in spite of that.
    pub fn has_perf_events(&self) -> bool {
        self.path("/proc/sys/kernel/perf_event_paranoid").exists()
    }

    /// Returns `kernel.perf_event_max_stack`: the largest number of frames of a callchain (since Linux
    /// 4.7). It limits [`Attr::with_max_stack`](crate::sys::Attr::with_max_stack).
    ///
    /// # Errors
    ///
    /// The file cannot be read or is no number.
    pub fn max_stack(&self) -> Result<u16, FileError> {
        self.sysctl("perf_event_max_stack")
    }

    /// Returns the number in a file of `/proc/sys/kernel`.
    pub(crate) fn sysctl<T: FromStr>(&self, name: &str) -> Result<T, FileError> {
        let file = format!("/proc/sys/kernel/{name}");
        let text = self.read(&file)?;
        let text = text.trim();
        text.parse().map_err(|_| FileError::malformed(self.path(&file), "a number", text))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn number_of_a_setting_is_read_and_text_is_an_error_with_its_path() {
        let root = std::env::temp_dir().join(format!("perf-events-sysctl-{}", std::process::id()));
        let folder = root.join("proc/sys/kernel");
        fs::create_dir_all(&folder).unwrap();
        let system = System::at(&root);
        assert!(!system.has_perf_events());
        assert!(system.max_stack().unwrap_err().is_not_found());
        fs::write(folder.join("perf_event_max_stack"), "127\n").unwrap();
        fs::write(folder.join("perf_event_paranoid"), "2\n").unwrap();
        assert_eq!((system.max_stack().ok(), system.has_perf_events()), (Some(127), true));
        fs::write(folder.join("perf_event_max_stack"), "many\n").unwrap();
        let error = system.max_stack().unwrap_err().to_string();
        assert!(error.ends_with("perf_event_max_stack: expected a number, found `many`"), "{error}");
        fs::remove_dir_all(&root).unwrap();
    }
}
