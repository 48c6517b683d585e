//! Crafted files that would crash a naive reader or keep it busy without end.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use perf_symbols::{AddressSpaces, FileFinder, NoLines, ObjectFile, Query, StackFrame, Symbolizer, Symbols};

use crate::addr2line::symbols;
use crate::names::map;
use crate::programs::Programs;

/// Assembles a program with a function `work` of 64 bytes and these debug sections. Returns `None`
/// without the tools.
fn assemble(programs: &Programs, name: &str, sections: &str) -> Option<std::path::PathBuf> {
    let source = programs.path(&format!("{name}.s"));
    let text =
        format!(".globl work\n.type work, @function\nwork:\n.skip 64, 0x90\n.size work, .-work\n{sections}");
    std::fs::write(&source, text).expect("a source");
    let path = programs.path(name);
    let built = Command::new("cc").args(["-shared", "-nostdlib", "-o"]).args([&path, &source]).status();
    if !built.is_ok_and(|status| status.success()) {
        eprintln!("skipped: cc cannot assemble {name}");
        return None;
    }
    Some(path)
}

/// The abbreviations of all programs here: a unit with a name, lines, low and high address (1); a
/// unit with lines only (2); a function with a name, low and high address (3) or ranges (4); an
/// inlined function (5); the name of an inlined function (6).
const ABBREVIATIONS: &str = r#"
.section .debug_abbrev,"",@progbits
.Labbrev:
.uleb128 1; .uleb128 0x11; .byte 1; .uleb128 3,8, 0x10,0x17, 0x11,1, 0x12,7, 0,0
.uleb128 2; .uleb128 0x11; .byte 0; .uleb128 0x10,0x17, 0x11,1, 0x12,7, 0,0
.uleb128 3; .uleb128 0x2e; .byte 1; .uleb128 3,8, 0x11,1, 0x12,7, 0,0
.uleb128 4; .uleb128 0x2e; .byte 0; .uleb128 0x55,0x17, 0,0
.uleb128 5; .uleb128 0x1d; .byte 1; .uleb128 0x31,0x13, 0x11,1, 0x12,7, 0,0
.uleb128 6; .uleb128 0x2e; .byte 0; .uleb128 3,8, 0x20,0xb, 0,0
.byte 0
"#;

/// A unit with this body.
fn unit(body: &str) -> String {
    format!(
        ".section .debug_info,\"\",@progbits\n77: .long 88f-99f\n99: .short 4\n.long .Labbrev\n.byte 8\n{body}\n88:\n"
    )
}

const HEAD: &str = ".uleb128 1; .string \"x.c\"; .long .Lline; .quad work, 64\n";

/// A line program of version 4 with this file list and these rows.
fn lines(files: &str, rows: &str) -> String {
    format!(
        ".section .debug_line,\"\",@progbits\n.Lline: .long 2f-1f\n1: .short 4\n.long 4f-3f\n3: .byte 1,1,1,-5,14,13\n\
         .byte 0,1,1,1,1,0,0,0,1,0,0,1\n.byte 0\n{files}\n.byte 0\n4: .byte 0,9,2\n.quad work\n{rows}\n.byte 2\n.uleb128 64\n\
         .byte 0,1,1\n2:\n"
    )
}

const ONE_FILE: &str = ".string \"x.c\"; .byte 0,0,0";

/// Returns the name, the reason and the number of functions for `work`.
fn of_work(path: &Path) -> (String, Option<NoLines>, usize) {
    let object = ObjectFile::open(path).expect("a library");
    let start = object.section_addresses(".text").expect("code").start;
    let found = symbols(path, &[start + 8], true).pop().flatten().expect("a name");
    let functions = found.functions;
    (functions.last().expect("a function").name.to_string(), found.no_lines, functions.len())
}

#[test]
fn debug_information_that_costs_more_than_its_bytes_is_left_out() {
    let programs = Programs::empty("excessive");
    let nested = |levels: usize| {
        let mut body = format!(
            "{HEAD}66: .uleb128 6; .string \"inl\"; .byte 1\n.uleb128 3; .string \"work\"; .quad work, 64\n"
        );
        writeln!(body, ".rept {levels}\n.uleb128 5; .long 66b-77b; .quad work, 64\n.endr").expect("a string");
        writeln!(body, ".fill {},1,0", levels + 2).expect("a string");
        [ABBREVIATIONS, &unit(&body), &lines(ONE_FILE, ".byte 20")].concat()
    };
    // A function refers to one long range list again and again.
    let ranges = |functions: usize, entries: usize| {
        let body = format!("{HEAD}.rept {functions}\n.uleb128 4; .long .Lranges\n.endr\n.byte 0");
        let list = format!(
            ".section .debug_ranges,\"\",@progbits\n.Lranges:\n.rept {entries}\n.quad work, work+1\n.endr\n.quad 0,0\n"
        );
        [ABBREVIATIONS, &unit(&body), &lines(ONE_FILE, ".byte 20"), &list].concat()
    };
    // Units share one line program.
    let shared_lines = |units: usize, rows: usize| {
        let body = unit(".uleb128 2; .long .Lline; .quad work, 64");
        let rows = format!(".fill {rows}, 1, 18");
        [ABBREVIATIONS, &body.repeat(units), &lines(ONE_FILE, &rows)].concat()
    };
    // Files are in one folder with a long name.
    let long_paths = |files: usize, len: usize| {
        let folder = "d".repeat(len);
        let list = format!(".rept {files}\n.string \"f\"; .byte 1,0,0\n.endr");
        let program =
            lines(&list, ".byte 20").replacen(".byte 0\n", &format!(".string \"{folder}\"\n.byte 0\n"), 1);
        [ABBREVIATIONS, &unit(&format!("{HEAD}.byte 0")), &program].concat()
    };
    // Abbreviation tables overlap: each unit's table begins a few bytes later.
    let tables = |units: usize| {
        let mut text = String::from(".section .debug_abbrev,\"\",@progbits\n.Labbrev:\n");
        writeln!(
            text,
            ".rept {units}\n.uleb128 2; .uleb128 0x11; .byte 0; .uleb128 3,8, 0,0\n.endr\n.byte 0"
        )
        .expect("a string");
        text.push_str(".section .debug_info,\"\",@progbits\n");
        for index in 0..units {
            writeln!(
                text,
                ".long 8f-9f\n9: .short 4\n.long .Labbrev+{}\n.byte 8\n.uleb128 2; .string \"u\"\n8:",
                index * 7
            )
            .expect("a string");
        }
        text
    };
    let long_name = ["", &"n".repeat((1 << 20) + 1)].concat();
    let strings = format!(".section .debug_str,\"MS\",@progbits,1\n.string \"{long_name}\"\n");
    let plain = [ABBREVIATIONS, &unit(&format!("{HEAD}.byte 0")), &lines(ONE_FILE, ".byte 20")].concat();
    for (name, sections, problem, depth) in [
        ("plain", plain.clone(), None, 1),
        ("nested", nested(100), None, 101),
        ("too-deep", nested(5000), Some(NoLines::Excessive), 1),
        ("ranges", ranges(4, 20_000), None, 1),
        ("too-many-ranges", ranges(20_000, 20_000), Some(NoLines::Excessive), 1),
        ("shared-lines", shared_lines(8, 100_000), None, 1),
        // The first units are read.
        ("too-many-lines", shared_lines(20_000, 400_000), None, 1),
        ("paths", long_paths(1000, 100), None, 1),
        ("too-long-paths", long_paths(100_000, 100_000), Some(NoLines::Excessive), 1),
        ("tables", tables(20), None, 1),
        ("too-many-tables", tables(20_000), Some(NoLines::Excessive), 1),
        ("too-long-name", [plain, strings].concat(), Some(NoLines::Excessive), 1),
    ] {
        let Some(path) = assemble(&programs, name, &sections) else { return };
        assert_eq!(of_work(&path), ("work".to_owned(), problem, depth), "{name}");
    }
}

#[test]
fn debug_link_leads_to_regular_files_only() {
    let programs = Programs::empty("links");
    let Some(path) = programs.compile("program", "history.c", &["-O1", "-g", "-s", "-ldl", "-lpthread"])
    else {
        return;
    };
    let pipe = programs.path("program.debug");
    assert!(Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()), "mkfifo");
    let link = programs.path("link");
    for name in ["program.debug", "/dev/zero", "../../../dev/zero", "/sys/kernel/tracing/trace_pipe"] {
        let mut section = name.as_bytes().to_vec();
        section.resize((section.len() + 4) / 4 * 4, 0);
        section.extend([1, 2, 3, 4]);
        std::fs::write(&link, section).expect("a section");
        let linked = programs.path("linked");
        let option = format!("--add-section=.gnu_debuglink={}", link.display());
        let made = Command::new("objcopy").arg(option).args([&path, &linked]).status();
        if !made.is_ok_and(|status| status.success()) {
            eprintln!("skipped: objcopy is missing");
            return;
        }
        let text = ObjectFile::open(&linked).expect("the program").section_addresses(".text").expect("code");
        // This terminates.
        let found = symbols(&linked, &[text.start], true);
        let is_unnamed = |found: &Option<Symbols>| found.as_ref().is_none_or(|it| it.unnamed.is_some());
        assert!(found.iter().all(is_unnamed), "{name}");
    }
}

#[test]
fn file_that_is_truncated_while_it_is_read_is_no_signal() {
    let programs = Programs::empty("truncated");
    let Some(whole) = programs.compile("whole", "inlines.cpp", &["-g", "-O2"]) else { return };
    let bytes = std::fs::read(&whole).expect("the program");
    let text = ObjectFile::open(&whole).expect("the program").section_addresses(".text").expect("code");
    let path = programs.path("program");
    std::fs::write(&path, &bytes).expect("a copy");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let file = std::fs::File::options().write(true).open(&path).expect("the copy");
            while !stop.load(Ordering::Relaxed) {
                file.set_len(0).expect("no bytes");
                std::os::unix::fs::FileExt::write_all_at(&file, &bytes, 0).expect("all bytes");
            }
        });
        let mut spaces = AddressSpaces::new();
        map(&mut spaces, perf_abi::CpuMode::USER, 1, [0x10_0000, 0x8000, 0x1000], b"/program");
        let mut reasons = std::collections::BTreeMap::<String, usize>::new();
        for _ in 0..200 {
            let finder = FileFinder::remote().with_symfs(programs.path(""));
            let symbolizer = Symbolizer::new(finder).expect("a thread");
            let queries: Vec<_> = text
                .clone()
                .step_by(101)
                .map(|address| {
                    let address = 0x10_0000 + (address - 0x1000);
                    let frame =
                        StackFrame { mode: perf_abi::CpuMode::USER, address, is_return_address: true };
                    Query::new(&spaces, 1, &frame)
                })
                .collect();
            for found in symbolizer.symbolize(&queries) {
                let text = found
                    .as_ref()
                    .map(|symbols| symbols.no_lines)
                    .map_or_else(ToString::to_string, |_| "named".to_owned());
                *reasons.entry(text).or_default() += 1;
            }
        }
        stop.store(true, Ordering::Relaxed);
        println!("{reasons:?}");
    });
}
