//! The functions in the kernel's text by their offset from its start. They are the same in each
//! boot of a build, so that a copy on disk replaces the list that the kernel generates.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, fstat, mkdirat, open, openat, renameat, unlinkat};
use rustix::process::geteuid;

use super::kallsyms::{Kallsyms, KernelFunction};
use crate::BuildId;

/// Name of the copy. One is enough: the copy of another build is replaced.
const NAME: &str = "kernel-functions";
/// The first bytes of a copy: the format, whose number changes with it.
const MAGIC: &[u8; 16] = b"kernel-functions";
/// Length in bytes of a build id in the header, filled with zeros.
const ID: usize = 20;
/// Magic, build id, length of the text, number of functions.
const HEADER: usize = MAGIC.len() + ID + 4 + 4;
/// Maximum length of a copy in bytes. Linux with all drivers built in has some 6 MB.
const MAX_LEN: u64 = 64 << 20;

/// The functions from `_text` to `_etext`: one for each address, the one that [`Kallsyms::find`]
/// returns. Contains offsets and names, but no address of this boot.
pub(super) struct KernelText {
    /// The header, then for each function its offset, the end of each name, and the names; numbers
    /// have 4 bytes, least significant first.
    bytes: Vec<u8>,
    count: usize,
}

impl KernelText {
    /// Copies the functions from a list. Returns `None` for a list without both ends of the text,
    /// or with functions of modules in between.
    pub(super) fn new(list: &Kallsyms, id: BuildId) -> Option<Self> {
        let (start, end) = (list.address_of(b"_text")?, list.address_of(b"_etext")?);
        let len = u32::try_from(end.checked_sub(start)?).ok()?;
        let (mut offsets, mut ends, mut names) = (Vec::new(), Vec::new(), Vec::new());
        let mut last = None;
        for function in list.iter().filter(|function| (start..end).contains(&function.address)) {
            if function.module.is_some() {
                return None;
            }
            // The first one of an address is preferred.
            if last.replace(function.address) == Some(function.address) {
                continue;
            }
            names.extend_from_slice(function.name);
            offsets.extend_from_slice(&u32::try_from(function.address - start).ok()?.to_le_bytes());
            ends.extend_from_slice(&u32::try_from(names.len()).ok()?.to_le_bytes());
        }
        let count = u32::try_from(offsets.len() / 4).ok()?.to_le_bytes();
        let bytes = [&MAGIC[..], &padded(id)?, &len.to_le_bytes(), &count, &offsets, &ends, &names].concat();
        Self::parse(bytes, id)
    }

    /// Checks a copy. Returns `None` for one of another build, and for damaged ones.
    fn parse(bytes: Vec<u8>, id: BuildId) -> Option<Self> {
        let (magic, rest) = bytes.split_at_checked(MAGIC.len())?;
        let (found, _) = rest.split_at_checked(ID)?;
        if magic != MAGIC || found != padded(id)? {
            return None;
        }
        let count = number(&bytes, HEADER - 4)? as usize;
        let text = Self { bytes, count };
        let is_ascending = |number: fn(&Self, usize) -> Option<u32>| {
            (1..count).all(|index| number(&text, index - 1) <= number(&text, index))
        };
        // The last end is the length of the names, so that each name is inside.
        let names = text.bytes.len().checked_sub(HEADER + count.checked_mul(8)?)?;
        let end = count.checked_sub(1).and_then(|last| text.name_end(last))?;
        (end as usize == names && is_ascending(Self::offset) && is_ascending(Self::name_end)).then_some(text)
    }

    /// Reads the copy in a folder. Returns `None` if it is missing, of another build, or not this
    /// user's own.
    pub(super) fn read(folder: &Path, id: BuildId) -> Option<Self> {
        let folder = own_folder(folder, false).ok()?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(own(openat(folder, NAME, flags, Mode::empty()).ok()?).ok()?);
        let metadata = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(MAX_LEN)).ok()? + 1);
        file.take(MAX_LEN).read_to_end(&mut bytes).ok()?;
        Self::parse(bytes, id)
    }

    /// Writes the copy into a folder, whole or not at all.
    ///
    /// # Errors
    ///
    /// Returns the error of a system call, or
    /// [`PermissionDenied`](io::ErrorKind::PermissionDenied) if another user can write to the
    /// folder.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        let folder = own_folder(folder, true)?;
        let name = format!("{NAME}.{}", std::process::id());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&folder, &name, flags, Mode::RUSR | Mode::WUSR)?;
        let write = || {
            let mut file = File::from(file);
            file.write_all(&self.bytes)?;
            // After a crash of the machine, a renamed file without its content would have wrong
            // names.
            file.sync_all()?;
            Ok(renameat(&folder, &name, &folder, NAME)?)
        };
        write().inspect_err(|_| {
            let _ = unlinkat(&folder, &name, AtFlags::empty());
        })
    }

    /// Returns the function at an address if the text, which begins at `start`, has the address.
    pub(super) fn find(&self, start: u64, address: u64) -> Option<KernelFunction<'_>> {
        let at = u32::try_from(address.checked_sub(start)?).ok()?;
        if at >= number(&self.bytes, HEADER - 8)? {
            return None;
        }
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low.midpoint(high);
            if self.offset(middle)? <= at { low = middle + 1 } else { high = middle }
        }
        let index = low.checked_sub(1)?;
        let name_start = index.checked_sub(1).map_or(Some(0), |before| self.name_end(before))?;
        let names = self.bytes.get(HEADER + self.count * 8..)?;
        Some(KernelFunction {
            address: start + u64::from(self.offset(index)?),
            name: names.get(name_start as usize..self.name_end(index)? as usize)?,
            module: None,
        })
    }

    fn offset(&self, index: usize) -> Option<u32> {
        number(&self.bytes, HEADER + index * 4)
    }

    fn name_end(&self, index: usize) -> Option<u32> {
        number(&self.bytes, HEADER + (self.count + index) * 4)
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn padded(id: BuildId) -> Option<[u8; ID]> {
    let mut padded = [0; ID];
    padded.get_mut(..id.as_bytes().len())?.copy_from_slice(id.as_bytes());
    Some(padded)
}

/// Opens a folder that only this user can change, and whose own folder is so, too. A program of
/// root that runs with the `HOME` of somebody else must write nothing where that user's links lead.
fn own_folder(path: &Path, is_to_make: bool) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let parent = own(open(parent, flags, Mode::empty())?)?;
    if is_to_make {
        match mkdirat(&parent, name, Mode::RWXU) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    own(openat(parent, name, flags, Mode::empty())?)
}

/// Returns the descriptor if this user owns its file and no other user can write to it.
fn own(file: OwnedFd) -> io::Result<OwnedFd> {
    let found = fstat(file.as_fd())?;
    let by_others = Mode::WGRP | Mode::WOTH;
    if found.st_uid == geteuid().as_raw() && !Mode::from_raw_mode(found.st_mode).intersects(by_others) {
        Ok(file)
    } else {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("perf-symbols-text-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).expect("a folder");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("a mode");
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn id(byte: u8) -> BuildId {
        BuildId::new(&[byte; 20]).expect("a build id")
    }

    fn list(text: &str) -> Kallsyms {
        Kallsyms::parse(text.into()).expect("symbols")
    }

    const LIST: &str =
        "1000 T _text\n1000 T _stext\n1010 t inner\n2000 T _etext\n3000 t init\n4000 t f\t[m]\n";

    #[test]
    fn copy_has_the_functions_of_the_text_wherever_it_is() {
        let text = KernelText::new(&list(LIST), id(1)).expect("a text");
        let name = |start, address| text.find(start, address).map(|found| (found.address, found.name));
        assert_eq!(name(0x1000, 0x1fff), Some((0x1010, &b"inner"[..])));
        assert_eq!(name(0x7000, 0x700f), Some((0x7000, &b"_stext"[..])));
        // The list is needed for the other ones.
        assert_eq!([name(0x1000, 0x2000), name(0x1000, 0xfff), name(0x1000, u64::MAX)], [None; 3]);
        for without in ["_text", "_etext"] {
            assert!(KernelText::new(&list(&LIST.replace(without, "x")), id(1)).is_none(), "{without}");
        }
        assert!(KernelText::new(&list(&LIST.replace("inner", "inner\t[m]")), id(1)).is_none());
    }

    #[test]
    fn copy_is_read_again_for_the_same_build_only() {
        let folder = Folder::new("build");
        let cache = folder.0.join("cache");
        assert!(KernelText::read(&cache, id(1)).is_none());
        for byte in [1, 2] {
            KernelText::new(&list(LIST), id(byte)).expect("a text").write(&cache).expect("a copy");
            assert!(KernelText::read(&cache, id(byte)).is_some());
            assert!(KernelText::read(&cache, id(3 - byte)).is_none());
        }
        let names: Vec<_> =
            fs::read_dir(&cache).expect("files").map(|entry| entry.expect("it").file_name()).collect();
        assert_eq!(names, [NAME]);
    }

    #[test]
    fn files_and_folders_that_others_can_change_are_not_used() {
        let folder = Folder::new("others");
        let cache = folder.0.join("cache");
        let text = KernelText::new(&list(LIST), id(1)).expect("a text");
        text.write(&cache).expect("a copy");
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
        };
        for (path, usual) in [(cache.join(NAME), 0o600), (cache.clone(), 0o700), (folder.0.clone(), 0o700)] {
            mode(&path, usual | 0o022);
            assert!(KernelText::read(&cache, id(1)).is_none(), "{}", path.display());
            mode(&path, usual);
            assert!(KernelText::read(&cache, id(1)).is_some(), "{}", path.display());
        }
        mode(&folder.0, 0o777);
        assert_eq!(text.write(&cache).map_err(|error| error.kind()), Err(io::ErrorKind::PermissionDenied));
        mode(&folder.0, 0o700);
        symlink(&cache, folder.0.join("link")).expect("a link");
        assert!(text.write(&folder.0.join("link")).is_err());
        assert!(KernelText::read(&folder.0.join("link"), id(1)).is_none());
        fs::rename(cache.join(NAME), cache.join("other")).expect("another name");
        symlink("other", cache.join(NAME)).expect("a link");
        assert!(KernelText::read(&cache, id(1)).is_none());
        // A file that another user made, which only root can try.
        fs::rename(cache.join("other"), cache.join(NAME)).expect("the name");
        if std::os::unix::fs::chown(cache.join(NAME), Some(65534), None).is_ok() {
            assert!(KernelText::read(&cache, id(1)).is_none());
        }
    }

    proptest! {
        #[test]
        fn functions_are_those_of_the_list(
            lines in prop::collection::vec((0_u64..64, prop::sample::select(&b"tTdW"[..])), 0..40),
            moved in 0_u64..1000,
            address in 0_u64..80,
        ) {
            let mut text = "1000 T _text\n1040 T _etext\n".to_owned();
            for (index, (offset, kind)) in lines.iter().enumerate() {
                writeln!(text, "{:x} {} f{index}", 0x1000 + offset, char::from(*kind)).expect("a string");
            }
            let list = list(&text);
            let copy = KernelText::new(&list, id(1)).expect("a text");
            let found = copy.find(0x1000 + moved, 0x1000 + moved + address);
            let expected = list.find(0x1000 + address).filter(|_| address < 0x40);
            prop_assert_eq!(
                found.map(|found| (found.address - moved, found.name)),
                expected.map(|found| (found.address, found.name))
            );
        }

        #[test]
        fn damaged_copies_are_refused_or_name_something(
            at in 0_usize..140,
            byte in any::<u8>(),
            len in 0_usize..140,
        ) {
            let mut bytes = KernelText::new(&list(LIST), id(1)).expect("a text").bytes;
            if let Some(found) = bytes.get_mut(at) {
                *found = byte;
            }
            bytes.truncate(len);
            if let Some(text) = KernelText::parse(bytes, id(1)) {
                for address in 0x1000..0x1100 {
                    let _ = text.find(0x1000, address);
                }
            }
        }
    }
}
