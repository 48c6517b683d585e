//! Names for kernel addresses in payloads: functions and texts.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

/// Names the kernel addresses that a [`PrintFormat`](super::PrintFormat) prints. An address without
/// a name is printed as a number.
pub trait KernelNames {
    /// Returns the name and the start address of the function that contains an address.
    fn function(&self, _address: u64) -> Option<(&[u8], u64)> {
        None
    }

    /// Returns the text at an address.
    fn text(&self, _address: u64) -> Option<&[u8]> {
        None
    }
}

/// The parts of a function that are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Name,
    NameAndOffset,
}

impl Function {
    /// Returns the text of an address in a function, given by its name and start address.
    pub(super) fn print(self, (name, start): (&[u8], u64), address: u64) -> Vec<u8> {
        match self {
            Self::Name => name.to_vec(),
            Self::NameAndOffset => {
                let offset = format!("+{:#x}", address.wrapping_sub(start));
                [name, offset.as_bytes()].concat()
            }
        }
    }
}

/// Texts of the kernel by their addresses. As [`KernelNames`] it names no functions.
#[derive(Clone, Debug, Default)]
pub struct KernelTexts(BTreeMap<u64, Box<[u8]>>);

impl KernelTexts {
    /// Parses the file `printk_formats` of tracefs. Malformed lines are skipped.
    pub fn parse(printk_formats: &[u8]) -> Self {
        Self(printk_formats.split(|&byte| byte == b'\n').filter_map(text).collect())
    }
}

impl KernelNames for KernelTexts {
    fn text(&self, address: u64) -> Option<&[u8]> {
        self.0.get(&address).map(|text| &**text)
    }
}

/// Parses a line such as `0xffffffff8281a569 : "rcu_preempt"`.
fn text(line: &[u8]) -> Option<(u64, Box<[u8]>)> {
    let line = line.strip_prefix(b"0x")?;
    let end = line.iter().position(|byte| !byte.is_ascii_hexdigit())?;
    let (address, rest) = line.split_at_checked(end)?;
    let address = u64::from_str_radix(core::str::from_utf8(address).ok()?, 16).ok()?;
    let escaped = rest.strip_prefix(b" : \"")?.strip_suffix(b"\"")?;
    let mut text = Vec::with_capacity(escaped.len());
    let mut bytes = escaped.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        // The kernel does not escape the backslash itself.
        let escape = bytes.peek().copied().filter(|_| byte == b'\\');
        let plain = match escape {
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'"') => b'"',
            _ => {
                text.push(byte);
                continue;
            }
        };
        bytes.next();
        text.push(plain);
    }
    Some((address, text.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_by_their_address() {
        let file = b"0xffffffff8281972f : \"thaw_processes\"\n\
                     0xffffffff8281a591 : \"End \\\"context\\\"\\tswitch\\n\"\n\
                     0x10 : \"a \\ b \\x\"\n\
                     0x11 : \"\"\n\
                     zz : \"no address\"\n0x12 \"no colon\"\n0x13 : \"no end\n\n0x : \"x\"\n";
        let names = KernelTexts::parse(file);
        assert_eq!(names.text(0xffff_ffff_8281_972f), Some(&b"thaw_processes"[..]));
        assert_eq!(names.text(0xffff_ffff_8281_a591), Some(&b"End \"context\"\tswitch\n"[..]));
        assert_eq!((names.text(0x10), names.text(0x11)), (Some(&b"a \\ b \\x"[..]), Some(&b""[..])));
        assert_eq!([0, 0x12, 0x13, 0xffff_ffff_8281_9730].map(|address| names.text(address)), [None; 4]);
        assert_eq!(names.0.len(), 4);
    }
}
