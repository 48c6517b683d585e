//! Forms in which linkers and distributions store debug information: each has the names and lines
//! of the plain form, or a reason.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use perf_symbols::{BuildId, NoLines, ObjectFile, Symbols, Unnamed};

use crate::addr2line::symbols;
use crate::programs::Programs;

/// A program with inlined functions, some of its addresses, and the expected results.
struct Plain {
    programs: Programs,
    path: PathBuf,
    addresses: Vec<u64>,
    symbols: Vec<Option<Symbols>>,
}

impl Plain {
    fn new(test: &str) -> Option<Self> {
        Self::compile(test, "inlines.cpp", &["-g", "-O2"])
    }

    fn compile(test: &str, source: &str, options: &[&str]) -> Option<Self> {
        let programs = Programs::empty(test);
        let path = programs.compile("plain", source, options)?;
        let text = ObjectFile::open(&path).expect("the program").section_addresses(".text").expect("code");
        let addresses: Vec<_> = text.step_by(7).collect();
        let symbols = symbols(&path, &addresses, true);
        let inlined = symbols.iter().flatten().filter(|symbols| symbols.functions.len() > 1);
        assert!(inlined.count() > 100, "inlined functions");
        Some(Self { programs, path, addresses, symbols })
    }

    fn assert_same(&self, path: &Path) {
        let found = symbols(path, &self.addresses, true);
        for ((address, found), expected) in self.addresses.iter().zip(&found).zip(&self.symbols) {
            assert_eq!(found, expected, "{}, {address:#x}", path.display());
        }
    }

    /// Checks all addresses, and returns the number that have incomplete lines for this reason.
    fn incomplete(&self, path: &Path, reason: NoLines) -> usize {
        let found = symbols(path, &self.addresses, true);
        let names = |symbols: &Option<Symbols>| {
            symbols
                .iter()
                .flat_map(|symbols| &symbols.functions[..])
                .map(|function| function.name.clone())
                .collect::<Vec<_>>()
        };
        let mut count = 0;
        for ((address, found), expected) in self.addresses.iter().zip(&found).zip(&self.symbols) {
            assert!(names(found).iter().all(|name| !name.is_empty()), "{address:#x}: {found:?}");
            assert_eq!(names(found).last(), names(expected).last(), "{address:#x}");
            match found.as_ref().and_then(|symbols| symbols.no_lines) {
                None => assert_eq!(names(found), names(expected), "{address:#x}"),
                Some(found) => {
                    assert_eq!(found, reason);
                    count += 1;
                }
            }
        }
        count
    }
}

/// Runs a tool. Returns false, with a message, if it is missing or lacks the feature.
fn run(tool: &str, arguments: &[&Path]) -> bool {
    let done = Command::new(tool).args(arguments).stderr(Stdio::null()).status();
    let done = done.is_ok_and(|status| status.success());
    if !done {
        eprintln!("skipped: {tool} {arguments:?}");
    }
    done
}

#[test]
fn compressed_debug_information_has_the_lines_of_the_plain_one() {
    let Some(plain) = Plain::new("compressed") else { return };
    for form in ["zlib", "zlib-gnu", "zstd"] {
        let path = plain.programs.path(form);
        let option = format!("--compress-debug-sections={form}");
        if run("objcopy", &[Path::new(&option), &plain.path, &path]) {
            assert!(
                std::fs::metadata(&path).expect("it").len()
                    < std::fs::metadata(&plain.path).expect("it").len()
            );
            plain.assert_same(&path);
        }
    }
}

#[test]
fn split_debug_information_has_the_inlined_functions_of_the_plain_one() {
    let Some(plain) = Plain::new("split") else { return };
    let Some(path) = plain.programs.compile("split", "inlines.cpp", &["-g", "-O2", "-gsplit-dwarf"]) else {
        return;
    };
    let dwo = plain.programs.path("split-inlines.dwo");
    plain.assert_same(&path);
    std::fs::remove_file(&dwo).expect("the part");
    assert!(plain.incomplete(&path, NoLines::Split) > 100);
    // A part of another build has a different id and is rejected.
    let other = plain.programs.compile("other", "inlines.cpp", &["-g", "-O1", "-gsplit-dwarf"]);
    other.expect("another program");
    std::fs::rename(plain.programs.path("other-inlines.dwo"), &dwo).expect("the part");
    assert!(plain.incomplete(&path, NoLines::Split) > 100);
}

#[test]
fn package_has_the_inlined_functions_of_the_plain_one() {
    let options = ["-g", "-O", "--edition", "2021", "-Ccodegen-units=1"];
    let Some(plain) = Plain::compile("package", "inlines.rs", &options) else { return };
    for (kind, file) in [("packed", Some("split.dwp")), ("unpacked", None)] {
        let option = format!("-Csplit-debuginfo={kind}");
        let options = [&options[..], &[&option]].concat();
        let path = plain.programs.compile("split", "inlines.rs", &options).expect("the same program");
        plain.assert_same(&path);
        if let Some(file) = file {
            std::fs::remove_file(plain.programs.path(file)).expect("the package");
            assert!(plain.incomplete(&path, NoLines::Split) > 100);
        }
    }
}

#[test]
fn supplementary_file_has_names_of_inlined_functions() {
    let Some(plain) = Plain::new("supplementary") else { return };
    let [first, second, common] = ["first", "second", "common.debug"].map(|name| plain.programs.path(name));
    for copy in [&first, &second] {
        std::fs::copy(&plain.path, copy).expect("a copy");
    }
    if !run("dwz", &[Path::new("-m"), &common, &first, &second]) {
        return;
    }
    plain.assert_same(&first);
    std::fs::remove_file(&common).expect("the common file");
    assert!(plain.incomplete(&first, NoLines::Supplementary) > 100);
}

/// Returns the name of the last function and the start of it.
fn name_and_start(address: u64, symbols: &Symbols) -> (String, u64) {
    let name = symbols.functions.last().expect("a function").name.to_string();
    (name, address - symbols.offset)
}

#[test]
fn function_of_a_stripped_file_is_called_by_its_start() {
    let Some(plain) = Plain::compile("stripped", "inlines.cpp", &["-g", "-O2"]) else { return };
    let path = plain.programs.path("libstripped.so.1");
    if !run("strip", &[Path::new("-o"), &path, &plain.path]) {
        return;
    }
    let found = symbols(&path, &plain.addresses, true);
    let mut starts = BTreeSet::new();
    for ((address, found), expected) in plain.addresses.iter().zip(&found).zip(&plain.symbols) {
        let Some(found) = found else { continue };
        let (name, start) = name_and_start(*address, found);
        assert_eq!(name, format!("libstripped.so.1+{start:#x}"));
        assert_eq!(found.unnamed, Some(Unnamed::NoSymbol));
        let expected = expected.as_ref().expect("a symbol where the unwind information has an entry");
        assert_eq!(start, name_and_start(*address, expected).1, "{address:#x}, {expected:?}");
        starts.insert(start);
    }
    assert!(starts.len() > 3, "{starts:x?}");
    // What the C library adds to a program has no entries.
    let count = |symbols: &[Option<Symbols>]| symbols.iter().flatten().count();
    assert!(count(&found) * 10 > count(&plain.symbols) * 9, "{} {}", count(&found), count(&plain.symbols));
}

/// Returns the stubs in the listing of objdump: address and name.
fn stubs(path: &Path) -> Vec<(u64, String)> {
    let output = Command::new("objdump").args(["-d", "-C"]).arg(path).output().expect("objdump");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let heads = text.lines().filter_map(|line| line.strip_suffix(">:")?.split_once(" <"));
    let stubs = heads.filter(|(_, name)| name.ends_with("@plt"));
    stubs.map(|(at, name)| (u64::from_str_radix(at, 16).expect("an address"), name.to_owned())).collect()
}

#[test]
fn stubs_that_call_libraries_are_named_as_in_a_listing() {
    let programs = Programs::empty("stubs");
    let is_x86 = cfg!(target_arch = "x86_64");
    let forms: &[(&str, &[&str])] = &[
        ("lazy", &["-O1", "-ldl", "-lpthread", "-Wl,-z,lazy"]),
        ("protected", &["-O1", "-ldl", "-lpthread", "-fcf-protection=full", "-Wl,-z,ibtplt"]),
        ("stripped", &["-O1", "-ldl", "-lpthread", "-s"]),
    ];
    for (form, options) in forms.iter().filter(|(form, _)| is_x86 || *form != "protected") {
        let Some(path) = programs.compile(form, "history.c", options) else { continue };
        let listed = stubs(&path);
        assert!(listed.iter().any(|(_, name)| name == "dlopen@plt"), "{listed:?}");
        for (address, name) in listed {
            let found = symbols(&path, &[address, address + 6], false);
            for (found, at) in found.iter().zip([address, address + 6]) {
                let found = found.as_ref().map(|found| (name_and_start(at, found), found.unnamed));
                assert_eq!(found, Some(((name.clone(), address), None)), "{form}");
            }
        }
        // The head of the table calls no function.
        let head = ObjectFile::open(&path).expect("it").section_addresses(".plt").expect("a table").start;
        assert_eq!(symbols(&path, &[head], true), [None]);
    }
}

#[test]
fn stub_of_a_static_program_is_named_by_the_function_that_it_chooses() {
    let programs = Programs::empty("static-stubs");
    let options = ["-O1", "-static", "-ldl", "-lpthread"];
    let Some(path) = programs.compile("static", "history.c", &options) else { return };
    let table = ObjectFile::open(&path).expect("it").section_addresses(".plt").expect("a table");
    let found = symbols(&path, &table.step_by(8).collect::<Vec<_>>(), false);
    let names: Vec<_> = found.iter().flatten().map(|found| found.functions[0].name.to_string()).collect();
    assert!(names.iter().any(|name| name == "memcpy@plt" || name == "strlen@plt"), "{names:?}");
}

const GO: &str = r"package main

type number struct{ n int }

//go:noinline
func (t *number) work(rounds int) (sum int) {
	for i := 0; i < rounds; i++ {
		sum += i ^ t.n
	}
	return sum
}

func main() {
	println((&number{3}).work(1000))
}
";

#[test]
fn stripped_go_program_has_the_names_of_the_plain_one() {
    let programs = Programs::empty("go");
    let source = programs.path("main.go");
    std::fs::write(&source, GO).expect("a source");
    let build = |name: &str, options: &[&str]| {
        let path = programs.path(name);
        let mut command = Command::new("go");
        // Its settings and caches are in the folder of the test.
        for variable in ["GOCACHE", "GOPATH", "GOENV", "HOME"] {
            command.env(variable, programs.path(variable));
        }
        command.env("GOFLAGS", "").env("GO111MODULE", "off").env("CGO_ENABLED", "0").args(["build", "-o"]);
        let done = command.arg(&path).args(options).arg(&source).stderr(Stdio::null()).status();
        done.is_ok_and(|status| status.success()).then_some(path)
    };
    for mode in ["-buildmode=exe", "-buildmode=pie"] {
        let whole = build("plain", &[mode]).zip(build("stripped", &[mode, "-ldflags=-s -w"]));
        let Some((plain, stripped)) = whole else {
            eprintln!("skipped: go cannot compile with {mode}");
            return;
        };
        let text = ObjectFile::open(&plain).expect("it").section_addresses(".text").expect("code");
        let addresses: Vec<_> = text.step_by(67).collect();
        let [expected, found] = [plain, stripped].map(|path| symbols(&path, &addresses, false));
        let mut same = 0;
        for ((&address, expected), found) in addresses.iter().zip(&expected).zip(&found) {
            let Some(expected) = expected else { continue };
            let found = found.as_ref().map(|found| name_and_start(address, found));
            let (expected, start) = name_and_start(address, expected);
            // The table leaves out the types of generic functions and the calling convention.
            let plain = |name: &str| name.trim_end_matches(".abi0").split('[').next().map(str::to_owned);
            let found = found.map(|(name, start)| (plain(&name), start));
            assert_eq!(found, Some((plain(&expected), start)), "{mode}");
            same += 1;
        }
        assert!(same > 1000, "{same}");
    }
}

/// Compresses the symbols of a program and strips it, as the manual of gdb describes it
/// (`MiniDebugInfo`) and Fedora does it, but with weak functions. The arguments are the program and
/// the result.
const MINI_DEBUG_INFO: &str = r#"
nm -D "$1" --format=posix --defined-only | awk '{ print $1 }' | sort > "$2.dynamic" &&
nm "$1" --format=posix --defined-only | awk '$2 ~ /^[TtDWw]$/ { print $1 }' | sort > "$2.functions" &&
comm -13 "$2.dynamic" "$2.functions" > "$2.keep" &&
objcopy --only-keep-debug "$1" "$2.debug" &&
objcopy -S --remove-section .gdb_index --remove-section .comment --keep-symbols="$2.keep" "$2.debug" "$2.mini" &&
xz -f "$2.mini" &&
objcopy -S --add-section .gnu_debugdata="$2.mini.xz" "$1" "$2""#;

#[test]
fn stripped_program_has_the_names_of_its_mini_debug_info() {
    let Some(plain) = Plain::new("mini") else { return };
    let path = plain.programs.path("stripped");
    let arguments = ["-c", MINI_DEBUG_INFO, "sh"].map(Path::new);
    if !run("sh", &[&arguments[..], &[&*plain.path, &*path]].concat()) {
        return;
    }
    let found = symbols(&path, &plain.addresses, true);
    let mut named = 0;
    for ((address, found), expected) in plain.addresses.iter().zip(&found).zip(&plain.symbols) {
        let Some(expected) = expected else { continue };
        let found = found.as_ref().filter(|found| found.unnamed.is_none());
        // Symbols without a size end after a byte.
        let Some(found) = found else { continue };
        assert_eq!(name_and_start(*address, found), name_and_start(*address, expected), "{address:#x}");
        named += 1;
    }
    let count = plain.symbols.iter().flatten().count();
    assert!(named * 20 > count * 19, "{named} of {count}");
}

#[test]
fn build_id_is_found_without_a_segment_and_of_any_length() {
    let programs = Programs::empty("build-ids");
    let long = "ab".repeat(32);
    let option = format!("-Wl,--build-id=0x{long}");
    let Some(path) = programs.compile("long", "spin.c", &["-O1", "-shared", "-fPIC", &option]) else {
        return;
    };
    let expected = BuildId::new(&[0xab; 20]);
    assert_eq!(ObjectFile::open(&path).expect("a library").build_id(), expected);
    // As `perf inject --jit` writes it: without a known segment type.
    let mut bytes = std::fs::read(&path).expect("the library");
    let table =
        usize::try_from(u64::from_le_bytes(bytes[32..40].try_into().expect("8 bytes"))).expect("an offset");
    let count = usize::from(bytes[56]);
    let notes: Vec<_> = (0..count).map(|index| table + 56 * index).filter(|at| bytes[*at] == 4).collect();
    assert!(!notes.is_empty());
    for at in notes {
        bytes[at..at + 4].fill(0x77);
    }
    std::fs::write(&path, bytes).expect("the library");
    assert_eq!(ObjectFile::open(&path).expect("a library").build_id(), expected);
}

#[test]
fn function_without_a_length_ends_with_its_section() {
    let programs = Programs::empty("sections");
    let (source, path) = (programs.path("sections.s"), programs.path("sections.so"));
    // The first function of the next section does not begin at its start.
    let text = ".globl last, next\n.type last, @function\n.type next, @function\nlast: .skip 32, 0x90\n\
        .section .other, \"ax\", @progbits\n.skip 32, 0x90\nnext: .skip 32, 0x90\n.size next, 32\n";
    std::fs::write(&source, text).expect("a source");
    let options = ["-shared", "-nostdlib", "-o"].map(Path::new);
    if !run("cc", &[&options[..], &[&*path, &*source]].concat()) {
        return;
    }
    let object = ObjectFile::open(&path).expect("a library");
    let start = |section| object.section_addresses(section).expect("code").start;
    let (text, other) = (start(".text"), start(".other"));
    assert!(other > text, "{text:#x}, {other:#x}");
    let names = symbols(&path, &[text, text + 31, other, other + 31, other + 32], false).into_iter();
    let names =
        names.map(|found| found.and_then(|found| found.functions.last().map(|it| it.name.to_string())));
    let (last, next) = (Some("last".to_owned()), Some("next".to_owned()));
    assert_eq!(names.collect::<Vec<_>>(), [last.clone(), last, None, None, next]);
}
