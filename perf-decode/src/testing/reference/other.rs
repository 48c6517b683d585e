//! All kinds but SAMPLE: a body and, with `sample_id_all`, a trailer.

use alloc::{format, vec::Vec};
use perf_abi::{Attr, AttrFlags, Misc, ReadFormat, RecordType, SampleType};

use super::cursor::{Cursor, refuse};
use super::parts::read_values;
use super::sample::known;
use super::{Fields, Refusal, Value};

/// Decodes a record. Returns the fields of the body, the fields of the trailer, and the number of
/// trailing bytes.
pub(super) fn decode(
    kind: RecordType,
    misc: u16,
    mut whole: Cursor<'_>,
    attr: &Attr,
) -> Result<(Fields, Fields, usize), Refusal> {
    let has_trailer = attr.flags.contains(AttrFlags::SAMPLE_ID_ALL);
    let trailer_length = if has_trailer { trailer_length(attr) } else { 0 };
    if trailer_length > 0 {
        known("sample_type", attr.sample_type.difference(SampleType::KNOWN).bits())?;
    }
    if kind == RecordType::READ {
        known("read_format", attr.read_format.difference(ReadFormat::KNOWN).bits())?;
    }
    let bytes = whole.remaining();
    let Some(body_length) = bytes.len().checked_sub(trailer_length) else {
        return refuse("trailer", format!("{trailer_length} bytes expected, {} remain", bytes.len()));
    };
    let body = whole.take("body", body_length as u64, 1)?;
    let mut body = whole.with(body);
    decode_body(kind, misc, &mut body, attr)?;
    let mut trailer = whole;
    if matches!(kind, RecordType::KSYMBOL | RecordType::BPF_EVENT | RecordType::TEXT_POKE) {
        // Kernels before 7.3 write second and later copies of these records that are too long.
        let read = body_length - body.remaining().len();
        trailer = trailer.with(bytes);
        trailer.take("body", read.next_multiple_of(8) as u64, 1)?;
    }
    let mut trailing = body.remaining().len();
    if has_trailer {
        decode_trailer(&mut trailer, attr)?;
    }
    if matches!(kind, RecordType::KSYMBOL | RecordType::BPF_EVENT | RecordType::TEXT_POKE) {
        trailing = trailer.remaining().len();
    }
    Ok((body.into_fields(), trailer.into_fields(), trailing))
}

/// Returns the length of the trailer in bytes: 8 for each field.
fn trailer_length(attr: &Attr) -> usize {
    let bits = [
        SampleType::TID,
        SampleType::TIME,
        SampleType::ID,
        SampleType::STREAM_ID,
        SampleType::CPU,
        SampleType::IDENTIFIER,
    ];
    8 * bits.into_iter().filter(|bit| attr.sample_type.contains(*bit)).count()
}

fn decode_trailer(c: &mut Cursor<'_>, attr: &Attr) -> Result<(), Refusal> {
    let has = |bit: SampleType| attr.sample_type.contains(bit);
    if has(SampleType::TID) {
        c.u32("pid")?;
        c.u32("tid")?;
    }
    if has(SampleType::TIME) {
        c.u64("time")?;
    }
    if has(SampleType::ID) {
        c.u64("id")?;
    }
    if has(SampleType::STREAM_ID) {
        c.u64("stream_id")?;
    }
    if has(SampleType::CPU) {
        c.u32("cpu")?;
        c.read_u32("cpu")?;
    }
    if has(SampleType::IDENTIFIER) {
        c.u64("identifier")?;
    }
    Ok(())
}

fn decode_body(kind: RecordType, misc: u16, c: &mut Cursor<'_>, attr: &Attr) -> Result<(), Refusal> {
    match kind {
        RecordType::MMAP => {
            u32s(c, &["pid", "tid"])?;
            u64s(c, &["addr", "len", "pgoff"])?;
            c.string("filename")
        }
        RecordType::LOST => u64s(c, &["id", "lost"]),
        RecordType::COMM => {
            u32s(c, &["pid", "tid"])?;
            c.string("comm")
        }
        RecordType::EXIT | RecordType::FORK => {
            u32s(c, &["pid", "ppid", "tid", "ptid"])?;
            u64s(c, &["time"])
        }
        RecordType::THROTTLE | RecordType::UNTHROTTLE => u64s(c, &["time", "id", "stream_id"]),
        RecordType::READ => {
            u32s(c, &["pid", "tid"])?;
            let values = read_values(c, attr.read_format)?;
            c.keep("read", values);
            Ok(())
        }
        RecordType::MMAP2 => {
            u32s(c, &["pid", "tid"])?;
            u64s(c, &["addr", "len", "pgoff"])?;
            // Kernels before 7.3 can set the bit for an event that did not ask for build ids.
            let by_build_id = Misc::from_bits_retain(misc).contains(Misc::MMAP_BUILD_ID)
                && attr.flags.contains(AttrFlags::BUILD_ID);
            if by_build_id {
                build_id(c)?;
            } else {
                u32s(c, &["maj", "min"])?;
                u64s(c, &["ino", "ino_generation"])?;
            }
            u32s(c, &["prot", "flags"])?;
            c.string("filename")
        }
        RecordType::AUX => u64s(c, &["aux_offset", "aux_size", "flags"]),
        RecordType::ITRACE_START => u32s(c, &["pid", "tid"]),
        RecordType::LOST_SAMPLES => u64s(c, &["lost"]),
        RecordType::SWITCH_CPU_WIDE => u32s(c, &["next_prev_pid", "next_prev_tid"]),
        RecordType::NAMESPACES => {
            u32s(c, &["pid", "tid"])?;
            let nr = c.read_u64("namespaces")?;
            let mut namespaces = Vec::new();
            for _ in 0..nr {
                let dev = c.read_u64("namespaces")?;
                let ino = c.read_u64("namespaces")?;
                namespaces.push(Value::map(alloc::vec![("dev", dev.into()), ("ino", ino.into())]));
            }
            c.keep("namespaces", Value::List(namespaces));
            Ok(())
        }
        RecordType::KSYMBOL => {
            c.u64("addr")?;
            c.u32("len")?;
            c.u16("ksym_type")?;
            c.u16("flags")?;
            c.string("name")
        }
        RecordType::BPF_EVENT => {
            c.u16("bpf_type")?;
            c.u16("flags")?;
            c.u32("id")?;
            let tag = c.take("tag", 8, 1)?;
            c.keep("tag", tag);
            Ok(())
        }
        RecordType::CGROUP => {
            c.u64("id")?;
            c.string("path")
        }
        RecordType::TEXT_POKE => {
            c.u64("addr")?;
            let old = c.u16("old_len")?;
            let new = c.u16("new_len")?;
            let bytes = c.take("bytes", u64::from(old) + u64::from(new), 1)?;
            c.keep("bytes", bytes);
            Ok(())
        }
        RecordType::AUX_OUTPUT_HW_ID => u64s(c, &["hw_id"]),
        RecordType::CALLCHAIN_DEFERRED => {
            c.u64("cookie")?;
            let nr = c.read_u64("ips")?;
            let ips = c.read_words("ips", nr)?;
            c.keep("ips", Value::numbers(ips));
            Ok(())
        }
        // No body: the direction is in `misc`, the task in the trailer.
        RecordType::SWITCH => Ok(()),
        _ => refuse("type", format!("kind {} has no arm in the naive decoder", kind.0)),
    }
}

/// Decodes a build id: a length byte, three zero bytes, and 20 bytes that start with `length` bytes
/// of id.
fn build_id(c: &mut Cursor<'_>) -> Result<(), Refusal> {
    let length = c.read_u8("build_id")?;
    c.take("build_id", 3, 1)?;
    let field = c.take("build_id", 20, 1)?;
    let mut field = c.with(field);
    let id = field.take("build_id", length.into(), 1)?;
    c.keep("build_id", id);
    Ok(())
}

fn u32s(c: &mut Cursor<'_>, names: &[&'static str]) -> Result<(), Refusal> {
    names.iter().try_for_each(|name| c.u32(name).map(drop))
}

fn u64s(c: &mut Cursor<'_>, names: &[&'static str]) -> Result<(), Refusal> {
    names.iter().try_for_each(|name| c.u64(name).map(drop))
}
