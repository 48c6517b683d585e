//! A process as far as it decides whose names are shown.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::System;

/// The facts that the kernel has of a process.
pub(crate) struct Process {
    /// Its user. `None` if it has ended.
    user: Option<u32>,
    /// Its id in its own namespace.
    pub(crate) own_id: Option<u32>,
    /// The earliest time at which it can have begun.
    pub(crate) began: Option<SystemTime>,
}

impl System {
    /// Reads the facts of a process, which are unknown if it has ended.
    pub(crate) fn process(&self, pid: u32) -> Process {
        // The name may be any bytes.
        let read = |name: &str| {
            let bytes = fs::read(self.of_process(pid, name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let status = read("status");
        let field = |name| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        let number = |word: Option<&str>| word.and_then(|word| word.parse().ok());
        let booted = fs::read_to_string(self.root.join("proc/stat")).ok().and_then(|stat| {
            let seconds = stat.lines().find_map(|line| line.strip_prefix("btime "))?.parse().ok()?;
            UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
        });
        // Field 22, in 1/100 s since the boot. The name before the third one may have blanks and
        // parentheses.
        let ticks =
            read("stat").rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(19)?.parse().ok());
        Process {
            user: number(field("Uid:").split_whitespace().next()),
            own_id: number(field("NSpid:").split_whitespace().next_back()),
            began: booted
                .and_then(|booted| booted.checked_add(Duration::from_millis(ticks.unwrap_or(0_u64) * 10))),
        }
    }
}

impl Process {
    /// Returns whether the process has not ended.
    pub(crate) fn is_alive(&self) -> bool {
        self.user.is_some()
    }

    /// Returns true if the owner of a file may provide names for the process: the user of the
    /// process, this user, or root.
    pub(crate) fn is_author_trusted(&self, metadata: &Metadata) -> bool {
        let owner = metadata.uid();
        owner == 0 || owner == rustix::process::geteuid().as_raw() || Some(owner) == self.user
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_a_process_are_read_whatever_its_name_is() {
        let root = std::env::temp_dir().join(format!("perf-symbols-{}-process", std::process::id()));
        let write = |path: &str, text: &[u8]| {
            let path = root.join("proc").join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        write("stat", b"cpu 1\nbtime 1000\n");
        write("7/status", b"Name:\t\xff\nUid:\t65533\t0\t0\t0\nNSpid:\t7\t1\n");
        write("7/stat", b"7 (a \xff) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 250 20\n");
        let [process, ended] = [7, 8].map(|pid| System::at(&root).process(pid));
        let metadata = root.join("proc/stat").metadata().expect("a file");
        let _ = fs::remove_dir_all(&root);
        assert_eq!((process.user, process.own_id), (Some(65533), Some(1)));
        assert_eq!(process.began, UNIX_EPOCH.checked_add(Duration::from_millis(1_002_500)));
        assert!(process.is_alive() && !ended.is_alive());
        assert!(process.is_author_trusted(&metadata), "this user is");
    }
}
