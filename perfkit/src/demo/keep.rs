//! `--keep`: the files that a run leaves.

use std::io::{self, Write};
use std::path::Path;

use perf_profile::Profile;

use crate::out::whole_file;

/// Help of the option.
#[cfg(feature = "flamegraph")]
pub(crate) const HELP: &str =
    "Leave the recording in demo.perf.data and its flame graph in demo.svg, in the current folder";
#[cfg(not(feature = "flamegraph"))]
pub(crate) const HELP: &str = "Leave the recording in demo.perf.data, in the current folder";

/// The recording, in the current folder.
const RECORDING: &str = "demo.perf.data";

/// The picture, in the current folder.
#[cfg(feature = "flamegraph")]
const PICTURE: &str = "demo.svg";

/// Writes the files, and prints their names and how to look at them.
pub(crate) fn write(out: &mut dyn Write, recording: &[u8], profile: &Profile) -> io::Result<()> {
    writeln!(out)?;
    file(out, RECORDING, |file| file.write_all(recording))?;
    writeln!(out, "  try      perfkit report -i {RECORDING}")?;
    picture(out, profile)
}

#[cfg(feature = "flamegraph")]
fn picture(out: &mut dyn Write, profile: &Profile) -> io::Result<()> {
    match crate::flamegraph::of_profile(profile, "perfkit demo")? {
        Some(picture) => {
            file(out, PICTURE, |file| picture.write(file))?;
            writeln!(out, "  try      open {PICTURE} in a browser")
        }
        None => writeln!(out, "Without  {PICTURE}: there are no samples to draw"),
    }
}

#[cfg(not(feature = "flamegraph"))]
#[expect(clippy::unnecessary_wraps, reason = "as with the feature")]
fn picture(_: &mut dyn Write, _: &Profile) -> io::Result<()> {
    Ok(())
}

/// Writes a file, and prints that it is written.
fn file(
    out: &mut dyn Write,
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let path = Path::new(name);
    let replaced = if path.exists() { ", in place of the file that was there" } else { "" };
    whole_file::write_private(path, write)?;
    writeln!(out, "Written  {name}{replaced}")
}
