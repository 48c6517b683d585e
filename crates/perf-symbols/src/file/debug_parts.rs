//! Finds parts of debug information in other files: supplementary files and split debug
//! information.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::elf::ObjectFile;
use super::finder::FileFinder;

impl FileFinder {
    /// Returns the supplementary file (`dwz -m`), which several debug files share.
    pub(crate) fn supplementary_file(&self, file: &ObjectFile) -> Option<ObjectFile> {
        let link = file.alt_link()?;
        let path = Path::new(OsStr::from_bytes(&link.path));
        // An absolute path is relative to symfs, too.
        let path = match (&self.symfs, path.strip_prefix("/")) {
            (Some(symfs), Ok(relative)) => symfs.join(relative),
            _ => file.path().parent()?.join(path),
        };
        let by_path = file.open_beside(path).ok().filter(|found| found.build_id() == Some(link.build_id));
        by_path.or_else(|| self.debug_file_by_id(link.build_id))
    }

    /// Opens the candidates for the split debug information of a compilation unit: at its recorded
    /// path, and next to the program. The caller compares the id.
    pub(crate) fn split_files<'a>(
        &'a self,
        program: &'a ObjectFile,
        folder: &[u8],
        name: &[u8],
    ) -> impl Iterator<Item = ObjectFile> + use<'a> {
        let name = Path::new(OsStr::from_bytes(name)).to_owned();
        let path = Path::new(OsStr::from_bytes(folder)).join(&name);
        let path = match (&self.symfs, path.strip_prefix("/")) {
            (Some(symfs), Ok(relative)) => symfs.join(relative),
            _ => path,
        };
        let beside = program.path().parent().zip(name.file_name()).map(|(folder, name)| folder.join(name));
        // Skip a relative path: it is not relative to the working directory of this process.
        let absolute = Some(path).filter(|path| path.is_absolute());
        absolute.into_iter().chain(beside).filter_map(|path| program.open_beside(path).ok())
    }
}

impl ObjectFile {
    /// Opens the package of the split debug information of a program: `/bin/a.dwp` for `/bin/a`.
    pub(crate) fn package(&self) -> Option<Self> {
        let mut path = self.path().to_owned().into_os_string();
        path.push(".dwp");
        self.open_beside(path.into()).ok()
    }
}
