//! A separate bpf file system for a test.

use std::ffi::CString;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use perf_bpf::BpfFs;

use super::skip;

/// Runs `test` with a separate bpf file system, on a thread with a separate mount namespace. Skips
/// it if the process may not mount.
#[track_caller]
pub(crate) fn with_bpf_fs(test: impl FnOnce(&BpfFs) + Send + 'static) {
    let thread = std::thread::spawn(move || match Mount::new() {
        Ok(mount) => test(&BpfFs::at(&mount.0)),
        Err(error) => skip(format_args!("mounting a bpf file system: {error}")),
    });
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Runs `test` on a thread with a separate mount namespace, in which the file `target` has this
/// text. Skips it if the process may not mount.
#[track_caller]
pub(crate) fn with_file_text(target: &'static str, text: &str, test: impl FnOnce() + Send + 'static) {
    let path = temporary_path("pk_text");
    std::fs::write(&path, text).unwrap();
    let source = path.clone();
    let thread = std::thread::spawn(move || {
        let mounted =
            separate_mounts().and_then(|()| mount(source.to_str().unwrap(), target, "", libc::MS_BIND));
        match mounted {
            Ok(()) => test(),
            Err(error) => skip(format_args!("mounting over {target}: {error}")),
        }
    });
    let done = thread.join();
    std::fs::remove_file(path).unwrap();
    if let Err(panic) = done {
        std::panic::resume_unwind(panic);
    }
}

/// Hides `/proc` from the calling thread, which has a separate mount namespace.
pub(crate) fn hide_proc() -> io::Result<()> {
    mount("none", "/proc", "tmpfs", 0)
}

/// Returns a path that this process has not returned before.
fn temporary_path(name: &str) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("{name}_{}_{number}", std::process::id()))
}

/// Moves the calling thread into a separate mount namespace.
fn separate_mounts() -> io::Result<()> {
    // SAFETY: numbers only; the namespace of this thread changes.
    check(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
    mount("none", "/", "", libc::MS_REC | libc::MS_PRIVATE)
}

/// Returns the names of the pins in the root, in ascending order.
pub(crate) fn pin_names(fs: &BpfFs) -> Vec<String> {
    let names = std::fs::read_dir(fs.root()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| !name.contains('.')); // the kernel's own: maps.debug and progs.debug
    names.sort_unstable();
    names
}

/// A mounted bpf file system and its directory, both removed on drop.
struct Mount(PathBuf);

impl Mount {
    fn new() -> io::Result<Self> {
        let path = temporary_path("pk_bpf_fs");
        separate_mounts()?;
        std::fs::create_dir(&path)?;
        let mounted = mount("bpf", path.to_str().unwrap(), "bpf", 0);
        let mount = Self(path);
        mounted.map(|()| mount)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let path = CString::new(self.0.to_str().unwrap()).unwrap();
        // SAFETY: the path is a live C string. It fails if nothing is mounted there.
        unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) };
        let _ = std::fs::remove_dir(&self.0);
    }
}

fn mount(source: &str, target: &str, kind: &str, flags: libc::c_ulong) -> io::Result<()> {
    let [source, target, kind] = [source, target, kind].map(|text| CString::new(text).unwrap());
    // SAFETY: the three are live C strings; no data is passed.
    check(unsafe { libc::mount(source.as_ptr(), target.as_ptr(), kind.as_ptr(), flags, std::ptr::null()) })
}

fn check(found: libc::c_int) -> io::Result<()> {
    if found == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
