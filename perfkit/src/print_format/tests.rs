use proptest::prelude::*;

use super::*;

/// A tracepoint with a field of each kind.
fn text(print_format: &str) -> String {
    format!(
        "name: x\nID: 1\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
         \tfield:char comm[8];\toffset:2;\tsize:8;\tsigned:0;\n\
         \tfield:int pid;\toffset:10;\tsize:4;\tsigned:1;\n\
         \tfield:unsigned long state;\toffset:14;\tsize:8;\tsigned:0;\n\
         \tfield:u16 list[2];\toffset:22;\tsize:4;\tsigned:0;\n\
         \tfield:__data_loc char[] name;\toffset:26;\tsize:4;\tsigned:0;\n\n\
         print fmt: {print_format}\n"
    )
}

fn payload(pid: i32, state: u64) -> Vec<u8> {
    let mut raw = vec![1, 0];
    raw.extend_from_slice(b"sort\0\0\0\0");
    raw.extend_from_slice(&pid.to_ne_bytes());
    raw.extend_from_slice(&state.to_ne_bytes());
    raw.extend([7_u16, 9].iter().flat_map(|element| element.to_ne_bytes()));
    raw.extend_from_slice(&(5_u32 << 16 | 0x1e).to_ne_bytes());
    raw.extend_from_slice(b"disk\0");
    raw
}

fn printed(print_format: &str, pid: i32, state: u64) -> Option<String> {
    let text = text(print_format);
    let format = PrintFormat::parse(&Format::parse(&text).unwrap())?;
    let mut out = Vec::new();
    format.print(&payload(pid, state), None, &mut out);
    Some(String::from_utf8(out).unwrap())
}

#[track_caller]
fn check(print_format: &str, expected: &str) {
    assert_eq!(printed(print_format, -1, 0x1_0000_0082).as_deref(), Some(expected), "{print_format}");
}

#[test]
fn conversions_are_those_of_printf() {
    check(r#""%d %u %x", REC->pid, REC->pid, REC->pid"#, "-1 4294967295 ffffffff");
    check(
        r#""%ld %lx %#llx %08lx", REC->pid, REC->state, REC->state, 0x82"#,
        "-1 100000082 0x100000082 00000082",
    );
    check(
        r#""%hhd %hu [%6d] [%-6d] [%06d] [%+d]", 255, REC->pid, -7, -7, -7, 7"#,
        "-1 65535 [    -7] [-7    ] [-00007] [+7]",
    );
    check(
        r#""100%% %s [%8s] [%-8s] [%.2s] [%.*s]", "a", REC->comm, REC->comm, REC->comm, 3, REC->comm"#,
        "100% a [    sort] [sort    ] [so] [sor]",
    );
    check(r#""%c %o %p %p %pS", 65, 8, REC->state, 0, REC->state"#, "A 10 0x100000082 (nil) 0x100000082");
    check(r#""two" " parts \"%d\"", 1"#, "two parts \"1\"");
}

#[test]
fn arguments_are_expressions_of_c() {
    check(r#""%d %d %d", 1 + 2 * 3, (1 + 2) * 3, 10 - 4 - 3"#, "7 9 3");
    check(r#""%d %d %d", 1 << 4 | 1, 0x10UL & ~0x10, !0 && 2 > 1 || 0"#, "17 0 1");
    check(r#""%s %s", REC->pid < 0 ? "none" : "some", (REC->state & 1) ? "odd" : "even""#, "none even");
    check(
        r#""%u,%u", ((unsigned int) ((REC->state) >> 20)), ((unsigned int) ((REC->state) & ((1U << 20) - 1)))"#,
        "4096,130",
    );
    check(
        r#""%d %d %llx", (u8)0x1ff, (signed char)0xff, (unsigned long long)REC->state"#,
        "255 -1 100000082",
    );
    check(
        r#""%d %d %s %d", REC->list[0], REC->list[1], __get_str(name), __get_dynamic_array_len(name)"#,
        "7 9 disk 5",
    );
    // An address is no error, which has a negative number.
    check(r#""%d %d", (unsigned long)(void *)(REC->state) >= (unsigned long)-4095, REC->pid < 0"#, "0 1");
    check(r#""%d %d", REC->pid >= -4095, REC->state < -1"#, "1 1");
    // A division by 0 and an element that is not there.
    check(r#""%d %d", 1 / (REC->pid + 1), REC->list[2]"#, "? ?");
}

#[test]
fn bits_and_numbers_have_names() {
    let format = r#""%s", __print_flags(REC->state & 0xff, "|", { 0x1, "S" }, { 0x2, "D" }, {( gfp_t)((1UL) << (7)), "I"}, { 0, ((void *)0) } )"#;
    check(format, "D|I");
    assert_eq!(printed(format, 0, 0x7).unwrap(), "S|D|0x4");
    assert_eq!(printed(format, 0, 0).unwrap(), "");
    let format = r#""%s", __print_symbolic(REC->pid, { -1, "ERROR" }, { 0, "HI" }, { 1, "TIMER" })"#;
    assert_eq!([-1, 1, 7].map(|pid| printed(format, pid, 0).unwrap()), ["ERROR", "TIMER", "0x7"]);
}

#[test]
fn functions_of_the_kernel_have_names() {
    let kallsyms =
        Kallsyms::parse(b"ffff0000 T first\nffff0100 T second\nffff0200 T end\n".to_vec()).unwrap();
    let text = text(r#""%pS [%10ps] %pF %ps %p", 0xffff0010, 0xffff0010, 0xffff0100, 1, 0xffff0010"#);
    let format = PrintFormat::parse(&Format::parse(&text).unwrap()).unwrap();
    assert!(format.has_functions());
    let mut out = Vec::new();
    format.print(&payload(1, 1), Some(&kallsyms), &mut out);
    assert_eq!(String::from_utf8(out).unwrap(), "first+0x10 [     first] second+0x0 0x1 0xffff0010");
}

#[test]
fn format_that_is_not_understood_is_refused() {
    for format in [
        r#""%pI4", REC->state"#,
        r#""%s", __print_hex(REC->list, 4)"#,
        r#""%d", REC->nothing"#,
        r#""%d""#,
        r#""%d", 1, 2"#,
        r#""%y", 1"#,
        r#""%d", 1 +"#,
        r#""%d"#,
        "",
    ] {
        assert_eq!(printed(format, 0, 0), None, "{format}");
    }
    // A constant without its number, which names nothing.
    let format = r#""%s", __print_symbolic(REC->pid, { MODE, "MODE" }, { 1, "ONE" })"#;
    assert_eq!([0, 1].map(|pid| printed(format, pid, 0).unwrap()), ["0x0", "ONE"]);
    let nested = format!(r#""%d", {}1{}"#, "(".repeat(10_000), ")".repeat(10_000));
    assert_eq!(printed(&nested, 0, 0), None);
    assert_eq!(printed(&format!(r#""%d", REC->pid{}"#, " + REC->pid".repeat(10_000)), 0, 0), None);
}

#[test]
fn payload_that_is_truncated_prints_a_question_mark() {
    let text = text(r#""%s %d", REC->comm, REC->pid"#);
    let format = PrintFormat::parse(&Format::parse(&text).unwrap()).unwrap();
    let mut out = Vec::new();
    format.print(&payload(1, 1)[..12], None, &mut out);
    assert_eq!(out, b"sort ?");
}

proptest! {
    #[test]
    fn any_text_and_payload_print_or_are_refused(
        parts in prop::collection::vec(prop::sample::select(vec![
            "\"%d %s\"", ",", "REC->", "comm", "pid", "state", "list[", "]", "(", ")", "unsigned int", "1", "0x", "?", ":", "<<",
            "|", "__print_flags(", "__print_symbolic(", "{", "}", "\"a\"", "-", "/", "%", "*", "\"%*.*s%hhx\"", "__get_str(name)",
        ]), 0..20),
        raw in prop::collection::vec(any::<u8>(), 0..48),
    ) {
        let text = text(&parts.concat());
        if let Some(format) = Format::parse(&text).ok().as_ref().and_then(PrintFormat::parse) {
            format.print(&raw, None, &mut Vec::new());
        }
    }
}
