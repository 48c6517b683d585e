use std::str::FromStr;

use super::{CpuList, CpuListError};

impl FromStr for CpuList {
    type Err = CpuListError;

    /// Parses `0-3,8,10-11`. Ranges may be in any order and overlap; whitespace may surround the whole.
    fn from_str(text: &str) -> Result<Self, CpuListError> {
        let mut rest = Rest { text: text.trim_ascii_end(), offset: 0 };
        rest.skip(rest.text.len() - rest.text.trim_ascii_start().len());
        let mut ranges = Vec::new();
        if !rest.text.is_empty() {
            ranges.push(rest.range()?);
        }
        while !rest.text.is_empty() {
            rest.comma()?;
            ranges.push(rest.range()?);
        }
        // Overlapping ranges are joined before they become ids: there are as many ids as CPUs, however
        // often the text repeats them.
        ranges.sort_unstable();
        let mut cpus = Vec::new();
        let mut next = 0;
        for (first, last) in ranges {
            cpus.extend(first.max(next)..=last);
            next = next.max(last + 1);
        }
        Ok(Self(cpus))
    }
}

/// The text that is not parsed yet, and its offset.
struct Rest<'t> {
    text: &'t str,
    offset: usize,
}

impl Rest<'_> {
    fn skip(&mut self, len: usize) {
        self.text = self.text.get(len..).unwrap_or_default();
        self.offset += len;
    }

    fn comma(&mut self) -> Result<(), CpuListError> {
        if !self.text.starts_with(',') {
            return Err(self.error("`,`, `-` or the end"));
        }
        self.skip(1);
        Ok(())
    }

    fn range(&mut self) -> Result<(u32, u32), CpuListError> {
        let first = self.cpu()?;
        if !self.text.starts_with('-') {
            return Ok((first, first));
        }
        self.skip(1);
        let offset = self.offset;
        let last = self.cpu()?;
        if last < first {
            return Err(CpuListError { offset, expected: "a CPU that is not below the first of the range" });
        }
        Ok((first, last))
    }

    fn cpu(&mut self) -> Result<u32, CpuListError> {
        let digits = self.text.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return Err(self.error("a CPU"));
        }
        let number = self.text.get(..digits).and_then(|digits| digits.parse().ok());
        let Some(cpu) = number.filter(|cpu| *cpu <= CpuList::MAX_CPU) else {
            return Err(self.error("a CPU of at most 65535"));
        };
        self.skip(digits);
        Ok(cpu)
    }

    fn error(&self, expected: &'static str) -> CpuListError {
        CpuListError { offset: self.offset, expected }
    }
}
