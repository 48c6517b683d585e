//! A whole `format` text: heading, common fields, own fields, print format.

use core::fmt;

use perf_decode::{Layout, Record};

use super::error::Unexpected;
use super::fields::Lines;
use super::line::{number, split_once};
use super::{ArrayField, Excerpt, Field, Fields, FormatError, IntegerField, Payload, TextField};

/// The layout of one tracepoint. Holding one proves that each of its field lines parses.
///
/// Borrows the text it was parsed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Format<'t> {
    /// Name of the tracepoint, without its system.
    pub name: &'t str,
    /// The value of `perf_event_attr.config`, and of `common_type` in a payload. Valid for this
    /// boot, and for tracepoints of a module until the module is unloaded.
    #[doc(alias = "common_type")]
    pub id: u32,
    /// The fields that every tracepoint begins with: `common_type`, `common_flags`,
    /// `common_preempt_count`, `common_pid`, and those that a patched kernel adds. `common_pid` is
    /// the thread's id in the initial pid namespace.
    pub common: Fields<'t>,
    /// The tracepoint's own fields.
    pub fields: Fields<'t>,
    /// The C format string and the arguments with which the kernel prints a payload, uninterpreted.
    /// May contain line feeds. Empty if the text has no `print fmt`.
    #[doc(alias = "print fmt")]
    pub print_fmt: &'t str,
}

impl<'t> Format<'t> {
    /// Parses the content of `events/SYSTEM/NAME/format`, in one pass.
    ///
    /// # Errors
    ///
    /// [`FormatError::Syntax`] at the first line that departs from the grammar.
    pub fn parse(text: &'t str) -> Result<Self, FormatError> {
        let mut lines = Lines::new(text);
        let (name, id) = heading(&mut lines)?;
        let common = Fields::block(&mut lines)?;
        let fields = Fields::block(&mut lines)?;
        lines.skip_blank();
        let print_fmt = match lines.peek() {
            None => "",
            // To the end of the text, because some format strings have line feeds.
            Some(line) => {
                lines.rest().trim_ascii().strip_prefix("print fmt:").map(str::trim_ascii).ok_or_else(
                    || {
                        Unexpected { expected: "`field:`, `print fmt:` or a blank line", found: line }
                            .at(lines.number())
                    },
                )?
            }
        };
        Ok(Self { name, id, common, fields, print_fmt })
    }

    /// Returns the field of this name: the tracepoint's own, or else the common one.
    ///
    /// Scans the text, so bind fields once and not for every sample.
    pub fn field(&self, name: &str) -> Option<Field<'t>> {
        self.fields.get(name).or_else(|| self.common.get(name))
    }

    /// Binds the field of this name as an integer.
    ///
    /// # Errors
    ///
    /// [`FormatError::NoField`] if the field is missing, and [`FormatError::Mismatch`] if it is
    /// text, an array or opaque.
    pub fn integer(&self, name: &str) -> Result<IntegerField, FormatError> {
        self.require(name)?.integer()
    }

    /// Binds the field of this name as text.
    ///
    /// # Errors
    ///
    /// [`FormatError::NoField`] if the field is missing, and [`FormatError::Mismatch`] if it is
    /// not an array of bytes.
    pub fn text(&self, name: &str) -> Result<TextField, FormatError> {
        self.require(name)?.text()
    }

    /// Binds the field of this name as an array of integers.
    ///
    /// # Errors
    ///
    /// [`FormatError::NoField`] if the field is missing, and [`FormatError::Mismatch`] if it is
    /// not an array, or the size of its elements is unknown.
    pub fn array(&self, name: &str) -> Result<ArrayField, FormatError> {
        self.require(name)?.array()
    }

    /// Returns a value that prints a payload as `name=value name=value`, without the common fields.
    pub fn display<'a>(&self, raw: &'a [u8]) -> Payload<'t, 'a> {
        Payload { fields: self.fields, raw }
    }

    /// Returns a value that prints a record as its [`Display`](fmt::Display) does, but the RAW data
    /// of a sample as the fields of the tracepoint: `prev_pid=7 next_pid=8` instead of
    /// `raw=2501000007...`.
    ///
    /// The record must come from an event whose `config` is the [`id`](Self::id).
    pub fn display_record<'r, L: Layout>(&'r self, record: &'r Record<'_, L>) -> impl fmt::Display + 'r {
        use perf_decode::{Field, Value};
        record.display_with(|field, f| match field {
            Field { name: "raw", value: Value::Bytes(raw) } => write!(f, "{}", self.display(raw)),
            field => write!(f, "{field}"),
        })
    }

    fn require(&self, name: &str) -> Result<Field<'t>, FormatError> {
        self.field(name).ok_or_else(|| FormatError::NoField { name: Excerpt::new(name) })
    }
}

/// Takes the lines up to `format:` inclusive and returns name and id. Unknown keys are skipped.
fn heading<'t>(lines: &mut Lines<'t>) -> Result<(&'t str, u32), FormatError> {
    let (mut name, mut id) = ("", None);
    loop {
        lines.skip_blank();
        let line = lines.peek().unwrap_or_default();
        let error = |expected| Unexpected { expected, found: line }.at(lines.number());
        let (key, value) = split_once(line, b':').ok_or_else(|| error("`name:`, `ID:` or `format:`"))?;
        match key.trim_ascii() {
            "name" => name = value.trim_ascii(),
            "ID" => id = Some(number(value).map_err(|error| error.at(lines.number()))?),
            "field" => return Err(error("`format:` before the first field")),
            "format" if name.is_empty() => return Err(error("`name:` before `format:`")),
            "format" => {
                let id = id.ok_or_else(|| error("`ID:` before `format:`"))?;
                lines.advance();
                return Ok((name, id));
            }
            _ => {}
        }
        lines.advance();
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::{Attr, Misc, RecordType, SampleType};
    use perf_decode::testing::builder::RecordBuilder;
    use perf_decode::{RawRecord, SampleLayout};

    use super::*;

    /// `sched_switch` of Linux 6.18, x86-64.
    const SCHED_SWITCH: &str = "name: sched_switch
ID: 372
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;
\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;
\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;
\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;
\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;

print fmt: \"prev_comm=%s prev_pid=%d next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->next_prio
";

    /// Returns a switch from `thr` to `cargo`, with the 4 bytes of padding that RAW adds.
    fn sched_switch_payload() -> Vec<u8> {
        let mut raw = vec![0; 68];
        raw[..2].copy_from_slice(&372u16.to_ne_bytes()); // common_type
        raw[4..8].copy_from_slice(&27788i32.to_ne_bytes()); // common_pid
        raw[8..11].copy_from_slice(b"thr"); // prev_comm
        raw[24..28].copy_from_slice(&27788i32.to_ne_bytes()); // prev_pid
        raw[28..32].copy_from_slice(&120i32.to_ne_bytes()); // prev_prio
        raw[32..40].copy_from_slice(&(-1i64).to_ne_bytes()); // prev_state
        raw[40..45].copy_from_slice(b"cargo"); // next_comm
        raw[56..60].copy_from_slice(&27790i32.to_ne_bytes()); // next_pid
        raw[60..64].copy_from_slice(&139i32.to_ne_bytes()); // next_prio
        raw
    }

    /// Returns a text with these lines after the common fields; the first is line 6.
    fn with_lines(lines: &str) -> String {
        let head =
            "name: made_up\nID: 7\nformat:\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";
        format!("{head}{lines}")
    }

    #[test]
    fn sched_switch_is_parsed_whole() {
        let format = Format::parse(SCHED_SWITCH).unwrap();
        assert_eq!((format.name, format.id), ("sched_switch", 372));
        let names = |fields: Fields<'static>| fields.iter().map(|field| field.name).collect::<Vec<_>>();
        assert_eq!(
            names(format.common),
            ["common_type", "common_flags", "common_preempt_count", "common_pid"]
        );
        assert_eq!(
            names(format.fields),
            ["prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio"]
        );
        assert!(format.print_fmt.starts_with("\"prev_comm=%s"));
        assert!(format.print_fmt.ends_with("REC->next_prio"));
    }

    #[test]
    fn bound_fields_read_a_payload() {
        let format = Format::parse(SCHED_SWITCH).unwrap();
        let raw = sched_switch_payload();
        assert_eq!(format.text("next_comm").unwrap().read(&raw), Some(&b"cargo"[..]));
        assert_eq!(format.integer("prev_pid").unwrap().read_i64(&raw), Some(27788));
        assert_eq!(format.integer("common_type").unwrap().read_u64(&raw), Some(372));
        assert!(format.integer("prev_comm").is_err() && format.array("prev_pid").is_err());
        let no_field = FormatError::NoField { name: Excerpt::new("prev_pod") };
        assert_eq!(format.integer("prev_pod"), Err(no_field));
        assert_eq!(format.text("prev_pod"), Err(no_field));
        assert_eq!(format.array("prev_pod"), Err(no_field));
    }

    #[test]
    fn arrays_are_bound_by_name() {
        let text = with_lines("\tfield:u16 x[2];\toffset:8;\tsize:4;\tsigned:0;\n");
        let array = Format::parse(&text).unwrap().array("x").unwrap();
        assert!(array.read(&[0xff; 12]).unwrap().eq([0xffff, 0xffff]));
    }

    #[test]
    fn a_truncated_payload_prints_its_whole_fields() {
        let format = Format::parse(SCHED_SWITCH).unwrap();
        assert_eq!(
            format.display(&sched_switch_payload()[..60]).to_string(),
            "prev_comm=thr prev_pid=27788 prev_prio=120 prev_state=-1 next_comm=cargo next_pid=27790 next_prio=?"
        );
    }

    #[test]
    fn own_fields_hide_common_fields_of_the_same_name() {
        let text = with_lines("\tfield:int common_pid;\toffset:8;\tsize:4;\tsigned:1;\n");
        let format = Format::parse(&text).unwrap();
        assert_eq!(format.field("common_pid").unwrap().offset, 8);
        assert_eq!(format.common.get("common_pid").unwrap().offset, 4);
        let pid = format.integer("common_pid").unwrap();
        let raw: Vec<u8> = [1i32, 2, 3].iter().flat_map(|number| number.to_ne_bytes()).collect();
        assert_eq!(pid.read_i64(&raw), Some(3));
    }

    #[test]
    fn holes_more_common_fields_and_unknown_keys_are_tolerated() {
        let text = "name: odd\nversion: 3\n\nID: 7\nformat:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_preempt_lazy_count;\toffset:8;\tsize:1;\tsigned:0;

\tfield:int __syscall_nr;\toffset:12;\tsize:4;\tsigned:1;\tfilter:1;
\tfield: unsigned int fd;\toffset:16;\tsize:8;\tsigned:0;";
        let format = Format::parse(text).unwrap();
        assert_eq!((format.common.iter().count(), format.fields.iter().count()), (2, 2));
        assert_eq!(format.print_fmt, "");
        assert_eq!(format.field("common_preempt_lazy_count").unwrap().offset, 8);
        let text = text.replace('\n', "\r\n");
        assert_eq!(Format::parse(&text).unwrap().fields.iter().count(), 2);
    }

    #[test]
    fn a_tracepoint_may_have_common_fields_only() {
        let text = with_lines("\n print fmt: \"%s\", \"\" \r\n");
        let format = Format::parse(&text).unwrap();
        assert_eq!(format.fields, Fields::default());
        assert_eq!(format.print_fmt, "\"%s\", \"\"");
        assert_eq!(format.display(&[]).to_string(), "");
    }

    #[test]
    fn print_format_with_line_feeds_is_kept_whole() {
        let text = with_lines("\nprint fmt: \"two\nlines %d\n\", REC->common_pid\n");
        assert_eq!(Format::parse(&text).unwrap().print_fmt, "\"two\nlines %d\n\", REC->common_pid");
    }

    #[test]
    fn errors_name_their_line() {
        let long = "x".repeat(60);
        for (text, message) in [
            ("", "line 1: expected `name:`, `ID:` or `format:`, found nothing"),
            ("name: x\nID: 7\n", "line 3: expected `name:`, `ID:` or `format:`, found nothing"),
            ("name: x\nID: seven\n", "line 2: expected a decimal number below 2^32, found `seven`"),
            ("name: x\nID: 0x7\n", "line 2: expected a decimal number below 2^32, found `0x7`"),
            ("name: x\nformat:\n", "line 2: expected `ID:` before `format:`, found `format:`"),
            ("ID: 7\nformat:\n", "line 2: expected `name:` before `format:`, found `format:`"),
            ("\tfield:int x;", "line 1: expected `format:` before the first field, found `field:int x;`"),
            (
                &with_lines("\tfield:int x;\toffset:8;\tsize:4\n"),
                "line 6: expected `;` after a value, found `size:4`",
            ),
            (
                &with_lines("\tfield:int x;\toffset:8;\tsize:4;\nfeeld\n"),
                "line 7: expected `field:`, `print fmt:` or a blank line, found `feeld`",
            ),
            (
                &with_lines(&long),
                &format!("line 6: expected `field:`, `print fmt:` or a blank line, found `{}`", &long[..47]),
            ),
        ] {
            assert_eq!(Format::parse(text).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn every_prefix_of_a_text_parses_or_is_an_error() {
        for end in 0..SCHED_SWITCH.len() {
            if let Ok(format) = Format::parse(&SCHED_SWITCH[..end]) {
                let raw = sched_switch_payload();
                assert!(!format.display(&raw[..end.min(raw.len())]).to_string().contains('\n'));
            }
        }
    }

    #[test]
    fn sample_of_a_tracepoint_prints_its_fields_in_place_of_its_bytes() {
        const FORMAT: &str = "name: sys_enter_close
ID: 7
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;

\tfield:int fd;\toffset:4;\tsize:4;\tsigned:1;
";
        let wanted = SampleType::TID | SampleType::RAW | SampleType::CGROUP;
        let layout = SampleLayout::new(&Attr::tracepoint(7).with_sample_type(wanted));
        let mut raw = [0; 12];
        raw[4..8].copy_from_slice(&(-3_i32).to_ne_bytes());
        let words = RecordBuilder::new(RecordType::SAMPLE, Misc::empty())
            .pair(7, 8) //            pid, tid
            .bytes(&[&12_u32.to_ne_bytes()[..], &raw].concat())
            .u64(99) //               cgroup
            .finish();
        let record = RawRecord::from_words(&words).unwrap().decode(&layout).unwrap();
        let format = Format::parse(FORMAT).unwrap();
        let line = format.display_record(&record).to_string();
        assert_eq!(line, "SAMPLE pid=7 tid=8 fd=-3 cgroup=99");
        assert!(record.to_string().contains(" raw=00000000"), "{record}");
    }
}
