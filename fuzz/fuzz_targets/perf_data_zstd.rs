//! A zstd stream beside libzstd: one of a random level, or such a stream with damaged bytes. Both
//! decoders return the same content and refuse the same streams.
#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use perf_file::{Error, Place, Reader, Reason};
use perfkit_fuzz::Input;
use zstd_safe::{CCtx, CParameter, DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

thread_local! {
    // Used again, because they are large.
    static ENCODER: RefCell<CCtx<'static>> = RefCell::new(CCtx::create());
    static DECODER: RefCell<DCtx<'static>> = RefCell::new(DCtx::create());
}

/// Bytes of content that are compared. Some bytes of a stream can be megabytes of content.
const COMPARED: usize = 4 << 20;

/// Parts of the errors that only this decoder returns. libzstd reads beyond the window while the bytes
/// are in memory, accepts literals whose streams end too early or too late, and skips other frames.
const STRICTER: [&str; 3] = ["before the window", "the literals of a zstd block", "start of a zstd frame"];

/// Returns content with runs, repetitions and bytes of few values or of many, in records of a tool's
/// unknown kind: a run for each word.
fn content(words: &[u64], record_len: usize, max: usize) -> Vec<u8> {
    let mut content = Vec::new();
    let mut random = 1_u64;
    for word in words {
        if content.len() > max {
            break;
        }
        let len = 1 + (word >> 8) as usize % if word & 4 == 0 { 40 } else { 3000 };
        let far = 1 + (word >> 24) as usize % content.len().max(1);
        let alphabet = (word >> 48) as u8;
        for _ in 0..len {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(*word);
            let byte = (random >> 40) as u8;
            content.push(match (word & 3, content.len().checked_sub(far)) {
                (0, Some(from)) => content[from],
                (1, _) => byte & alphabet,
                // Low values are more frequent.
                (2, _) => byte.leading_zeros() as u8 ^ alphabet,
                _ => alphabet,
            });
        }
    }
    let records = content.chunks(record_len);
    records.flat_map(|chunk| [&record_header(100, chunk.len())[..], chunk].concat()).collect()
}

/// Returns the header of a record with a content of `len` bytes.
fn record_header(kind: u32, len: usize) -> [u8; 8] {
    let size = u16::try_from(8 + len).unwrap();
    let mut header = [0; 8];
    header[..4].copy_from_slice(&kind.to_ne_bytes());
    header[6..].copy_from_slice(&size.to_ne_bytes());
    header
}

fn level(options: u64) -> i32 {
    (options % 20) as i32 - 2
}

/// Compresses parts, each of which is flushed, into one frame that has no end, or has one.
fn compress(context: &mut CCtx<'_>, content: &[u8], options: u64) -> Vec<u8> {
    context.reset(ResetDirective::SessionAndParameters).unwrap();
    let parameters = [
        CParameter::CompressionLevel(level(options)),
        CParameter::WindowLog(10 + (options >> 8) as u32 % 11),
        // Small tables, which are cleared for each stream.
        CParameter::HashLog(10),
        CParameter::ChainLog(10),
        CParameter::ChecksumFlag(options & 1 << 16 != 0),
    ];
    for parameter in parameters {
        context.set_parameter(parameter).unwrap();
    }
    let mut stream = vec![0; 8 * content.len() + 4096];
    let mut output = OutBuffer::around(&mut stream);
    for part in content.chunks(1 + content.len() / 500 + (options >> 32) as usize % 50_000) {
        let mut input = InBuffer::around(part);
        while input.pos() < part.len() {
            context.compress_stream(&mut output, &mut input).unwrap();
        }
        assert_eq!(context.flush_stream(&mut output).unwrap(), 0);
    }
    if options & 1 << 17 != 0 {
        assert_eq!(context.end_stream(&mut output).unwrap(), 0);
    }
    let len = output.pos();
    stream.truncate(len);
    stream
}

/// The content that libzstd decodes.
struct Reference {
    content: Vec<u8>,
    error: Option<&'static str>,
    /// Whether the stream ends at the end of a frame.
    is_complete: bool,
}

fn reference(context: &mut DCtx<'_>, stream: &[u8]) -> Reference {
    context.reset(ResetDirective::SessionAndParameters).unwrap();
    context.set_parameter(DParameter::WindowLogMax(27)).unwrap();
    let (mut content, mut buffer) = (Vec::new(), vec![0; 128 << 10]);
    let mut input = InBuffer::around(stream);
    loop {
        let mut output = OutBuffer::around(&mut buffer[..]);
        let before = input.pos();
        let missing = match context.decompress_stream(&mut output, &mut input) {
            Ok(missing) => missing,
            Err(code) => {
                return Reference {
                    content,
                    error: Some(zstd_safe::get_error_name(code)),
                    is_complete: false,
                };
            }
        };
        let len = output.pos();
        content.extend(&buffer[..len]);
        if content.len() > COMPARED || (len == 0 && input.pos() == before) {
            return Reference {
                content,
                error: None,
                is_complete: missing == 0 && input.pos() == stream.len(),
            };
        }
    }
}

/// Returns the content of all whole records, and the error.
fn decode(stream: &[u8], part: usize) -> (Vec<u8>, Option<Error>) {
    let mut pipe = [&b"PERFILE2"[..], &16_u64.to_ne_bytes()].concat();
    if cfg!(target_endian = "big") {
        pipe[..8].copy_from_slice(b"2ELIFREP");
    }
    for part in stream.chunks(part) {
        pipe.extend(record_header(81, part.len()));
        pipe.extend(part);
    }
    let mut reader = Reader::from_bytes(&pipe).unwrap();
    let mut content = Vec::new();
    loop {
        match reader.next() {
            Ok(Some(record)) => {
                if let Place::InCompressed(_) = record.place() {
                    content.extend(record.bytes());
                }
                if content.len() > COMPARED {
                    return (content, None);
                }
            }
            Ok(None) => return (content, None),
            Err(error) => return (content, Some(error)),
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let options = input.word();
    let damages = (options >> 24) as usize % 8;
    let is_stream = options & 1 << 18 != 0;
    let damages: Vec<u64> = (0..if is_stream { 0 } else { damages }).map(|_| input.word()).collect();
    // The stream itself, for seeds that libzstd wrote and the fuzzer changes.
    let (plain, mut stream) = if is_stream {
        (None, bytes.get(8..).unwrap_or_default().to_vec())
    } else {
        // High levels take long.
        let max = if level(options) < 6 { 150_000 } else { 15_000 };
        let plain = content(&input.words(), 100 + (options >> 20) as usize % 60_000, max);
        let stream = ENCODER.with_borrow_mut(|context| compress(context, &plain, options));
        (Some(plain), stream)
    };
    for damage in &damages {
        let len = stream.len().max(1);
        if let Some(byte) = stream.get_mut((damage >> 16) as usize % len) {
            *byte ^= *damage as u8;
        }
    }
    // Not into single bytes if it is long, which takes seconds.
    let part = (1 + stream.len() / 500 + (options >> 48) as usize).min(65_000);
    let (found, error) = decode(&stream, part);
    if let Some(plain) = plain.filter(|_| damages.is_empty()) {
        assert!(error.is_none(), "{error:?}");
        assert!(found == plain[..plain.len().min(found.len())]);
        assert!(found.len() == plain.len() || found.len() > COMPARED);
    }
    let reference = DECODER.with_borrow_mut(|context| reference(context, &stream));
    let len = found.len().min(reference.content.len());
    assert!(found[..len] == reference.content[..len], "other content: {error:?}, {:?}", reference.error);
    if reference.content.len() > COMPARED || found.len() > COMPARED {
        return;
    }
    match (error.as_ref().map(Error::reason), reference.error) {
        (Some(Reason::Compressed(malformed)), None) => assert!(
            STRICTER.iter().any(|known| malformed.0.contains(known)),
            "only this decoder refuses: {malformed:?}"
        ),
        (_, None) if reference.is_complete => {
            let rest = &reference.content[found.len()..];
            let size = rest.get(6..8).map_or(0, |size| u16::from_ne_bytes(size.try_into().unwrap()));
            assert!(size < 8 || rest.len() < usize::from(size), "a record is missing: {error:?}");
        }
        _ => {}
    }
});
