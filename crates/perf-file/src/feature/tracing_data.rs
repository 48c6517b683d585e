//! The formats of tracepoints in a recording.

use crate::bytes::Bytes;
use crate::error::Result;
use crate::list::{CountedBytes, List, Read, fields};
use crate::order::ByteOrder;
#[cfg(any(test, feature = "std"))]
use crate::{encoder::Encoder, list::Write};

/// The descriptions of tracepoints by tracefs, from
/// [`Feature::TRACING_DATA`](crate::format::Feature::TRACING_DATA), or from the data that follows a
/// record [`HEADER_TRACING_DATA`](crate::format::record_type::HEADER_TRACING_DATA).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracingData<'a> {
    /// Version, such as `0.6`.
    pub version: &'a [u8],
    /// Byte order of the machine that recorded. The writer writes the section in the machine's
    /// order.
    pub order: ByteOrder,
    /// Bytes of a `long` of its kernel.
    pub long_size: u8,
    /// Bytes of its pages.
    pub page_size: u32,
    /// The file `events/header_page`.
    pub header_page: &'a [u8],
    /// The file `events/header_event`.
    pub header_event: &'a [u8],
    /// The formats of `events/ftrace`.
    pub ftrace: List<'a, FormatText<'a>>,
    /// The formats of the recorded tracepoints, by system.
    pub systems: List<'a, TraceSystem<'a>>,
    /// Kernel symbols; empty in new files.
    pub kallsyms: &'a [u8],
    /// The file `printk_formats`.
    pub printk_formats: &'a [u8],
    /// The file `saved_cmdlines`; empty before version 0.6.
    pub saved_cmdlines: &'a [u8],
}

/// The text of a file `format`, for
/// [`tracepoint::Format`](crate::tracepoint::Format).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatText<'a>(pub &'a [u8]);

fields! {
    /// The tracepoints of a system.
    pub struct TraceSystem<'a> {
        /// Name, such as `sched`.
        pub name: &'a [u8] = "name of a system" in CString,
        /// The `format` files of its tracepoints.
        pub formats: List<'a, FormatText<'a>> = "formats of a system",
    }
}

/// The magic number at the start.
const MAGIC: [u8; 10] = *b"\x17\x08\x44tracing";

impl<'a> TracingData<'a> {
    /// Parses tracing data that starts at `offset` in the file.
    ///
    /// # Errors
    ///
    /// [`Reason::Truncated`](crate::Reason::Truncated),
    /// [`Reason::Unsupported`](crate::Reason::Unsupported) if the data does not start as tracing
    /// data does.
    pub fn parse(bytes: &'a [u8], offset: u64) -> Result<Self> {
        let mut start = Bytes::new(bytes, ByteOrder::Little, offset);
        let magic: [u8; 10] = start.array("start of tracing data")?;
        if magic != MAGIC {
            return Err(start.unsupported("start of tracing data", magic[0].into()));
        }
        let version = start.c_string("version")?;
        let order = match start.u8("byte order")? {
            0 => ByteOrder::Little,
            1 => ByteOrder::Big,
            order => return Err(start.unsupported("byte order", order.into())),
        };
        // The following data has the byte order of the mark, which can differ from the file's.
        let mut data = Bytes::new(start.rest(), order, start.offset());
        let (long_size, page_size) = (data.u8("size of a long")?, data.u32("size of a page")?);
        data.c_string("name of header_page")?;
        let header_page = text(&mut data, "header_page")?;
        data.c_string("name of header_event")?;
        let header_event = text(&mut data, "header_event")?;
        let ftrace = List::read(&mut data, "formats of ftrace")?;
        let systems = List::read(&mut data, "systems")?;
        let kallsyms = CountedBytes::read(&mut data, "kallsyms")?;
        let printk_formats = CountedBytes::read(&mut data, "printk_formats")?;
        // Added by version 0.6.
        let saved_cmdlines = if data.is_empty() { &[] } else { text(&mut data, "saved_cmdlines")? };
        Ok(Self {
            version,
            order,
            long_size,
            page_size,
            header_page,
            header_event,
            ftrace,
            systems,
            kallsyms,
            printk_formats,
            saved_cmdlines,
        })
    }
}

impl<'a> Read<'a> for TracingData<'a> {
    fn read(bytes: &mut Bytes<'a>, _: &'static str) -> Result<Self> {
        Self::parse(bytes.rest(), bytes.offset())
    }
}

#[cfg(any(test, feature = "std"))]
impl Write for TracingData<'_> {
    fn write(&self, out: &mut Encoder) {
        let is_big = u8::from(out.order == ByteOrder::Big);
        out.bytes(&MAGIC).bytes(self.version).u8(0).u8(is_big);
        out.u8(self.long_size).u32(self.page_size);
        out.bytes(b"header_page\0");
        FormatText(self.header_page).write(out);
        out.bytes(b"header_event\0");
        FormatText(self.header_event).write(out);
        self.ftrace.write(out);
        self.systems.write(out);
        CountedBytes::write(self.kallsyms, out);
        CountedBytes::write(self.printk_formats, out);
        FormatText(self.saved_cmdlines).write(out);
    }
}

/// Takes a text after its length.
fn text<'a>(data: &mut Bytes<'a>, what: &'static str) -> Result<&'a [u8]> {
    let len = data.u64(what)?;
    data.take(len, what)
}

impl<'a> Read<'a> for FormatText<'a> {
    fn read(bytes: &mut Bytes<'a>, _: &'static str) -> Result<Self> {
        text(bytes, "format").map(Self)
    }
}

#[cfg(any(test, feature = "std"))]
impl Write for FormatText<'_> {
    fn write(&self, out: &mut Encoder) {
        out.u64(self.0.len() as u64).bytes(self.0);
    }
}

/// The form of a text that ends with a NUL.
struct CString;

impl CString {
    fn read<'a>(bytes: &mut Bytes<'a>, what: &'static str) -> Result<&'a [u8]> {
        bytes.c_string(what)
    }

    #[cfg(any(test, feature = "std"))]
    fn write(text: &[u8], out: &mut Encoder) {
        out.bytes(text).u8(0);
    }
}
