//! Texts of outputs, in `tests/snapshots`.

use std::fs;
use std::path::Path;

/// Compares an output with the snapshot `NAME.txt` of a folder, or writes it.
#[track_caller]
pub(crate) fn expect_snapshot(folder: &str, name: &str, found: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(folder);
    let snapshot = folder.join(format!("{name}.txt"));
    if std::env::var_os("PERFKIT_BLESS").is_some() {
        fs::create_dir_all(&folder).unwrap();
        fs::write(&snapshot, found).unwrap();
    }
    let expected = fs::read_to_string(&snapshot).unwrap_or_default();
    assert_eq!(found, expected, "{name}: `PERFKIT_BLESS=1 cargo test -p perfkit` writes the snapshots anew");
}
