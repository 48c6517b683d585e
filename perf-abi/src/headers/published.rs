//! Bindings that others generated from the kernel's headers by bindgen, read as text from their
//! packages.
//!
//! Reading the text instead of compiling the package needs no C library and works for every target.
//! The packages are dev-dependencies for no target, so cargo downloads them but never builds them.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    string::{String, ToString},
    sync::OnceLock,
};

/// The constants and bit fields of one binding.
pub(super) struct Bindings {
    /// Value of each constant by its name.
    pub(super) constants: BTreeMap<String, i128>,
    /// First bit and width of each bit field, by the struct, which includes the nested ones, and
    /// its name.
    fields: BTreeMap<(String, String), (u32, u32)>,
}

impl Bindings {
    /// Reads the bindings of the newest uapi header, which libbpf bundles.
    pub(super) fn newest() -> Self {
        Self::read("libbpf-sys", "src/bindings.rs")
    }

    /// Reads the bindings of an older uapi header, which include `hw_breakpoint.h` and
    /// `perf_regs.h`.
    pub(super) fn older(arch: &str) -> Self {
        Self::read("perf-event-open-sys2", &std::format!("src/bindings_{arch}.rs"))
    }

    fn read(package: &str, file: &str) -> Self {
        let path = directory_of(package).join(file);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self::parse(&text)
    }

    /// Reads lines such as `pub const NAME: type = 1;` and `pub fn name(&self)` with the line after
    /// next.
    fn parse(text: &str) -> Self {
        let mut bindings = Self { constants: BTreeMap::new(), fields: BTreeMap::new() };
        let (mut of_struct, mut getter) = (String::new(), String::new());
        for line in text.lines().map(str::trim) {
            if let Some((name, rest)) = line.strip_prefix("pub const ").and_then(|l| l.split_once(": ")) {
                let value =
                    rest.split_once(" = ").and_then(|(_, value)| value.strip_suffix(';')?.parse().ok());
                bindings.constants.extend(value.map(|value| (name.to_string(), value)));
            } else if let Some(name) = line.strip_prefix("impl ").and_then(|l| l.strip_suffix(" {")) {
                of_struct = name.split("__bindgen_ty").next().unwrap().to_string();
            } else if let Some((name, _)) =
                line.strip_prefix("pub fn ").and_then(|l| l.split_once("(&self) -> "))
            {
                getter = name.trim_end_matches('_').to_string(); // `type_` in Rust is `type` in C
            } else if let Some((_, call)) = line.split_once("_bitfield_1.get(") {
                let bits = call.split_once(')').and_then(|(arguments, _)| arguments.split_once(", "));
                let (first, width) = bits.unwrap();
                let field = (number(first), number(width));
                bindings.fields.entry((of_struct.clone(), getter.clone())).or_insert(field);
            }
        }
        bindings
    }

    /// Returns the first bit and the width of a bit field.
    pub(super) fn field(&self, c_struct: &str, name: &str) -> (u32, u32) {
        let field = self.fields.get(&(c_struct.to_string(), name.to_string()));
        *field.unwrap_or_else(|| panic!("{c_struct} has no bit field {name}"))
    }

    /// Returns the names of all bit fields of a struct.
    pub(super) fn fields_of(&self, c_struct: &str) -> impl Iterator<Item = &str> {
        self.fields.keys().filter(move |(of, _)| of == c_struct).map(|(_, name)| name.as_str())
    }
}

/// Parses `12usize` and `3u8`.
fn number(literal: &str) -> u32 {
    literal.trim_end_matches("usize").trim_end_matches("u8").parse().unwrap()
}

/// Returns the directory of a package that cargo resolved for this crate.
fn directory_of(package: &str) -> PathBuf {
    static METADATA: OnceLock<serde_json::Value> = OnceLock::new();
    let metadata = METADATA.get_or_init(|| {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let output = Command::new(cargo)
            .args(["metadata", "--format-version=1", "--manifest-path"])
            .arg(manifest)
            .output()
            .unwrap();
        assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    });
    let found = metadata["packages"].as_array().unwrap().iter().find(|found| found["name"] == package);
    let manifest = found.and_then(|found| found["manifest_path"].as_str());
    let manifest = manifest.unwrap_or_else(|| panic!("cargo metadata has no package {package}"));
    Path::new(manifest).parent().unwrap().to_path_buf()
}
