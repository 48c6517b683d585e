//! The lines of `/proc/PID/maps`.

use super::Mapping;

/// Name of a mapping without a file, as the kernel writes it.
const ANONYMOUS: &[u8] = b"//anon";
/// `MAP_SHARED` and `MAP_PRIVATE`.
const SHARED: u32 = 1;
const PRIVATE: u32 = 2;

/// Returns the mapping of a line: `start-end perms offset major:minor inode   path`. `None` if it is malformed.
pub(super) fn parse(line: &[u8]) -> Option<Mapping<'_>> {
    let mut fields = line.splitn(6, |byte| *byte == b' ');
    let (start, end) = pair(fields.next()?, b'-')?;
    let perms = fields.next()?;
    let pgoff = hex(fields.next()?)?;
    let (major, minor) = pair(fields.next()?, b':')?;
    let inode = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
    let path = fields.next().unwrap_or_default().trim_ascii_start();
    let bit = |flag, bit| if perms.contains(&flag) { bit } else { 0 };
    Some(Mapping {
        addr: start,
        len: end.checked_sub(start)?,
        pgoff,
        device: (major as u32, minor as u32),
        inode,
        prot: bit(b'r', 1) | bit(b'w', 2) | bit(b'x', 4),
        flags: if perms.contains(&b's') { SHARED } else { PRIVATE },
        path: if path.is_empty() { ANONYMOUS } else { path },
        ..Mapping::default()
    })
}

/// Returns two hexadecimal numbers with a separator between them.
fn pair(text: &[u8], separator: u8) -> Option<(u64, u64)> {
    let at = text.iter().position(|byte| *byte == separator)?;
    Some((hex(text.get(..at)?)?, hex(text.get(at + 1..)?)?))
}

pub(super) fn hex(text: &[u8]) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(text).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_of_a_file_has_all_fields() {
        let line =
            b"7fc1feb01000-7fc1feb27000 r-xp 00001000 fe:00 325843                     /usr/lib/ld linux.so";
        let expected = Mapping {
            addr: 0x7fc1_feb0_1000,
            len: 0x26000,
            pgoff: 0x1000,
            device: (0xfe, 0),
            inode: 325_843,
            prot: 5,
            flags: 2,
            path: b"/usr/lib/ld linux.so",
            ..Mapping::default()
        };
        assert_eq!(parse(line), Some(expected));
    }

    #[test]
    fn mapping_without_a_file_is_anonymous() {
        let mapping = parse(b"1000-3000 rw-s 00000000 00:00 0 ").unwrap();
        assert_eq!((mapping.path, mapping.prot, mapping.flags), (&b"//anon"[..], 3, 1));
        assert_eq!(parse(b"1000-3000 rw-s 00000000 00:00 0").unwrap().path, b"//anon");
    }

    #[test]
    fn malformed_lines_are_no_mappings() {
        for line in ["", "1000", "3000-1000 r-xp 0 0:0 0 /a", "x-y r-xp 0 0:0 0", "1-2 r-xp 0 0:0 z"] {
            assert_eq!(parse(line.as_bytes()), None, "{line}");
        }
    }
}
