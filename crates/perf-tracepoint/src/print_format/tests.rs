//! Tests with a tracepoint that has a field of each kind.

use proptest::prelude::*;

use super::*;

/// Returns a `format` text with a field of each kind.
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
    format.print(&payload(pid, state), &KernelTexts::default(), &mut out);
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
    check(r#""[%c%c] %d %d", REC->pid < 0 ? 'F' : ' ', REC->pid > 0 ? 'S' : ' ', '\n', '\'' "#, "[F ] 10 39");
    // `IS_ERR` is true for negative numbers only, not for addresses.
    check(r#""%d %d", (unsigned long)(void *)(REC->state) >= (unsigned long)-4095, REC->pid < 0"#, "0 1");
    check(r#""%d %d", REC->pid >= -4095, REC->state < -1"#, "1 1");
    // A division by 0 and a missing element.
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

/// Two functions.
struct Functions;

impl KernelNames for Functions {
    fn function(&self, address: u64) -> Option<(&[u8], u64)> {
        match address {
            0xffff_0000..0xffff_0100 => Some((b"first", 0xffff_0000)),
            0xffff_0100..0xffff_0200 => Some((b"second", 0xffff_0100)),
            _ => None,
        }
    }
}

#[test]
fn functions_of_the_kernel_have_names() {
    let text = text(r#""%pS [%10ps] %pF %ps %p", 0xffff0010, 0xffff0010, 0xffff0100, 1, 0xffff0010"#);
    let format = PrintFormat::parse(&Format::parse(&text).unwrap()).unwrap();
    assert!(format.has_functions());
    let mut out = Vec::new();
    format.print(&payload(1, 1), &Functions, &mut out);
    assert_eq!(String::from_utf8(out).unwrap(), "first+0x10 [     first] second+0x0 0x1 0xffff0010");
}

/// A tracepoint with fields whose bytes are printed.
const BYTES: &str = "name: x\nID: 1\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
     \tfield:__u8 saddr[4];\toffset:2;\tsize:4;\tsigned:0;\n\
     \tfield:__u8 saddr_v6[16];\toffset:6;\tsize:16;\tsigned:0;\n\
     \tfield:u32 dest;\toffset:22;\tsize:4;\tsigned:0;\n\
     \tfield:unsigned long nodes[2];\toffset:26;\tsize:16;\tsigned:0;\n\
     \tfield:__data_loc u16[] lengths;\toffset:42;\tsize:4;\tsigned:0;\n\
     \tfield:const char * s;\toffset:46;\tsize:8;\tsigned:0;\n\n";

#[track_caller]
fn check_bytes(print_format: &str, expected: &str) {
    let text = format!("{BYTES}print fmt: {print_format}\n");
    let format = Format::parse(&text).unwrap();
    let format = PrintFormat::parse(&format).expect(print_format);
    let mut raw = vec![1, 0, 192, 168, 1, 2];
    raw.extend([0; 15]);
    raw.push(1);
    raw.extend([10, 0, 0, 9]);
    raw.extend([0b1011_u64, 1].iter().flat_map(|word| word.to_ne_bytes()));
    raw.extend((4_u32 << 16 | 0x36).to_ne_bytes());
    raw.extend(0xffff_ffff_8281_a585_u64.to_ne_bytes());
    raw.extend([7_u16, 0xabc].iter().flat_map(|element| element.to_ne_bytes()));
    let names = KernelTexts::parse(b"0xffffffff8281a585 : \"rcu_preempt\"\n");
    let mut out = Vec::new();
    format.print(&raw, &names, &mut out);
    assert_eq!(String::from_utf8(out).unwrap(), expected, "{print_format}");
}

#[test]
fn bytes_of_the_payload_are_printed_in_the_forms_of_the_kernel() {
    check_bytes(
        r#""%pI4:%u %pI6c [%16pI4] [%-16pI4]", REC->saddr, 80, REC->saddr_v6, REC->saddr, &REC->dest"#,
        "192.168.1.2:80 ::1 [     192.168.1.2] [10.0.0.9        ]",
    );
    check_bytes(r#""%pI4 %pI4", (void *)(REC->saddr), ((u8 *)&REC->dest)"#, "192.168.1.2 10.0.0.9");
    check_bytes(
        r#""%*pbl %*pbl|%4phN", 66, REC->nodes, 2 * 1, REC->nodes, REC->saddr"#,
        "0-1,3,64 0-1|c0a80102",
    );
    check_bytes(
        r#""%s %s %s", __print_hex(REC->saddr, 3), __print_hex_str(REC->saddr, 2 + 2), __print_array(__get_dynamic_array(lengths), __get_dynamic_array_len(lengths) / sizeof(u16), sizeof(u16))"#,
        "c0 a8 01 c0a80102 {0x7,0xabc}",
    );
    check_bytes(r#""%s", __get_bitmask(nodes)"#, "00000000,00000001,00000000,0000000b");
    // Longer than the field.
    check_bytes(r#""%s %s", __print_hex(REC->saddr, 5), __print_array(REC->saddr, 1, 8)"#, "? ?");
}

#[test]
fn texts_of_the_kernel_are_found_by_their_address() {
    check_bytes(
        r#""%s [%12s] [%.3s] [%-12s]", REC->s, REC->s, REC->s, REC->s"#,
        "rcu_preempt [ rcu_preempt] [rcu] [rcu_preempt ]",
    );
    check_bytes(
        r#""%s %s %s", REC->dest ? REC->s : "none", (char *)0, REC->s + 1"#,
        "rcu_preempt (null) 0xffffffff8281a586",
    );
    for (print_format, has_texts) in
        [(r#""%s", REC->s"#, true), (r#""%p", REC->s"#, false), (r#""%s %d", "a", REC->dest"#, false)]
    {
        let text = format!("{BYTES}print fmt: {print_format}\n");
        let format = Format::parse(&text).unwrap();
        assert_eq!(PrintFormat::parse(&format).unwrap().has_texts(), has_texts, "{print_format}");
    }
}

#[test]
fn format_that_is_not_understood_is_refused() {
    for format in [
        // The targets of these pointers are outside the payload.
        r#""%pI4", REC->state"#,
        r#""%pI4", 5"#,
        r#""%pd", REC->list"#,
        r#""%pI4"#,
        r#""%s", __print_hex(REC->pid, 4)"#,
        r#""%s", __print_array(REC->list, 2, REC->pid)"#,
        r#""%d", sizeof(nothing)"#,
        r#""%d", REC->list"#,
        r#""%c", 'ab'"#,
        r#""%c", 'a"#,
        r#""%c", '"#,
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
    // A constant without its number must not match.
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
    format.print(&payload(1, 1)[..12], &KernelTexts::default(), &mut out);
    assert_eq!(out, b"sort ?");
}

proptest! {
    #[test]
    fn any_text_and_payload_print_or_are_refused(
        parts in prop::collection::vec(prop::sample::select(vec![
            "\"%d %s\"", ",", "REC->", "comm", "pid", "state", "list[", "]", "(", ")", "unsigned int", "1", "0x", "?", ":", "<<",
            "|", "__print_flags(", "__print_symbolic(", "{", "}", "\"a\"", "-", "/", "%", "*", "\"%*.*s%hhx\"", "__get_str(name)",
            "\"%pI4%pISpc\"", "\"%*pbl%pU\"", "__print_hex(", "__print_array(", "&", "sizeof(u16)", "__get_dynamic_array(name)",
        ]), 0..20),
        raw in prop::collection::vec(any::<u8>(), 0..48),
    ) {
        let text = text(&parts.concat());
        if let Some(format) = Format::parse(&text).ok().as_ref().and_then(PrintFormat::parse) {
            format.print(&raw, &KernelTexts::default(), &mut Vec::new());
        }
    }
}
