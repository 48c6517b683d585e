//! Instructions of arm64, by the crate yaxpeax-arm.

use std::fmt::Write as _;

use yaxpeax_arch::{Decoder as _, U8Reader};
use yaxpeax_arm::armv8::a64::{InstDecoder, Opcode, Operand};

use super::decoded::{Decoded, Flow};

/// Decodes the first instruction of bytes that are not empty. Instructions are little-endian on all
/// arm64 machines.
pub(super) fn decode(address: u64, bytes: &[u8]) -> Decoded {
    let Some(word) = bytes.first_chunk::<4>() else {
        let text = bytes.iter().map(|byte| format!("{byte:#04x}")).collect::<Vec<_>>().join(", ");
        let len = u8::try_from(bytes.len()).unwrap_or(1);
        return Decoded { address, len, text: format!(".byte {text}").into(), flow: Flow::Next };
    };
    let decoded = InstDecoder::default().decode(&mut U8Reader::new(word));
    let Ok(instruction) = decoded else {
        let text = format!(".inst {:#010x}", u32::from_le_bytes(*word));
        return Decoded { address, len: 4, text: text.into(), flow: Flow::Next };
    };
    let relative = instruction.operands.iter().find_map(|operand| match operand {
        Operand::PCOffset(offset) => Some(*offset),
        _ => None,
    });
    let mut text = instruction.to_string();
    let Some(offset) = relative else {
        return Decoded { address, len: 4, text: text.into(), flow: Flow::Next };
    };
    let is_page = instruction.opcode == Opcode::ADRP;
    let base = if is_page { address & !0xfff } else { address };
    let target = base.wrapping_add_signed(offset);
    // The library writes it as `$+0x10`, relative to the instruction.
    if let Some(at) = text.find('$') {
        text.truncate(at);
        // Writing to memory does not fail.
        let _ = write!(text, "{target:#x}");
    }
    let flow = match instruction.opcode {
        Opcode::BL => Flow::Call(target),
        Opcode::B | Opcode::Bcc(_) | Opcode::CBZ | Opcode::CBNZ | Opcode::TBZ | Opcode::TBNZ => {
            Flow::Jump(target)
        }
        _ => Flow::Next,
    };
    Decoded { address, len: 4, text: text.into(), flow }
}
