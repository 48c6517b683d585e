//! Decompresses files of xz that have the filter LZMA2 alone, as `xz` writes them by default.
//!
//! The library decodes LZMA2. Its reader of the container, which `xz-file-format.txt` of xz
//! describes, would need eight more crates, for a checksum that `xz` does not write by default.

use std::io::{self, Read};

use lzma_rust2::Lzma2Reader;

const MAGIC: &[u8] = b"\xfd7zXZ\0";
/// The id of the filter LZMA2, the size in bytes of its property, and the largest property: a
/// dictionary of 4 GiB.
const LZMA2: &[u8] = &[0x21, 1];
const MAX_PROPERTY: u8 = 40;
/// Checksum of blocks: CRC32. Others are not verified.
const CRC32: u8 = 1;

/// Decompresses a stream to up to `limit` bytes. Memory follows the output, also if a header claims
/// a larger dictionary.
pub(super) fn decompressed(input: &[u8], limit: u64) -> io::Result<Vec<u8>> {
    let rest = input.strip_prefix(MAGIC).ok_or_else(|| damaged("the magic number of xz"))?;
    let (&[_, check], rest) = rest.split_first_chunk().ok_or_else(|| damaged("flags"))?;
    let mut rest = rest.get(4..).ok_or_else(|| damaged("flags"))?;
    let mut output = Vec::new();
    // A size of 0 begins the index, after the last block.
    while let Some(&size) = rest.first().filter(|size| **size != 0) {
        let header_len = (usize::from(size) + 1) * 4;
        let (header, data) = rest.split_at_checked(header_len).ok_or_else(|| damaged("a block"))?;
        let mut reader = Lzma2Reader::new(data, dictionary(header)?, None);
        let start = output.len();
        let room = limit.saturating_sub(start as u64);
        if reader.by_ref().take(room + 1).read_to_end(&mut output)? as u64 > room {
            return Err(io::Error::other(format!("expected up to {limit} bytes, found more")));
        }
        let after = reader.into_inner();
        // Blocks begin at multiples of 4 bytes.
        let padding = (data.len() - after.len()).next_multiple_of(4) - (data.len() - after.len());
        let sum = after.get(padding..).ok_or_else(|| damaged("a checksum"))?;
        if check == CRC32 {
            let expected = crc32fast::hash(output.get(start..).unwrap_or_default());
            is_sum(sum, expected)?;
        }
        rest = sum.get(sum_len(check)..).ok_or_else(|| damaged("a checksum"))?;
    }
    Ok(output)
}

/// Returns the size of the dictionary in bytes from the header of a block.
fn dictionary(header: &[u8]) -> io::Result<u32> {
    let (fields, sum) = header.split_last_chunk::<4>().ok_or_else(|| damaged("a block"))?;
    is_sum(sum, crc32fast::hash(fields))?;
    let (&[_, flags], mut rest) = fields.split_first_chunk().ok_or_else(|| damaged("a block"))?;
    // The sizes before and after compression.
    for _ in 0..(flags >> 6).count_ones() {
        let len = rest.iter().position(|byte| byte & 0x80 == 0).ok_or_else(|| damaged("a size"))?;
        rest = rest.get(len + 1..).unwrap_or_default();
    }
    // The lower six bits are the number of filters before LZMA2, and reserved.
    let property =
        rest.strip_prefix(LZMA2).filter(|_| flags.trailing_zeros() >= 6).and_then(|rest| rest.first());
    match property {
        Some(&MAX_PROPERTY) => Ok(u32::MAX),
        Some(&bits @ 0..MAX_PROPERTY) => Ok((2 | u32::from(bits & 1)) << (bits / 2 + 11)),
        _ => Err(damaged("the filter LZMA2 alone")),
    }
}

/// Returns the size in bytes of a block's checksum.
fn sum_len(check: u8) -> usize {
    match check & 0xf {
        0 => 0,
        kind => 4 << ((kind - 1) / 3),
    }
}

fn is_sum(bytes: &[u8], expected: u32) -> io::Result<()> {
    let found = bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    if found == Some(expected) { Ok(()) } else { Err(damaged("the right checksum")) }
}

fn damaged(expected: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("expected {expected}"))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use super::*;

    /// Returns bytes as xz compresses them, or `None` without xz.
    fn compressed(bytes: &[u8], options: &[&str]) -> Option<Vec<u8>> {
        let mut xz = Command::new("xz");
        xz.arg("-c").args(options).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = xz.spawn().ok()?;
        let mut stdin = child.stdin.take().expect("a pipe");
        let bytes = bytes.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&bytes));
        let output = child.wait_with_output().expect("the output").stdout;
        writer.join().expect("no panic").expect("all bytes");
        Some(output)
    }

    #[test]
    fn file_of_xz_has_the_bytes_that_were_compressed() {
        let bytes: Vec<_> = (0..400_000_u32).flat_map(|number| (number % 1000).to_le_bytes()).collect();
        for options in [
            &["--check=crc64"][..],
            &["--check=crc32", "-9"],
            &["--check=none", "-0"],
            &["--check=sha256"],
            &["--block-size=100000", "-T2"],
        ] {
            let Some(file) = compressed(&bytes, options) else {
                eprintln!("skipped: xz is missing");
                return;
            };
            let len = bytes.len() as u64;
            assert!(decompressed(&file, len).expect("the bytes") == bytes, "{options:?}");
            assert!(decompressed(&file, len - 1).is_err(), "{options:?}");
            assert!(decompressed(&file[..file.len() / 2], len).is_err(), "{options:?}");
        }
        let filtered = compressed(&bytes, &["--x86", "--lzma2"]).expect("xz");
        assert!(decompressed(&filtered, 1 << 30).is_err());
        assert_eq!(decompressed(&compressed(b"", &[]).expect("xz"), 0).expect("no bytes"), b"");
    }

    #[test]
    fn damaged_file_is_refused_or_has_other_bytes() {
        let Some(file) = compressed(&[7; 1000], &["--check=crc32"]) else { return };
        for at in 0..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 0x41;
            // The flags before the blocks and the index after them are not needed.
            if let Ok(bytes) = decompressed(&damaged, 1 << 20) {
                assert!(bytes.is_empty() || bytes == [7; 1000], "{at}");
            }
        }
    }
}
