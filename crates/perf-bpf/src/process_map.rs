//! Properties of maps that other processes have open.

use perf_ring::abi::bpf::{BpfMapFlags, BpfMapType, BpfProgType};
use perf_session::System;

use crate::error::Error;

/// A map that another process has open, from `/proc/PID/fdinfo/FD`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessMapInfo {
    /// Map type.
    pub map_type: BpfMapType,
    /// Length of a key in bytes.
    pub key_size: u32,
    /// Length of one value in bytes.
    pub value_size: u32,
    /// Maximum number of elements.
    pub max_entries: u32,
    /// Flags.
    pub flags: BpfMapFlags,
    /// Extra parameter. Since Linux 5.16.
    pub extra: Option<u64>,
    /// Memory of the map in bytes. Since Linux 4.10.
    pub memlock: Option<u64>,
    /// Id of the map, for [`MapFd::open_id`](crate::MapFd::open_id). Since Linux 4.18.
    pub id: Option<u32>,
    /// Whether user space can no longer write it. Since Linux 5.2.
    pub is_frozen: Option<bool>,
    /// Type of the programs that use an array of programs. Since Linux 4.10.
    #[doc(alias = "owner_prog_type")]
    pub owner_program_type: Option<BpfProgType>,
}

impl ProcessMapInfo {
    /// Returns the properties of the map that is the descriptor `fd` of a process.
    ///
    /// # Errors
    ///
    /// [`Error::File`] if the process or descriptor does not exist or is not readable, and
    /// [`Error::FdInfo`] if it is no map.
    pub fn read(system: &System, pid: u32, fd: u32) -> Result<Self, Error> {
        let (path, text) = system.task(pid).fd_info(fd)?;
        Self::parse(&text).map_err(|(field, found)| Error::FdInfo {
            path: path.into(),
            field,
            found: found.map(Into::into),
        })
    }

    /// Parses lines of a name, a colon, a tab and a value. Returns the name of a field that is
    /// missing, or malformed with its text.
    fn parse(text: &str) -> Result<Self, (&'static str, Option<&str>)> {
        let field = |name: &'static str| {
            text.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()))
        };
        let optional = |name: &'static str| match field(name) {
            None => Ok(None),
            Some(found) => number(found).map(Some).ok_or((name, Some(found))),
        };
        let word = |name: &'static str| match optional(name)? {
            None => Ok(None),
            Some(found) => u32::try_from(found).map(Some).map_err(|_| (name, field(name))),
        };
        let required = |name: &'static str| word(name)?.ok_or((name, None));
        Ok(Self {
            map_type: BpfMapType(required("map_type")?),
            key_size: required("key_size")?,
            value_size: required("value_size")?,
            max_entries: required("max_entries")?,
            flags: BpfMapFlags::from_bits_retain(word("map_flags")?.unwrap_or(0)),
            extra: optional("map_extra")?,
            memlock: optional("memlock")?,
            id: word("map_id")?,
            is_frozen: optional("frozen")?.map(|frozen| frozen != 0),
            owner_program_type: word("owner_prog_type")?.map(BpfProgType),
        })
    }
}

/// Parses a decimal number, or a hexadecimal one after `0x`.
fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) if !digits.starts_with('+') => u64::from_str_radix(digits, 16).ok(),
        None if !text.starts_with('+') => text.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MAP: &str = "pos:\t0\nflags:\t02000002\nmnt_id:\t15\nino:\t2071\nmap_type:\t3\nkey_size:\t4\n\
                       value_size:\t4\nmax_entries:\t1024\nmap_flags:\t0x1\nmap_extra:\t0x0\n\
                       memlock:\t8192\nmap_id:\t42\nfrozen:\t1\nowner_prog_type:\t5\nowner_jited:\t1\n";

    #[test]
    fn all_fields_of_a_map_are_read() {
        let expected = ProcessMapInfo {
            map_type: BpfMapType::PROG_ARRAY,
            key_size: 4,
            value_size: 4,
            max_entries: 1024,
            flags: BpfMapFlags::NO_PREALLOC,
            extra: Some(0),
            memlock: Some(8192),
            id: Some(42),
            is_frozen: Some(true),
            owner_program_type: Some(BpfProgType::TRACEPOINT),
        };
        assert_eq!(ProcessMapInfo::parse(MAP), Ok(expected));
    }

    #[test]
    fn an_old_kernel_writes_fewer_fields() {
        let old = "map_type:\t1\nkey_size:\t4\nvalue_size:\t8\nmax_entries:\t1\n";
        let found = ProcessMapInfo::parse(old).unwrap();
        assert_eq!((found.map_type, found.id, found.is_frozen), (BpfMapType::HASH, None, None));
    }

    #[test]
    fn a_missing_or_malformed_field_is_named() {
        let without = MAP.replace("key_size", "other");
        assert_eq!(ProcessMapInfo::parse(&without), Err(("key_size", None)));
        assert_eq!(ProcessMapInfo::parse(""), Err(("map_type", None)));
        for (good, bad, expected) in [
            ("map_id:\t42", "map_id:\t-42", ("map_id", Some("-42"))),
            ("map_id:\t42", "map_id:\t4294967296", ("map_id", Some("4294967296"))),
            ("map_flags:\t0x1", "map_flags:\t0x", ("map_flags", Some("0x"))),
            ("map_flags:\t0x1", "map_flags:\t0x+1", ("map_flags", Some("0x+1"))),
            ("memlock:\t8192", "memlock:\t", ("memlock", Some(""))),
            ("memlock:\t8192", "memlock:\t+8", ("memlock", Some("+8"))),
        ] {
            assert_eq!(ProcessMapInfo::parse(&MAP.replace(good, bad)), Err(expected), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in "(map_type|key_size|map_id|[a-z:\t]{0,4}|[0-9x\n]{0,6}|\\PC){0,40}") {
            let _ = ProcessMapInfo::parse(&text);
        }
    }
}
