use std::fs;
use std::os::unix::fs::MetadataExt;

use perf_abi::NamespaceLink;

use super::Synthesizer;

/// Names of the files of the namespaces, by `NamespaceIndex`.
const NAMES: [&str; 7] = ["net", "uts", "ipc", "pid", "user", "mnt", "cgroup"];

impl Synthesizer {
    /// Appends the namespaces of a thread, if the attr asks for them. As the perf tool does, those that the kernel
    /// lacks, or whose files this user must not read, are 0.
    pub(super) fn namespaces(&mut self, pid: u32, tid: u32) {
        if !self.with_namespaces {
            return;
        }
        let links = NAMES.map(|name| {
            let file = self.host.path(format!("/proc/{pid}/task/{tid}/ns/{name}"));
            let metadata = fs::metadata(file).ok();
            metadata.map_or_else(NamespaceLink::default, |file| NamespaceLink {
                // The same number in the encodings of the kernel and of the system call, because the major number of
                // the file system of namespaces is 0.
                dev: file.dev(),
                inode: file.ino(),
            })
        });
        self.records.namespaces(pid, tid, &links);
    }
}
