extern crate std;
use std::format;
use std::string::ToString;
use std::vec::Vec;

use super::super::fixture::{SCHED_SWITCH, sched_switch_payload};
use super::super::{Kind, Place};
use super::*;

fn own(lines: &str) -> std::string::String {
    format!(
        "name: made_up\nID: 7\nformat:\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n{lines}"
    )
}

#[test]
fn sched_switch_is_read_whole() {
    let format = Format::parse(SCHED_SWITCH).unwrap();
    assert_eq!((format.name, format.id), ("sched_switch", 372));
    let names = |fields: Fields<'static>| fields.iter().map(|field| field.name).collect::<Vec<_>>();
    assert_eq!(names(format.common), ["common_type", "common_flags", "common_preempt_count", "common_pid"]);
    assert_eq!(
        names(format.fields),
        ["prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio"]
    );
    assert!(format.print_fmt.starts_with("\"prev_comm=%s"));
    assert!(format.print_fmt.ends_with("REC->next_prio"));
    let comm = format.field("prev_comm").unwrap();
    assert_eq!((comm.type_name, comm.kind, comm.place), ("char", Kind::Text, Place::Fixed));
}

#[test]
fn bound_fields_read_a_payload() {
    let format = Format::parse(SCHED_SWITCH).unwrap();
    let raw = sched_switch_payload();
    assert_eq!(format.text("next_comm").unwrap().read(&raw), Some(&b"cargo"[..]));
    assert_eq!(format.integer("prev_pid").unwrap().read_i64(&raw), Some(27788));
    assert_eq!(format.integer("common_type").unwrap().read_u64(&raw), Some(372));
    assert_eq!(format.integer("prev_pod"), Err(FormatError::NoField { name: Excerpt::of("prev_pod") }));
    assert!(format.integer("prev_comm").is_err() && format.array("prev_pid").is_err());
}

#[test]
fn holes_more_common_fields_and_unknown_headings_are_tolerated() {
    let text = "name: odd\nversion: 3\nID: 7\nformat:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_preempt_lazy_count;\toffset:8;\tsize:1;\tsigned:0;

\tfield:int __syscall_nr;\toffset:12;\tsize:4;\tsigned:1;\tfilter:1;
\tfield: unsigned int fd;\toffset:16;\tsize:8;\tsigned:0;";
    let format = Format::parse(text).unwrap();
    assert_eq!((format.common.iter().count(), format.fields.iter().count()), (2, 2));
    assert_eq!(format.print_fmt, "");
    assert_eq!(format.field("common_preempt_lazy_count").unwrap().offset, 8);
    assert_eq!(Format::parse(&text.replace('\n', "\r\n")).unwrap().fields.iter().count(), 2);
}

#[test]
fn a_tracepoint_may_have_no_fields_of_its_own() {
    let text = own("\nprint fmt: \"%s\", \"\"\n");
    let format = Format::parse(&text).unwrap();
    assert_eq!(format.fields, Fields::default());
    assert_eq!(format.print_fmt, "\"%s\", \"\"");
    assert_eq!(format.display(&[]).to_string(), "");
}

#[test]
fn errors_name_their_line() {
    for (text, message) in [
        ("", "line 1: expected `name:`, `ID:` or `format:`, found nothing"),
        ("name: x\nID: 7\n", "line 3: expected `name:`, `ID:` or `format:`, found nothing"),
        ("name: x\nID: seven\n", "line 2: expected a decimal number below 2^32, found `seven`"),
        ("name: x\nformat:\n", "line 2: expected `ID:` before `format:`, found `format:`"),
        ("ID: 7\nformat:\n", "line 2: expected `name:` before `format:`, found `format:`"),
        ("\tfield:int x;", "line 1: expected `format:` before the first field, found `field:int x;`"),
        (&own("\tfield:int x;\toffset:8;\tsize:4\n"), "line 6: expected `;` after a value, found `size:4`"),
        (
            &own("\tfield:int x;\toffset:8;\tsize:4;\nfeeld\n"),
            "line 7: expected `field:`, `print fmt:` or a blank line, found `feeld`",
        ),
    ] {
        assert_eq!(Format::parse(text).unwrap_err().to_string(), message);
    }
}

#[test]
fn every_cut_of_a_text_is_read_or_refused() {
    for end in 0..SCHED_SWITCH.len() {
        if let Ok(format) = Format::parse(&SCHED_SWITCH[..end]) {
            let raw = sched_switch_payload();
            assert!(!format.display(&raw[..end.min(raw.len())]).to_string().contains('\n'));
        }
    }
}
