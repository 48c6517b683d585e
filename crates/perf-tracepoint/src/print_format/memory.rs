//! Data in the payload to which an argument points, in the kernel's notation: network addresses,
//! UUIDs, bitmaps, bytes. `lib/vsprintf.c` defines the notations.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

/// Notation in which bytes of the payload are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// `%pI4`, and `%pi4` with three digits per number.
    Ipv4 { has_zeros: bool, is_reversed: bool },
    /// `%pI6`, `%pI6c` without zeros, `%pi6` without colons.
    Ipv6 { is_compressed: bool, has_colons: bool },
    /// `%pISpc` and others: an address with its family, followed by the parts that the letters
    /// select.
    Socket { is_compressed: bool, has_port: bool, has_flow: bool, has_scope: bool },
    /// `%pM`, `%pMF` with dashes, `%pMR` from the last byte on, `%pm` without separators.
    Mac { separator: Option<char>, is_reversed: bool },
    /// `%pU`, `%pUl`, with capitals `%pUB` and `%pUL`.
    Uuid { is_little: bool, has_capitals: bool },
    /// `%*pb`: hexadecimal digits, the highest first.
    Bits,
    /// `%*pbl`: numbers and ranges of set bits.
    BitList,
    /// `%*ph` and others, `__print_hex`.
    Hex { separator: Option<char> },
    /// `__print_array` with elements of this size in bytes.
    Array { size: usize },
}

const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;
/// Bits of one group of digits of `%*pb`.
const PART: usize = 32;

impl Memory {
    /// Parses and consumes the letters after `%p`. `None` for other extensions.
    pub(super) fn parse(rest: &mut &[u8]) -> Option<Self> {
        let letters = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let (letters, after) = rest.split_at_checked(letters)?;
        let (memory, used) = match letters {
            [first @ (b'I' | b'i'), b'4', order @ ..] => {
                let (is_reversed, used) = match order.first() {
                    Some(b'h') => (cfg!(target_endian = "little"), 3),
                    Some(b'l') => (true, 3),
                    Some(b'n' | b'b') => (false, 3),
                    _ => (false, 2),
                };
                (Self::Ipv4 { has_zeros: *first == b'i', is_reversed }, used)
            }
            [b'I', b'6', b'c', ..] => (Self::Ipv6 { is_compressed: true, has_colons: true }, 3),
            [first @ (b'I' | b'i'), b'6', ..] => {
                (Self::Ipv6 { is_compressed: false, has_colons: *first == b'I' }, 2)
            }
            // The remaining letters are all options.
            [b'I', b'S', options @ ..] => {
                let has = |option| options.contains(&option);
                let socket = Self::Socket {
                    is_compressed: has(b'c'),
                    has_port: has(b'p'),
                    has_flow: has(b'f'),
                    has_scope: has(b's'),
                };
                (socket, letters.len())
            }
            [b'M', b'F', ..] => (Self::Mac { separator: Some('-'), is_reversed: false }, 2),
            [b'M', b'R', ..] => (Self::Mac { separator: Some(':'), is_reversed: true }, 2),
            [b'M', ..] => (Self::Mac { separator: Some(':'), is_reversed: false }, 1),
            [b'm', b'R', ..] => (Self::Mac { separator: None, is_reversed: true }, 2),
            [b'm', ..] => (Self::Mac { separator: None, is_reversed: false }, 1),
            [b'U', order @ (b'b' | b'B' | b'l' | b'L'), ..] => {
                let uuid = Self::Uuid {
                    is_little: order.eq_ignore_ascii_case(&b'l'),
                    has_capitals: order.is_ascii_uppercase(),
                };
                (uuid, 2)
            }
            [b'U', ..] => (Self::Uuid { is_little: false, has_capitals: false }, 1),
            [b'b', b'l', ..] => (Self::BitList, 2),
            [b'b', ..] => (Self::Bits, 1),
            [b'h', b'C', ..] => (Self::Hex { separator: Some(':') }, 2),
            [b'h', b'D', ..] => (Self::Hex { separator: Some('-') }, 2),
            [b'h', b'N', ..] => (Self::Hex { separator: None }, 2),
            [b'h', ..] => (Self::Hex { separator: Some(' ') }, 1),
            _ => return None,
        };
        // The kernel would print a letter after the extension as text, as in `%pIx4`, but its
        // formats never have one.
        *rest = if used == letters.len() { after } else { return None };
        Some(memory)
    }

    /// Returns whether the width of the conversion is a number of bits or bytes.
    pub(super) fn takes_count(self) -> bool {
        matches!(self, Self::Bits | Self::BitList | Self::Hex { .. })
    }

    /// Returns the text. `count` is the number of bits, bytes or elements; `bytes` may have more of
    /// them. `None` if it has fewer.
    pub(super) fn print(self, bytes: &[u8], count: Option<usize>) -> Option<String> {
        Some(match self {
            Self::Ipv4 { has_zeros, is_reversed } => ipv4(bytes, has_zeros, is_reversed)?,
            Self::Ipv6 { is_compressed, has_colons } => ipv6(bytes, is_compressed, has_colons)?,
            Self::Socket { is_compressed, has_port, has_flow, has_scope } => {
                let family = u16::from_ne_bytes(*bytes.first_chunk()?);
                let port = u16::from_be_bytes(*bytes.get(2..)?.first_chunk()?);
                match family {
                    AF_INET => {
                        let address = ipv4(bytes.get(4..)?, false, false)?;
                        if has_port { format!("{address}:{port}") } else { address }
                    }
                    AF_INET6 => {
                        let mut text = ipv6(bytes.get(8..)?, is_compressed, true)?;
                        if has_port || has_flow || has_scope {
                            text = format!("[{text}]");
                        }
                        // Writing to memory cannot fail.
                        if has_port {
                            let _ = write!(text, ":{port}");
                        }
                        if has_flow {
                            let flow = u32::from_be_bytes(*bytes.get(4..)?.first_chunk()?) & 0x0fff_ffff;
                            let _ = write!(text, "/{flow}");
                        }
                        if has_scope {
                            let _ = write!(text, "%{}", u32::from_ne_bytes(*bytes.get(24..)?.first_chunk()?));
                        }
                        text
                    }
                    // The kernel prints this for another family, such as the 0 of a missing socket.
                    _ => "(einval)".to_owned(),
                }
            }
            Self::Mac { separator, is_reversed } => {
                let mut address: [u8; 6] = *bytes.first_chunk()?;
                if is_reversed {
                    address.reverse();
                }
                hex(&address, separator)
            }
            Self::Uuid { is_little, has_capitals } => uuid(*bytes.first_chunk()?, is_little, has_capitals),
            Self::Bits => bits(&Words::new(bytes, count)?),
            Self::BitList => bit_list(&Words::new(bytes, count)?),
            Self::Hex { separator } => hex(bytes.get(..count.unwrap_or(1))?, separator),
            Self::Array { size } => {
                let elements = bytes.get(..count?.checked_mul(size)?)?.chunks_exact(size);
                let elements: Option<Vec<String>> =
                    elements.map(|element| Some(format!("{:#x}", number(element)?))).collect();
                format!("{{{}}}", elements?.join(","))
            }
        })
    }
}

/// Returns a number of 1, 2, 4 or 8 bytes.
fn number(bytes: &[u8]) -> Option<u64> {
    Some(match bytes.len() {
        1 => u8::from_ne_bytes(bytes.try_into().ok()?).into(),
        2 => u16::from_ne_bytes(bytes.try_into().ok()?).into(),
        4 => u32::from_ne_bytes(bytes.try_into().ok()?).into(),
        8 => u64::from_ne_bytes(bytes.try_into().ok()?),
        _ => return None,
    })
}

fn hex(bytes: &[u8], separator: Option<char>) -> String {
    let mut text = String::new();
    for (at, byte) in bytes.iter().enumerate() {
        text.extend(separator.filter(|_| at > 0));
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn ipv4(bytes: &[u8], has_zeros: bool, is_reversed: bool) -> Option<String> {
    let mut address: [u8; 4] = *bytes.first_chunk()?;
    if is_reversed {
        address.reverse();
    }
    let [a, b, c, d] = address;
    Some(if has_zeros { format!("{a:03}.{b:03}.{c:03}.{d:03}") } else { format!("{a}.{b}.{c}.{d}") })
}

fn ipv6(bytes: &[u8], is_compressed: bool, has_colons: bool) -> Option<String> {
    let address: &[u8; 16] = bytes.first_chunk()?;
    if !is_compressed {
        let groups: Vec<String> = address.chunks_exact(2).map(|group| hex(group, None)).collect();
        return Some(groups.join(if has_colons { ":" } else { "" }));
    }
    let groups: Vec<u16> =
        address.chunks_exact(2).filter_map(|group| Some(u16::from_be_bytes(*group.first_chunk()?))).collect();
    // The last two groups of these addresses are an IPv4 address.
    let is_mapped = matches!(*groups, [0, 0, 0, 0, 0, 0xffff, ..]);
    let is_isatap = matches!(*groups, [_, _, _, _, 0 | 0x0200, 0x5efe, ..]);
    let range = if is_mapped || is_isatap { 6 } else { 8 };
    let zeros = |from: usize| groups.iter().take(range).skip(from).take_while(|&&group| group == 0).count();
    // The first of the longest runs. A run of one 0 is not compressed.
    let longest = (0..range).rev().max_by_key(|&from| zeros(from)).filter(|&from| zeros(from) > 1);
    let mut text = String::new();
    let (mut at, mut needs_colon) = (0, false);
    while at < range {
        if Some(at) == longest {
            text.push_str("::");
            (at, needs_colon) = (at + zeros(at), false);
            continue;
        }
        if needs_colon {
            text.push(':');
        }
        let _ = write!(text, "{:x}", groups.get(at)?);
        (at, needs_colon) = (at + 1, true);
    }
    if range == 6 {
        if needs_colon {
            text.push(':');
        }
        text.push_str(&ipv4(address.get(12..)?, false, false)?);
    }
    Some(text)
}

fn uuid(mut bytes: [u8; 16], is_little: bool, has_capitals: bool) -> String {
    if is_little {
        for number in [0..4, 4..6, 6..8] {
            bytes.get_mut(number).unwrap_or_default().reverse();
        }
    }
    let mut text = String::new();
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        let _ = if has_capitals { write!(text, "{byte:02X}") } else { write!(text, "{byte:02x}") };
    }
    text
}

/// A bitmap. The kernel keeps it in words as wide as its `long`, which is assumed to be as wide as
/// this program's.
struct Words {
    words: Vec<usize>,
    /// Number of valid bits.
    len: usize,
}

impl Words {
    fn new(bytes: &[u8], len: Option<usize>) -> Option<Self> {
        let len = len.unwrap_or(bytes.len() * 8);
        // On a big-endian machine the lowest bits of a word are in its last byte, so an incomplete
        // word has no usable bits.
        let unit = if cfg!(target_endian = "little") { 1 } else { size_of::<usize>() };
        let bytes = bytes.get(..len.div_ceil(unit * 8).checked_mul(unit)?)?;
        let words = bytes.chunks(size_of::<usize>()).map(|chunk| {
            let mut word = [0; size_of::<usize>()];
            word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
            usize::from_ne_bytes(word)
        });
        Some(Self { words: words.collect(), len })
    }

    fn is_set(&self, bit: usize) -> bool {
        const BITS: usize = usize::BITS as usize;
        bit < self.len && self.words.get(bit / BITS).is_some_and(|word| word >> (bit % BITS) & 1 == 1)
    }
}

fn bits(set: &Words) -> String {
    let mut text = String::new();
    for part in (0..set.len.div_ceil(PART)).rev() {
        let from = part * PART;
        let len = (set.len - from).min(PART);
        let value = (0..len).fold(0_u64, |value, bit| value | u64::from(set.is_set(from + bit)) << bit);
        if !text.is_empty() {
            text.push(',');
        }
        let _ = write!(text, "{value:0width$x}", width = len.div_ceil(4));
    }
    text
}

fn bit_list(set: &Words) -> String {
    let mut text = String::new();
    let mut bit = 0;
    while bit < set.len {
        if !set.is_set(bit) {
            bit += 1;
            continue;
        }
        let end = (bit..set.len).take_while(|&next| set.is_set(next)).last().unwrap_or(bit);
        if !text.is_empty() {
            text.push(',');
        }
        let _ = if end > bit { write!(text, "{bit}-{end}") } else { write!(text, "{bit}") };
        bit = end + 1;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(letters: &str) -> Option<Memory> {
        let mut rest = letters.as_bytes();
        Memory::parse(&mut rest).filter(|_| rest.is_empty())
    }

    #[track_caller]
    fn check(letters: &str, bytes: &[u8], count: Option<usize>, expected: &str) {
        let memory = parse(letters).unwrap();
        assert_eq!(memory.print(bytes, count).as_deref(), Some(expected), "{letters}");
        // Truncated bytes must not print a text.
        if !bytes.is_empty() {
            let needed = (0..=bytes.len()).find(|&len| memory.print(&bytes[..len], count).is_some()).unwrap();
            assert_eq!(
                memory.print(&bytes[..needed], count).as_deref(),
                Some(expected),
                "{letters}: {needed} bytes"
            );
        }
    }

    #[test]
    fn addresses_of_networks_are_printed_as_the_kernel_does() {
        check("I4", &[127, 0, 0, 1], None, "127.0.0.1");
        check("i4", &[127, 0, 0, 1], None, "127.000.000.001");
        check("I4l", &[1, 0, 0, 127], None, "127.0.0.1");
        check("I4n", &[1, 2, 3, 4], None, "1.2.3.4");
        let mut address = [0; 16];
        address[15] = 1;
        check("I6c", &address, None, "::1");
        check("I6", &address, None, "0000:0000:0000:0000:0000:0000:0000:0001");
        check("i6", &address, None, "00000000000000000000000000000001");
        check("I6c", &[0; 16], None, "::");
        let words = |words: [u16; 8]| words.map(u16::to_be_bytes).concat();
        check("I6c", &words([0x2001, 0xdb8, 0, 0, 1, 0, 0, 0x10]), None, "2001:db8::1:0:0:10");
        check("I6c", &words([0x2001, 0xdb8, 0, 1, 0, 0, 0, 0]), None, "2001:db8:0:1::");
        check("I6c", &words([1, 0, 2, 3, 4, 5, 6, 7]), None, "1:0:2:3:4:5:6:7");
        check("I6c", &words([0, 0, 0, 0, 0, 0xffff, 0xc0a8, 0x0102]), None, "::ffff:192.168.1.2");
        check("I6c", &words([0xfe80, 0, 0, 0, 0, 0x5efe, 0xc0a8, 0x0102]), None, "fe80::5efe:192.168.1.2");
        check("M", &[0, 0x1b, 0x21, 0xa, 0xb, 0xc], None, "00:1b:21:0a:0b:0c");
        check("MF", &[0, 0x1b, 0x21, 0xa, 0xb, 0xc], None, "00-1b-21-0a-0b-0c");
        check("MR", &[0, 0x1b, 0x21, 0xa, 0xb, 0xc], None, "0c:0b:0a:21:1b:00");
        check("m", &[0, 0x1b, 0x21, 0xa, 0xb, 0xc], None, "001b210a0b0c");
        check("mR", &[0, 0x1b, 0x21, 0xa, 0xb, 0xc], None, "0c0b0a211b00");
    }

    #[test]
    fn addresses_of_sockets_have_the_parts_that_are_asked_for() {
        let v4 = [&AF_INET.to_ne_bytes()[..], &8080_u16.to_be_bytes(), &[10, 0, 0, 7]].concat();
        check("ISpc", &v4, None, "10.0.0.7:8080");
        check("ISc", &v4, None, "10.0.0.7");
        let mut v6 =
            [&AF_INET6.to_ne_bytes()[..], &443_u16.to_be_bytes(), &0x6000_0005_u32.to_be_bytes()].concat();
        v6.extend([0; 15]);
        v6.push(1);
        v6.extend(3_u32.to_ne_bytes());
        check("ISpc", &v6[..24], None, "[::1]:443");
        check("ISc", &v6[..24], None, "::1");
        check("ISpfsc", &v6, None, "[::1]:443/5%3");
        check("IS", &v6[..24], None, "0000:0000:0000:0000:0000:0000:0000:0001");
        check("ISpc", &[0; 4], None, "(einval)");
    }

    #[test]
    fn identifiers_sets_of_bits_and_bytes_are_printed_as_the_kernel_does() {
        let bytes: [u8; 16] = core::array::from_fn(|at| 0xa0 + at as u8);
        check("U", &bytes, None, "a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf");
        check("Ub", &bytes, None, "a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf");
        check("UB", &bytes, None, "A0A1A2A3-A4A5-A6A7-A8A9-AAABACADAEAF");
        check("Ul", &bytes, None, "a3a2a1a0-a5a4-a7a6-a8a9-aaabacadaeaf");
        check("UL", &bytes, None, "A3A2A1A0-A5A4-A7A6-A8A9-AAABACADAEAF");
        let set = [0b1000_1110_u64, 1 << 63 | 1].map(u64::to_ne_bytes).concat();
        check("bl", &set, Some(128), "1-3,7,64,127");
        check("bl", &set, Some(3), "1-2");
        check("bl", &[0; 8], Some(64), "");
        check("b", &set, Some(128), "80000000,00000001,00000000,0000008e");
        check("b", &set, Some(34), "0,0000008e");
        check("h", &[1, 0xff, 2], Some(3), "01 ff 02");
        check("hC", &[1, 0xff], Some(2), "01:ff");
        check("hD", &[1, 0xff], Some(2), "01-ff");
        check("hN", &[1, 0xff], Some(2), "01ff");
        check("h", &[7], None, "07");
        let array = |size, bytes: &[u8], count| Memory::Array { size }.print(bytes, Some(count));
        assert_eq!(array(2, &[1_u16, 0xabc].map(u16::to_ne_bytes).concat(), 2).unwrap(), "{0x1,0xabc}");
        assert_eq!(array(8, &[], 0).unwrap(), "{}");
        assert_eq!(
            (array(8, &[0; 15], 2), array(3, &[0; 3], 1), array(8, &[], usize::MAX)),
            (None, None, None)
        );
    }

    #[test]
    fn other_extensions_are_refused() {
        for letters in ["", "d", "D", "E", "I", "I5", "V", "tR", "Ux", "I4x", "MX", "Z"] {
            assert_eq!(parse(letters), None, "{letters}");
        }
    }
}
