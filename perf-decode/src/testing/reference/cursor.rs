//! The cursor: takes bytes off the front of a slice and collects the named values.

use alloc::{format, rc::Rc, string::String, vec::Vec};
use core::cell::RefCell;

use super::{Fields, Refusal, Value};

/// A number in a record.
#[derive(Clone, Debug)]
pub(super) struct Number {
    /// The address of its first byte.
    pub(super) address: usize,
    /// Its length in bytes.
    pub(super) len: usize,
    /// Whether C declares it as bit fields, the flags of a branch.
    pub(super) is_branch: bool,
}

/// The bytes that are not read yet, and the fields read so far.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
    fields: Fields,
    /// Whether the kernel did not keep the 8 bytes after the end.
    lacks_word: bool,
    /// Whether these bytes were read.
    has_read_lost_word: bool,
    /// The numbers that this cursor and those made by [`with`](Self::with) read.
    numbers: Rc<RefCell<Vec<Number>>>,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            fields: Fields::new(),
            lacks_word: false,
            has_read_lost_word: false,
            numbers: Rc::default(),
        }
    }

    /// Returns a cursor over other bytes of the record.
    pub(super) fn with<'b>(&self, bytes: &'b [u8]) -> Cursor<'b> {
        Cursor { numbers: Rc::clone(&self.numbers), ..Cursor::new(bytes) }
    }

    pub(super) fn numbers(&self) -> Vec<Number> {
        self.numbers.borrow().clone()
    }

    pub(super) fn remaining(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn into_fields(self) -> Fields {
        self.fields
    }

    /// Notes that the sample has 8 bytes more than the record.
    pub(super) fn lose_last_word(&mut self) {
        self.lacks_word = true;
    }

    /// Returns whether the last field ends in the 8 bytes that the record lacks.
    pub(super) fn is_truncated(&self) -> bool {
        self.has_read_lost_word
    }

    /// Decodes a field by `read`, and discards it if the record lacks its end.
    pub(super) fn whole(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let kept = self.fields.len();
        read(self)?;
        if self.has_read_lost_word {
            self.fields.truncate(kept);
        }
        Ok(())
    }

    /// Takes the rest as the start of `length` bytes whose last 8 the record lacks. Returns whether
    /// that is the case.
    fn takes_lost_word(&mut self, length: usize) -> bool {
        let takes = self.lacks_word && length == self.rest.len() + 8;
        if takes {
            (self.rest, self.lacks_word, self.has_read_lost_word) = (&[], false, true);
        }
        takes
    }

    /// Takes `count` elements of `each` bytes. Refuses counts that do not remain.
    pub(super) fn take(&mut self, name: &'static str, count: u64, each: usize) -> Result<&'a [u8], Refusal> {
        let remain = self.rest.len();
        let length = usize::try_from(count).ok().and_then(|count| count.checked_mul(each));
        if length.is_some_and(|length| self.takes_lost_word(length)) {
            return Ok(&[]);
        }
        let Some((taken, rest)) = length.and_then(|length| self.rest.split_at_checked(length)) else {
            let why = format!("{count} elements of {each} bytes announced, {remain} bytes remain");
            return Err(Refusal { field: name, why });
        };
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, name: &'static str) -> Result<[u8; N], Refusal> {
        if self.takes_lost_word(N) {
            return Ok([0; N]); // a size or an ABI of 0, because nothing follows
        }
        let Some((taken, rest)) = self.rest.split_first_chunk() else {
            let why = format!("needs {N} bytes, {} remain", self.rest.len());
            return Err(Refusal { field: name, why });
        };
        self.rest = rest;
        let address = taken.as_ptr().addr();
        self.numbers.borrow_mut().push(Number { address, len: N, is_branch: false });
        Ok(*taken)
    }

    /// Takes the flags of a branch.
    pub(super) fn read_branch(&mut self, name: &'static str) -> Result<u64, Refusal> {
        let flags = self.read_u64(name)?;
        self.numbers.borrow_mut().last_mut().into_iter().for_each(|number| number.is_branch = true);
        Ok(flags)
    }

    pub(super) fn read_u8(&mut self, name: &'static str) -> Result<u8, Refusal> {
        Ok(u8::from_ne_bytes(self.array(name)?))
    }

    pub(super) fn read_u16(&mut self, name: &'static str) -> Result<u16, Refusal> {
        Ok(u16::from_ne_bytes(self.array(name)?))
    }

    pub(super) fn read_u32(&mut self, name: &'static str) -> Result<u32, Refusal> {
        Ok(u32::from_ne_bytes(self.array(name)?))
    }

    pub(super) fn read_u64(&mut self, name: &'static str) -> Result<u64, Refusal> {
        Ok(u64::from_ne_bytes(self.array(name)?))
    }

    pub(super) fn read_words(&mut self, name: &'static str, count: u64) -> Result<Vec<u64>, Refusal> {
        let taken = self.take(name, count, 8)?;
        let mut words = self.with(taken);
        (0..count).map(|_| words.read_u64(name)).collect()
    }

    pub(super) fn keep(&mut self, name: &'static str, value: impl Into<Value>) {
        self.fields.push((name, value.into()));
    }

    pub(super) fn u16(&mut self, name: &'static str) -> Result<u16, Refusal> {
        let value = self.read_u16(name)?;
        self.keep(name, u64::from(value));
        Ok(value)
    }

    pub(super) fn u32(&mut self, name: &'static str) -> Result<u32, Refusal> {
        let value = self.read_u32(name)?;
        self.keep(name, u64::from(value));
        Ok(value)
    }

    pub(super) fn u64(&mut self, name: &'static str) -> Result<u64, Refusal> {
        let value = self.read_u64(name)?;
        self.keep(name, value);
        Ok(value)
    }

    /// Takes a NUL-terminated string padded to a multiple of 8, and keeps it without its NUL.
    pub(super) fn string(&mut self, name: &'static str) -> Result<(), Refusal> {
        let Some(length) = self.rest.iter().position(|byte| *byte == 0) else {
            let why = format!("no NUL in the {} bytes of the body that remain", self.rest.len());
            return Err(Refusal { field: name, why });
        };
        let text = self.take(name, length as u64, 1)?;
        self.keep(name, text);
        // Strings and the ends of bodies are 8-aligned, so the padding remains.
        self.take(name, 8 - length as u64 % 8, 1)?;
        Ok(())
    }
}

/// Refuses `field`.
pub(super) fn refuse<T>(field: &'static str, why: String) -> Result<T, Refusal> {
    Err(Refusal { field, why })
}
