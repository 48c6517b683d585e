//! The names of addresses of the kernel that payloads have: functions, and texts.

use std::collections::HashMap;
use std::io::Write as _;

use perf_session::{System, Tracefs};
use perf_symbols::Kallsyms;

use super::PrintFormat;

/// The functions and the texts of a kernel, as far as formats need them. Without a name the address is printed: nothing is
/// wrong.
#[derive(Debug, Default)]
pub(crate) struct KernelNames {
    functions: Option<Kallsyms>,
    texts: HashMap<u64, Box<[u8]>>,
}

/// The parts of a function that are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Name,
    NameAndOffset,
}

impl KernelNames {
    /// Returns the names of the running kernel that these formats need.
    pub(crate) fn of_this_kernel<'f>(formats: impl Iterator<Item = &'f PrintFormat> + Clone) -> Self {
        let texts = formats.clone().any(PrintFormat::has_texts).then(|| {
            let tracefs = Tracefs::find(&System::new());
            tracefs.and_then(|tracefs| tracefs.printk_formats()).unwrap_or_default()
        });
        Self::default().with_functions(formats).with_texts(&texts.unwrap_or_default())
    }

    /// Adds the functions of the running kernel, if one of the formats prints functions.
    pub(crate) fn with_functions<'f>(self, mut formats: impl Iterator<Item = &'f PrintFormat>) -> Self {
        let functions = formats.any(PrintFormat::has_functions).then(Kallsyms::of_this_kernel);
        Self { functions: functions.and_then(Result::ok), ..self }
    }

    /// Adds the texts of the file `printk_formats` of tracefs. Lines that are malformed are left out.
    pub(crate) fn with_texts(mut self, printk_formats: &[u8]) -> Self {
        self.texts.extend(printk_formats.split(|&byte| byte == b'\n').filter_map(text));
        self
    }

    /// Returns the name of the function at an address.
    pub(super) fn function(&self, address: u64, what: Function) -> Option<Vec<u8>> {
        let function = self.functions.as_ref()?.find(address)?;
        let mut name = function.name.to_vec();
        if what == Function::NameAndOffset {
            // Writing to memory does not fail.
            let _ = write!(name, "+{:#x}", address.wrapping_sub(function.address));
        }
        Some(name)
    }

    /// Returns the text at an address.
    pub(super) fn text(&self, address: u64) -> Option<&[u8]> {
        self.texts.get(&address).map(|text| &**text)
    }

    #[cfg(test)]
    pub(super) fn of_kallsyms(kallsyms: Kallsyms) -> Self {
        Self { functions: Some(kallsyms), ..Self::default() }
    }
}

/// Parses a line such as `0xffffffff8281a569 : "rcu_preempt"`.
fn text(line: &[u8]) -> Option<(u64, Box<[u8]>)> {
    let line = line.strip_prefix(b"0x")?;
    let end = line.iter().position(|byte| !byte.is_ascii_hexdigit())?;
    let (address, rest) = line.split_at_checked(end)?;
    let address = u64::from_str_radix(std::str::from_utf8(address).ok()?, 16).ok()?;
    let escaped = rest.strip_prefix(b" : \"")?.strip_suffix(b"\"")?;
    let mut text = Vec::with_capacity(escaped.len());
    let mut bytes = escaped.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        // The kernel does not escape a backslash itself.
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
        let names = KernelNames::default().with_texts(file);
        assert_eq!(names.text(0xffff_ffff_8281_972f), Some(&b"thaw_processes"[..]));
        assert_eq!(names.text(0xffff_ffff_8281_a591), Some(&b"End \"context\"\tswitch\n"[..]));
        assert_eq!((names.text(0x10), names.text(0x11)), (Some(&b"a \\ b \\x"[..]), Some(&b""[..])));
        assert_eq!([0, 0x12, 0x13, 0xffff_ffff_8281_9730].map(|address| names.text(address)), [None; 4]);
        assert_eq!(names.texts.len(), 4);
    }
}
