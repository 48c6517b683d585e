//! Settings of the kernel, and limits of this process.

use super::{FileError, Privileges, System};

/// The file of the mode of the kernel's lockdown.
pub(crate) const LOCKDOWN: &str = "/sys/kernel/security/lockdown";

/// Returns the file of a sysctl.
pub(crate) fn sysctl_file(name: &str) -> String {
    format!("/proc/sys/{}", name.replace('.', "/"))
}

impl System {
    /// Returns a sysctl, such as `kernel.osrelease`, without the white space around it.
    ///
    /// # Errors
    ///
    /// The file below `/proc/sys` cannot be read.
    pub fn sysctl(&self, name: &str) -> Result<String, FileError> {
        Ok(self.read(sysctl_file(name))?.trim().to_owned())
    }

    /// Returns a sysctl that is a number, `expected` says of what.
    pub(crate) fn sysctl_number(&self, name: &str, expected: &str) -> Result<u32, FileError> {
        self.number(sysctl_file(name), expected)
    }

    /// Returns whether the kernel has perf events: whether `/proc/sys/kernel/perf_event_paranoid`
    /// exists. A seccomp filter may forbid them in spite of that.
    pub fn has_perf_events(&self) -> bool {
        self.path(Privileges::PARANOID).exists()
    }

    /// Returns the mode of the kernel's lockdown: `none`, `integrity` or `confidentiality`.
    ///
    /// # Errors
    ///
    /// The file cannot be read, as on a kernel without lockdown or where securityfs is not mounted, or it has no
    /// mode in brackets.
    pub fn lockdown(&self) -> Result<String, FileError> {
        let text = self.read(LOCKDOWN)?;
        let mode = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        let none = || FileError::malformed(self.path(LOCKDOWN), "a mode in brackets", &text);
        mode.map(|(mode, _)| mode.to_owned()).ok_or_else(none)
    }

    /// Returns `kernel.perf_event_max_stack`: the largest number of frames of a callchain (since Linux
    /// 4.7). It limits [`Attr::with_max_stack`](crate::ring::Attr::with_max_stack).
    ///
    /// # Errors
    ///
    /// The file cannot be read or is no number.
    pub fn max_stack(&self) -> Result<u16, FileError> {
        let name = "kernel.perf_event_max_stack";
        let number = self.sysctl_number(name, "a number of frames")?;
        let found =
            || FileError::malformed(self.path(sysctl_file(name)), "at most 65535 frames", number.to_string());
        u16::try_from(number).map_err(|_| found())
    }
}

const LIMITS: &str = "/proc/self/limits";

/// Returns the soft limit in a row of `/proc/self/limits`, as printed there.
pub(crate) fn soft_limit(system: &System, name: &str) -> Result<String, FileError> {
    let text = system.read(LIMITS)?;
    let row = text.lines().find_map(|line| line.strip_prefix(name));
    let soft = row.and_then(|row| row.split_ascii_whitespace().next());
    soft.map(str::to_owned)
        .ok_or_else(|| FileError::malformed(system.path(LIMITS), format!("a row `{name}`"), "none"))
}

#[cfg(test)]
mod tests {
    use crate::system::tree::Tree;

    #[test]
    fn longest_callchain_is_read_and_text_is_an_error_with_its_path() {
        let tree = Tree::new();
        let system = tree.system();
        assert!(!system.has_perf_events());
        assert!(system.max_stack().unwrap_err().is_not_found());
        let file = "/proc/sys/kernel/perf_event_max_stack";
        tree.file(file, "127\n");
        tree.file("/proc/sys/kernel/perf_event_paranoid", "2\n");
        assert_eq!((system.max_stack().ok(), system.has_perf_events()), (Some(127), true));
        for wrong in ["many\n", "65536\n"] {
            tree.file(file, wrong);
            let error = system.max_stack().unwrap_err().to_string();
            assert!(error.contains("perf_event_max_stack: expected "), "{error}");
        }
    }
}
