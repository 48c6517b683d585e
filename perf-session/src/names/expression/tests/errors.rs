use super::*;
use crate::names::expression::error::Problem;
use crate::system::FileError;

/// Asserts the message without its first line's end, and that the caret is under the same character.
#[track_caller]
fn fails(text: &str, offset: usize, message: &str) {
    let error = text.parse::<Expression>().expect_err(text);
    assert_eq!(error.offset(), offset, "{error}");
    assert!(error.to_string().starts_with(message), "{error}");
    assert_eq!(error.text(), text);
}

#[test]
fn errors_are_at_the_character() {
    fails("", 0, "expected an event, found the end");
    fails("cycles,,cs", 7, "expected an event, found `,`");
    fails("cycles cs", 7, "expected `,` or the end, found `c`");
    fails("{cycles,cs", 10, "expected `,` or the closing `}` of the group, found the end");
    fails("{}", 1, "expected an event, found `}`");
    fails("{{cs}}", 1, "expected an event, found `{`");
    fails("cpu/event=/", 10, "expected the value of the term, found `/`");
    fails("cpu/event=1", 11, "expected `,`, `=` or the closing `/` of the terms, found the end");
    fails("cpu/,/", 4, "expected the name of a term, found `,`");
    fails("cpu/name='x/", 12, "expected the closing `'` of the value, found the end");
    fails("mem:", 4, "expected the address of a breakpoint, found the end");
    fails("mem:0x", 4, "expected the address of a breakpoint, found `0x`");
    fails("mem:1/", 6, "expected the name of a term, found the end");
    fails("mem:1/0x", 6, "expected the length of a breakpoint in bytes, found `0x`");
    fails("mem:1:rr", 6, "expected accesses");
    fails("uprobe:", 7, "expected the absolute path of a program or library, found the end");
    fails("uprobe:libc:f", 7, "expected the absolute path of a program or library, found `l`");
    fails("uprobe:/lib/c", 13, "expected `:` and a function of the file, found the end");
    fails("uprobe:/lib/c:", 14, "expected a function, or a number of bytes from the start of the file");
    fails("kprobe:", 7, "expected a function or an address of the kernel, found the end");
    fails("kprobe:f+x", 9, "expected a number of bytes, found `x`");
    fails("tracepoint:sched", 16, "expected `:` and the name of the tracepoint, found the end");
    fails("r12345678123456781", 0, "expected a raw event of at most 16 hexadecimal digits");
    fails("4294967296:1", 0, "expected a type of at most 32 bits");
    fails("1:99999999999999999999", 2, "expected a number of at most 64 bits");
    fails("cs,12", 3, "expected an event; one that starts with a number is TYPE:CONFIG, found `12`");
    fails("cycles:uu", 7, "expected modifiers");
    fails("cpu/event=1/xyz", 12, "expected modifiers");
    fails("cpu/event=1/:u", 12, "expected `,` or the end, found `:`");
    fails("cycles:switch", 7, "expected modifiers");
    fails("{cs}:", 5, "expected modifiers, found the end");
}

#[test]
fn caret_is_below_the_wrong_character() {
    let error = "cs,µ".parse::<Expression>().unwrap_err();
    assert_eq!(error.to_string(), "expected an event, found `µ`\n  cs,µ\n     ^");
    assert_eq!((error.found(), error.span()), ("µ", Span { start: 3, end: 5 }));
    assert!(error.nearest().is_empty() && error.file_error().is_none());
}

#[test]
fn long_strings_are_shown_around_the_character() {
    let text = format!("{}!{}", "cs,".repeat(1000), "x".repeat(1000));
    let error = format!("{text}+").parse::<Expression>().unwrap_err();
    let lines: Vec<String> = error.to_string().lines().map(str::to_owned).collect();
    assert_eq!(lines[0], "expected `,` or the end, found `+`");
    assert_eq!(lines[1].trim(), format!("{}+", "x".repeat(50)));
    assert_eq!(lines[2].find('^'), Some(52));
}

#[test]
fn control_characters_are_not_printed() {
    let error = "cs,\u{1b}[2J".parse::<Expression>().unwrap_err();
    assert!(error.to_string().chars().all(|c| c == '\n' || !c.is_control()));
}

#[test]
fn parts_of_an_error_can_be_asked_for() {
    let grammar = "cs,".parse::<Expression>().unwrap_err();
    assert_eq!(grammar.expected(), Some("an event"));
    let span = Span { start: 0, end: 6 };
    let unknown = ParseError::new("cyclse", span, Problem::Unknown("event"));
    let unknown = unknown.with_nearest(vec!["cycles".to_owned(), "cycle".to_owned()]);
    assert_eq!(
        (unknown.expected(), unknown.nearest()),
        (None, &["cycles".to_owned(), "cycle".to_owned()][..])
    );
    assert_eq!(unknown.message(), "unknown event `cyclse`, the nearest names are cycles, cycle");
    let error = FileError::malformed("/sys/x".into(), "a number", "zwei");
    let file = ParseError::new("cyclse", span, Problem::File(error));
    assert_eq!(file.file_error().map(FileError::path), Some(std::path::Path::new("/sys/x")));
    assert!(file.message().starts_with("`cyclse`: "), "{file}");
}
