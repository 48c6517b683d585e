use crate::Result;
use crate::bytes::Bytes;
use crate::list::Read;

/// A BPF program, from [`Feature::BPF_PROG_INFO`](crate::format::Feature::BPF_PROG_INFO).
#[derive(Clone, Copy, Debug)]
pub struct BpfProgram<'a> {
    /// Which arrays of the program are in `data`: bits of `enum perf_bpil_array_types`.
    pub arrays: u64,
    /// `struct bpf_prog_info` of the recording kernel, in the byte order of the file. Its pointers
    /// are offsets in `data`.
    pub info: &'a [u8],
    /// The arrays: instructions, machine code, line information.
    pub data: &'a [u8],
}

impl<'a> Read<'a> for BpfProgram<'a> {
    fn read(bytes: &mut Bytes<'a>) -> Result<Self> {
        let info_len = bytes.u32("length of bpf_prog_info")?;
        let data_len = bytes.u32("length of the data of a program")?;
        Ok(Self {
            arrays: bytes.u64("arrays of a program")?,
            info: bytes.take(info_len.into(), "bpf_prog_info")?,
            data: bytes.take(data_len.into(), "data of a program")?,
        })
    }
}

/// Type information of BPF programs, from [`Feature::BPF_BTF`](crate::format::Feature::BPF_BTF).
#[derive(Clone, Copy, Debug)]
pub struct Btf<'a> {
    /// The id of the BTF object in the kernel.
    pub id: u32,
    /// The BTF, in the byte order of the file.
    pub data: &'a [u8],
}

impl<'a> Read<'a> for Btf<'a> {
    fn read(bytes: &mut Bytes<'a>) -> Result<Self> {
        let id = bytes.u32("id of a BTF object")?;
        let len = bytes.u32("length of a BTF object")?;
        Ok(Self { id, data: bytes.take(len.into(), "BTF object")? })
    }
}
