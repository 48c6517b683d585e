use crate::bytes::{Bytes, until_nul};
use crate::list::Read;
use crate::{List, Result};

/// The variables of a BPF program whose names start with `bpf_metadata_`.
#[derive(Clone, Copy, Debug)]
#[doc(alias = "perf_record_bpf_metadata")]
pub struct BpfMetadata<'a> {
    /// Name of the program.
    pub program: &'a [u8],
    /// Names and values of the variables `bpf_metadata_*`.
    pub variables: List<'a, BpfVariable<'a>>,
}

/// A variable of a BPF program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BpfVariable<'a> {
    /// Name without its prefix.
    pub name: &'a [u8],
    /// Value as text.
    pub value: &'a [u8],
}

impl<'a> BpfMetadata<'a> {
    pub(super) fn parse(body: &mut Bytes<'a>) -> Result<Self> {
        let program = until_nul(body.take(512, "prog_name")?);
        Ok(Self { program, variables: super::counted(body, "nr_entries")? })
    }
}

impl<'a> Read<'a> for BpfVariable<'a> {
    fn read(bytes: &mut Bytes<'a>, _: &'static str) -> Result<Self> {
        Ok(Self { name: until_nul(bytes.take(64, "key")?), value: until_nul(bytes.take(256, "value")?) })
    }
}
