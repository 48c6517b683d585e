//! Compares names, inlined functions and lines of programs with addr2line.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use object::read::{Object, ObjectSection, ObjectSymbol};
use perf_symbols::{ElfSymbols, FileFinder, FileSymbols, MappedObject, Mapping, ObjectFile, Symbols};

use crate::programs::Programs;

/// The frames at an address, innermost first: name and line.
type Frames = Vec<(String, u32)>;

/// Runs addr2line. Returns `None` if it is missing.
fn by_addr2line(program: &Path, addresses: &[u64]) -> Option<Vec<Frames>> {
    let mut child = Command::new("addr2line")
        .args(["-a", "-f", "-i", "-C", "-e"])
        .arg(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let input: Vec<_> = addresses.iter().map(|address| format!("{address:x}\n")).collect();
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || stdin.write_all(input.concat().as_bytes()));
    let output = child.wait_with_output().expect("addr2line");
    writer.join().expect("no panic").expect("all addresses");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut all = Vec::new();
    let mut lines = text.lines();
    let mut line = lines.next();
    while let Some(head) = line {
        assert!(head.starts_with("0x"), "{head}");
        let mut frames = Frames::new();
        line = lines.next();
        while let Some(name) = line.filter(|line| !line.starts_with("0x")) {
            let place = lines.next().expect("a file and a line");
            let place = place.split(" (discriminator").next().unwrap_or(place);
            let number = place.rsplit(':').next().and_then(|line| line.parse().ok());
            frames.push((name.to_owned(), number.unwrap_or(0)));
            line = lines.next();
        }
        all.push(frames);
    }
    Some(all)
}

fn frames(symbols: &Symbols) -> Frames {
    let line = |function: &perf_symbols::Function| function.source.as_ref().and_then(|source| source.line);
    let functions = symbols.functions.iter();
    functions.map(|function| (function.name.to_string(), line(function).unwrap_or(0))).collect()
}

/// Returns the functions at addresses of a file's symbol table, optionally with lines from debug
/// information.
pub(crate) fn symbols(path: &Path, addresses: &[u64], has_lines: bool) -> Vec<Option<Symbols>> {
    let finder = FileFinder::local();
    let found = finder.find_debug_file(ObjectFile::open(path).expect("the file"));
    let mut symbols =
        ElfSymbols::read(&finder, Arc::new(found), has_lines.then_some(1 << 30)).expect("symbols");
    addresses.iter().map(|address| symbols.symbolize(*address)).collect()
}

/// Returns the path of a function without arguments, generic arguments and type, which demanglers
/// print differently.
pub(crate) fn path_of(name: &str) -> String {
    let (mut depth, mut path, mut last) = (0, String::new(), ' ');
    for letter in name.chars() {
        match letter {
            '<' | '(' | '[' => depth += 1,
            '>' if last == '-' => {}
            '>' | ')' | ']' => depth -= 1,
            _ if depth == 0 => path.push(letter),
            _ => {}
        }
        last = letter;
    }
    let path = path.trim().trim_end_matches(" const");
    let hash = path.rfind("::h").filter(|at| path.len() - at == 19);
    let path = path[..hash.unwrap_or(path.len())].rsplit(' ').next().unwrap_or("");
    // Compilers add suffixes such as `.cold` and `.part.0`.
    path.split('.').next().unwrap_or(path).to_owned()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Same,
    /// addr2line names the innermost function by the symbol table, as the function that it is
    /// inlined into.
    InnermostIsSymbol,
    /// The address is after the end of all functions. addr2line names the previous function; this
    /// crate names none.
    Padding,
    /// Several symbols begin at the address, and addr2line chooses another one.
    OtherNameOfTheSameStart,
    /// addr2line has no function because it does not read dynamic symbols of a stripped file.
    Unknown,
    Different,
}

fn class(found: Option<&Symbols>, expected: &Frames, is_padding: bool) -> Class {
    let Some(found) = found else { return if is_padding { Class::Padding } else { Class::Different } };
    let paths =
        |frames: &Frames| frames.iter().map(|(name, line)| (path_of(name), *line)).collect::<Vec<_>>();
    let (found, mut expected) = (paths(&frames(found)), paths(expected));
    if found == expected {
        return Class::Same;
    }
    let last = expected.last().map(|(name, _)| name.clone());
    if let (Some(first), Some(last), Some((name, _))) = (expected.first_mut(), last, found.first()) {
        if first.0 == last {
            first.0.clone_from(name);
        }
    }
    if found == expected { Class::InnermostIsSymbol } else { Class::Different }
}

/// Compares addresses of all code of a program, `step` bytes apart. Returns the number of
/// addresses.
fn compare(program: &Path, step: usize) -> usize {
    let bytes = std::fs::read(program).expect("the program");
    let elf = object::File::parse(&*bytes).expect("an ELF file");
    let text = elf.section_by_name(".text").expect("code");
    let addresses: Vec<_> = (text.address()..text.address() + text.size()).step_by(step).collect();
    let functions: Vec<_> =
        elf.symbols().map(|symbol| symbol.address()..symbol.address() + symbol.size()).collect();
    let Some(expected) = by_addr2line(program, &addresses) else {
        eprintln!("skipped: addr2line is missing");
        return usize::MAX;
    };
    assert_eq!(expected.len(), addresses.len());
    let found = symbols(program, &addresses, true);
    let mut classes = BTreeMap::<Class, usize>::new();
    for ((address, expected), found) in addresses.iter().zip(&expected).zip(&found) {
        let is_padding = !functions.iter().any(|function| function.contains(address));
        let class = class(found.as_ref(), expected, is_padding);
        assert_ne!(
            class,
            Class::Different,
            "{address:#x}: {:?}, addr2line: {expected:?}",
            found.as_ref().map(frames)
        );
        *classes.entry(class).or_default() += 1;
    }
    println!("{}: {classes:?}", program.display());
    let same = classes.get(&Class::Same).copied().unwrap_or(0);
    assert!(same * 10 >= addresses.len() * 9, "{classes:?}");
    addresses.len()
}

#[test]
fn inlined_functions_and_lines_are_those_of_addr2line() {
    let Some(programs) = Programs::new("addr2line") else { return };
    let cpp = programs.compile("inlines-cpp", "inlines.cpp", &["-g", "-O2"]);
    let c = programs.compile("inlines-c", "history.c", &["-g", "-O2", "-static", "-ldl", "-lpthread"]);
    let rust = programs.compile("inlines-rust", "inlines.rs", &["-g", "-O", "--edition", "2021"]);
    let (Some(cpp), Some(c), Some(rust)) = (cpp, c, rust) else { return };
    let count = compare(&cpp, 3).saturating_add(compare(&c, 101)).saturating_add(compare(&rust, 37));
    assert!(count > 10_000, "{count} addresses");
}

/// Returns the files that a running program has mapped as code.
fn mapped_by(program: &str, arguments: &[&str]) -> BTreeSet<PathBuf> {
    let Ok(mut child) = Command::new(program).args(arguments).stdin(Stdio::piped()).spawn() else {
        return BTreeSet::new();
    };
    let mut files = BTreeSet::new();
    // Wait until the libraries are loaded.
    for _ in 0..100 {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", child.id())).unwrap_or_default();
        let code =
            maps.lines().filter(|line| line.contains(" r-xp ")).filter_map(|line| line.split_once('/'));
        files = code.map(|(_, path)| PathBuf::from(format!("/{path}"))).collect();
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let _ = (child.kill(), child.wait());
    files
}

#[test]
fn functions_of_installed_programs_are_those_of_addr2line() {
    let mut files =
        mapped_by("python3", &["-c", "import sqlite3, ctypes, decimal, ssl, sys; sys.stdin.read()"]);
    files.extend(mapped_by("cat", &[]));
    files.extend(mapped_by("c++filt", &[]));
    let mut compared = 0;
    let mut classes = BTreeMap::<Class, usize>::new();
    for file in files {
        let Ok(object) = ObjectFile::open(&file) else { continue };
        let Some(text) = object.section_addresses(".text") else { continue };
        let step = usize::try_from((text.end - text.start) / 1500).unwrap_or(1).max(1);
        let addresses: Vec<_> = text.step_by(step).collect();
        let Some(expected) = by_addr2line(&file, &addresses) else {
            eprintln!("skipped: addr2line is missing");
            return;
        };
        // addr2line reads the separate debug file, too.
        let mapping = Mapping::new(0..0x1000, 0, MappedObject::new(file.as_os_str().as_encoded_bytes()));
        let whole =
            FileFinder::local().find(std::process::id(), &mapping, object.build_id()).expect("the file");
        let debug = whole.debug_file().unwrap_or(whole.object()).path().to_owned();
        let bytes = [&file, &debug].map(|path| std::fs::read(path).expect("a file"));
        let [elf, debug] = [0, 1].map(|at| object::File::parse(&*bytes[at]).expect("an ELF file"));
        let symbols: Vec<_> = elf.symbols().chain(elf.dynamic_symbols()).chain(debug.symbols()).collect();
        let starts_at = |name: &str, start: u64| {
            let has_name = |symbol: &str| symbol == name || path_of(&demangled(symbol)) == path_of(name);
            symbols.iter().any(|symbol| symbol.address() == start && symbol.name().is_ok_and(has_name))
        };
        let found = crate::addr2line::symbols(&file, &addresses, false);
        for ((&address, expected), found) in addresses.iter().zip(&expected).zip(&found) {
            let expected = expected.last().map_or("??", |(name, _)| name);
            let class = match found.as_ref().filter(|found| found.unnamed.is_none()) {
                // addr2line reads the dynamic symbols of a stripped file only with an option.
                Some(_) | None if expected == "??" => Class::Unknown,
                Some(symbols) => {
                    let name = &symbols.functions[0].name;
                    let start = address - symbols.offset;
                    if path_of(name) == path_of(expected) {
                        Class::Same
                    } else if starts_at(expected, start) {
                        Class::OtherNameOfTheSameStart
                    } else {
                        Class::Different
                    }
                }
                None => {
                    let inside = |symbol: &object::read::Symbol<'_, '_>| {
                        (symbol.address()..symbol.address() + symbol.size()).contains(&address)
                    };
                    if symbols.iter().any(inside) { Class::Different } else { Class::Padding }
                }
            };
            assert_ne!(
                class,
                Class::Different,
                "{}, {address:#x}: {found:?}, addr2line: {expected}",
                file.display()
            );
            *classes.entry(class).or_default() += 1;
        }
        compared += addresses.len();
    }
    println!("{compared} addresses of installed programs: {classes:?}");
    assert!(classes.get(&Class::Same).copied().unwrap_or(0) * 2 >= compared, "{classes:?}");
}

/// Returns a name as addr2line prints it.
fn demangled(symbol: &str) -> String {
    let output = Command::new("c++filt").arg(symbol).output();
    output.map_or_else(
        |_| symbol.to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

#[test]
fn stripped_program_has_the_names_of_its_debug_file() {
    let Some(programs) = Programs::new("stripped-names") else { return };
    let path =
        programs.compile("program", "history.c", &["-g", "-O1", "-ldl", "-lpthread"]).expect("the program");
    let symbols = |file: &Path, addresses: &[u64]| symbols(file, addresses, true);
    let whole = ObjectFile::open(&path).expect("the program");
    let text = whole.section_addresses(".text").expect("code");
    let addresses: Vec<_> = text.step_by(5).collect();
    let expected = symbols(&path, &addresses);
    let debug = programs.path("program.debug");
    let run = |arguments: &[&str]| {
        Command::new("objcopy").args(arguments).status().is_ok_and(|status| status.success())
    };
    let (program, debug_text) = (path.display().to_string(), debug.display().to_string());
    if !run(&["--only-keep-debug", &program, &debug_text]) {
        eprintln!("skipped: objcopy is missing");
        return;
    }
    assert!(run(&["--strip-all", &format!("--add-gnu-debuglink={debug_text}"), &program]));
    assert_eq!(symbols(&debug, &addresses), expected);
    assert_eq!(symbols(&path, &addresses), expected, "by the debug link");
}

#[test]
fn debug_file_of_another_build_leaves_the_functions_of_the_program() {
    let programs = Programs::empty("stale-debug-file");
    let Some(path) = programs.compile("program", "history.c", &["-g", "-O1", "-ldl", "-lpthread"]) else {
        return;
    };
    let text = ObjectFile::open(&path).expect("the program").section_addresses(".text").expect("code");
    let addresses: Vec<_> = text.step_by(5).collect();
    let names = || {
        let symbols = symbols(&path, &addresses, true);
        let last = |symbols: Symbols| symbols.functions.last().map(|function| function.name.clone());
        symbols.into_iter().map(|symbols| symbols.and_then(last)).collect::<Vec<_>>()
    };
    let expected = names();
    let (program, debug) = (path.display().to_string(), programs.path("program.debug").display().to_string());
    let run = |arguments: &[&str]| {
        Command::new("objcopy").args(arguments).status().is_ok_and(|status| status.success())
    };
    if !run(&["--only-keep-debug", &program, &debug]) {
        eprintln!("skipped: objcopy is missing");
        return;
    }
    assert!(run(&["--strip-debug", &format!("--add-gnu-debuglink={debug}"), &program]));
    let mut other = std::fs::read(&debug).expect("the debug file");
    other.push(0);
    std::fs::write(&debug, other).expect("the debug file");
    assert_eq!(names(), expected);
}
