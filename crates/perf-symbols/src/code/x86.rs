//! Instructions of x86 and x86-64, by the crate iced-x86.

use iced_x86::{
    Decoder, DecoderOptions, Formatter, FormatterOptions, GasFormatter, Instruction, IntelFormatter,
    Mnemonic, OpKind,
};

use super::Syntax;
use super::decoded::{Decoded, Flow};

/// Decodes the first instruction of bytes that are not empty.
pub(super) fn decode(bits: u32, syntax: Syntax, address: u64, bytes: &[u8]) -> Decoded {
    let mut decoder = Decoder::with_ip(bits, bytes, address, DecoderOptions::NONE);
    let instruction = decoder.decode();
    let mut text = String::new();
    match syntax {
        Syntax::Att => {
            let mut formatter = GasFormatter::new();
            set_style(formatter.options_mut());
            formatter.format(&instruction, &mut text);
        }
        Syntax::Intel => {
            let mut formatter = IntelFormatter::new();
            set_style(formatter.options_mut());
            formatter.format(&instruction, &mut text);
        }
    }
    // Without a byte of an instruction, one byte is data.
    let len = u8::try_from(instruction.len()).unwrap_or(u8::MAX).max(1);
    Decoded { address, len, text: text.into(), flow: flow(&instruction) }
}

/// Writes numbers as objdump does.
fn set_style(options: &mut FormatterOptions) {
    options.set_uppercase_hex(false);
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_small_hex_numbers_in_decimal(false);
    options.set_branch_leading_zeros(false);
    options.set_show_branch_size(false);
    options.set_rip_relative_addresses(true);
}

fn flow(instruction: &Instruction) -> Flow {
    let is_branch =
        matches!(instruction.op0_kind(), OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64);
    match instruction.mnemonic() {
        _ if !is_branch => Flow::Next,
        Mnemonic::Call => Flow::Call(instruction.near_branch_target()),
        _ => Flow::Jump(instruction.near_branch_target()),
    }
}
