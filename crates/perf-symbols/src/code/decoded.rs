//! Chooses the decoder of a machine.

use super::{DisassemblyError, Syntax, arm64, x86};

/// `e_machine` of ELF files.
const X86: u16 = 3;
const X86_64: u16 = 62;
const ARM64: u16 = 183;

/// The decoder of a machine.
pub(super) enum Decoder {
    X86 { bits: u32, syntax: Syntax },
    Arm64,
}

/// An instruction without what symbols know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    pub(super) address: u64,
    pub(super) len: u8,
    pub(super) text: Box<str>,
    pub(super) flow: Flow,
}

/// Target of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// To the next one, or to an address that only the running program knows.
    Next,
    Jump(u64),
    Call(u64),
}

impl Decoder {
    pub(super) fn new(machine: u16, syntax: Syntax) -> Result<Self, DisassemblyError> {
        match machine {
            X86 => Ok(Self::X86 { bits: 32, syntax }),
            X86_64 => Ok(Self::X86 { bits: 64, syntax }),
            ARM64 => Ok(Self::Arm64),
            other => Err(DisassemblyError::Machine(other)),
        }
    }

    /// Decodes the first instruction of bytes, of which there is at least one.
    pub(super) fn decode(&self, address: u64, bytes: &[u8]) -> Decoded {
        match *self {
            Self::X86 { bits, syntax } => x86::decode(bits, syntax, address, bytes),
            Self::Arm64 => arm64::decode(address, bytes),
        }
    }
}
