//! Prints payloads of tracepoints as the kernel does, by the `print fmt` of the tracepoint.

use alloc::borrow::{Cow, ToOwned as _};
use alloc::boxed::Box;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use alloc::{format, vec};

use crate::payload::{ArrayField, BytesField, Format, IntegerField, Kind, TextField, to_signed};

mod memory;
mod names;
mod parser;

use memory::Memory;
use names::Function;
pub use names::{KernelNames, KernelTexts};
use parser::Parser;

/// The parsed `print fmt` of a tracepoint, which prints payloads as the kernel does.
///
/// A `print fmt` is a C format string with C expressions as its arguments. It may use the kernel's
/// helpers for flags, symbols, arrays, bitmaps and network addresses. Numbers are 64 bits wide, as
/// in the perf tool.
///
/// ```
/// use perf_tracepoint::{Format, KernelTexts, PrintFormat};
///
/// let text = "name: softirq_raise
/// ID: 7
/// format:
/// \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
///
/// \tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;
///
/// print fmt: \"vec=%u [action=%s]\", REC->vec, __print_symbolic(REC->vec, { 1, \"TIMER\" }, { 9, \"RCU\" })
/// ";
/// let format = PrintFormat::parse(&Format::parse(text)?).expect("one that is understood");
/// let payload = [0_u32, 0, 9].map(u32::to_ne_bytes).concat();
/// let mut line = Vec::new();
/// format.print(&payload, &KernelTexts::default(), &mut line);
/// assert_eq!(line, b"vec=9 [action=RCU]");
/// # Ok::<(), perf_tracepoint::FormatError>(())
/// ```
///
/// # References
///
/// - `Documentation/core-api/printk-formats.rst`
#[derive(Clone, Debug)]
pub struct PrintFormat(Vec<Piece>);

/// Literal text or a conversion.
#[derive(Clone, Debug)]
enum Piece {
    Literal(Vec<u8>),
    Value(Conversion, Expression),
}

/// A conversion such as `%-8s` or `%016llx`.
#[derive(Clone, Debug)]
struct Conversion {
    is_left: bool,
    has_zeros: bool,
    has_prefix: bool,
    has_plus: bool,
    width: Count,
    precision: Option<Count>,
    /// Size of the C type in bytes.
    size: u32,
    kind: u8,
    /// Prints the function at an address instead of the address.
    function: Option<Function>,
}

/// A width or precision.
#[derive(Clone, Debug)]
enum Count {
    Fixed(usize),
    /// `*`, with its argument.
    Argument(Expression),
}

/// An argument or a part of it. Numbers are 64 bits wide, as in the perf tool.
#[derive(Clone, Debug)]
enum Expression {
    Number(u64),
    Literal(Vec<u8>),
    Integer(IntegerField),
    Text(TextField),
    Element(ArrayField, Box<Expression>),
    /// Length in bytes of a dynamic field.
    Length(BytesField),
    /// Bytes of a field in a kernel notation, with the number of bits, bytes or elements.
    Memory(Memory, BytesField, Option<Box<Expression>>),
    Cast {
        size: u32,
        is_signed: bool,
        of: Box<Expression>,
    },
    Unary(u8, Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
    Condition(Box<[Expression; 3]>),
    /// `__print_flags`: the names of the set bits, with a separator.
    Flags(Box<Expression>, Vec<u8>, Names),
    /// `__print_symbolic`: the name of the number.
    Symbolic(Box<Expression>, Names),
}

type Names = Vec<(u64, Vec<u8>)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    NotEqual,
    Less,
    Greater,
    LessOrEqual,
    GreaterOrEqual,
    /// Unsigned comparisons.
    Below,
    Above,
    BelowOrEqual,
    AboveOrEqual,
    ShiftLeft,
    ShiftRight,
    Plus,
    Minus,
    Times,
    Divide,
    Remainder,
}

/// The value of an expression.
#[derive(Debug, PartialEq)]
enum Value<'a> {
    Number(u64),
    Text(Cow<'a, [u8]>),
}

impl PrintFormat {
    /// Parses the print format of a tracepoint. Returns `None` if it is missing or has unsupported
    /// syntax, such as statement blocks. Use [`Format::display`] for the payloads in that case.
    pub fn parse(format: &Format<'_>) -> Option<Self> {
        Parser::new(format).pieces().map(Self)
    }

    /// Returns whether the format prints functions of the kernel, by [`KernelNames::function`].
    pub fn has_functions(&self) -> bool {
        self.0
            .iter()
            .any(|piece| matches!(piece, Piece::Value(conversion, _) if conversion.function.is_some()))
    }

    /// Returns whether the format prints texts of the kernel that are not in the payload, by
    /// [`KernelNames::text`].
    pub fn has_texts(&self) -> bool {
        self.0.iter().any(|piece| matches!(piece, Piece::Value(conversion, argument) if conversion.kind == b's' && argument.may_be_address()))
    }

    /// Appends the text of a payload. Parts that are not in the payload are printed as `?`.
    /// Functions and texts of the kernel without a name are printed as their addresses.
    ///
    /// Texts in the payload are not escaped. They hold the bytes of names of tasks and files, which
    /// users choose.
    pub fn print(&self, raw: &[u8], names: &dyn KernelNames, out: &mut Vec<u8>) {
        for piece in &self.0 {
            match piece {
                Piece::Literal(text) => out.extend_from_slice(text),
                Piece::Value(conversion, argument) => {
                    let value = argument.value(raw);
                    let name = match (conversion.function, &value) {
                        (Some(what), Some(Value::Number(address))) => {
                            names.function(*address).map(|function| what.print(function, *address).into())
                        }
                        (None, Some(Value::Number(address))) if conversion.kind == b's' => {
                            names.text(*address).map(Cow::Borrowed)
                        }
                        _ => None,
                    };
                    conversion.print(name.map(Value::Text).or(value), raw, out);
                }
            }
        }
    }
}

impl Expression {
    /// Returns the value; `None` if a field is not in the payload, and for a division by 0.
    fn value<'a>(&'a self, raw: &'a [u8]) -> Option<Value<'a>> {
        Some(Value::Number(match self {
            Self::Literal(text) => return Some(Value::Text(text.into())),
            Self::Memory(memory, field, count) => {
                let count = match count {
                    Some(count) => Some(usize::try_from(count.number(raw)?).ok()?),
                    None => None,
                };
                return Some(Value::Text(memory.print(field.read(raw)?, count)?.into_bytes().into()));
            }
            Self::Text(field) => return Some(Value::Text(field.read(raw)?.into())),
            Self::Condition(parts) => {
                let [condition, yes, no] = &**parts;
                return if condition.number(raw)? == 0 { no.value(raw) } else { yes.value(raw) };
            }
            Self::Flags(of, between, names) => {
                return Some(Value::Text(flags(of.number(raw)?, between, names).into()));
            }
            Self::Symbolic(of, names) => {
                let number = of.number(raw)?;
                let name = names.iter().find(|(value, _)| *value == number);
                let text =
                    name.map_or_else(|| format!("{number:#x}").into_bytes().into(), |(_, name)| name.into());
                return Some(Value::Text(text));
            }
            Self::Number(number) => *number,
            // Sign-extended if the field is signed.
            Self::Integer(field) => field.read_u64(raw)?,
            Self::Element(field, index) => {
                let index = usize::try_from(index.number(raw)?).ok()?;
                field.read(raw)?.nth(index)?
            }
            Self::Length(field) => field.read(raw)?.len() as u64,
            Self::Cast { size, is_signed, of } => narrowed(of.number(raw)?, *size, *is_signed),
            Self::Unary(operator, of) => {
                let number = of.number(raw)?;
                match operator {
                    b'-' => number.wrapping_neg(),
                    b'~' => !number,
                    b'!' => u64::from(number == 0),
                    _ => number,
                }
            }
            Self::Binary(operator, left, right) => operator.apply(left.number(raw)?, || right.number(raw))?,
        }))
    }

    /// Returns whether the type is unsigned, which makes a comparison unsigned.
    fn is_unsigned(&self) -> bool {
        match self {
            Self::Integer(field) => !field.is_signed(),
            Self::Cast { is_signed, .. } => !is_signed,
            Self::Unary(operator, of) => *operator != b'!' && of.is_unsigned(),
            Self::Condition(parts) => parts.iter().skip(1).any(Self::is_unsigned),
            Self::Binary(Operator::ShiftLeft | Operator::ShiftRight, left, _) => left.is_unsigned(),
            Self::Binary(
                Operator::BitOr
                | Operator::BitXor
                | Operator::BitAnd
                | Operator::Plus
                | Operator::Minus
                | Operator::Times
                | Operator::Divide
                | Operator::Remainder,
                left,
                right,
            ) => left.is_unsigned() || right.is_unsigned(),
            _ => false,
        }
    }

    /// Returns whether its value may be the address of a text.
    fn may_be_address(&self) -> bool {
        match self {
            Self::Integer(_) | Self::Element(..) => true,
            Self::Cast { of, .. } => of.may_be_address(),
            Self::Condition(parts) => parts.iter().skip(1).any(Self::may_be_address),
            _ => false,
        }
    }

    fn number(&self, raw: &[u8]) -> Option<u64> {
        match self.value(raw)? {
            Value::Number(number) => Some(number),
            Value::Text(_) => None,
        }
    }
}

impl Operator {
    /// Returns the unsigned form of a comparison. Other operators work on both.
    fn unsigned(self) -> Self {
        match self {
            Self::Less => Self::Below,
            Self::Greater => Self::Above,
            Self::LessOrEqual => Self::BelowOrEqual,
            Self::GreaterOrEqual => Self::AboveOrEqual,
            other => other,
        }
    }

    fn apply(self, left: u64, right: impl FnOnce() -> Option<u64>) -> Option<u64> {
        let is_decided = (self == Self::Or && left != 0) || (self == Self::And && left == 0);
        if is_decided {
            return Some(u64::from(left != 0));
        }
        let right = right()?;
        let (left_signed, right_signed) = (to_signed(left), to_signed(right));
        // C leaves such shifts undefined, so any value is right.
        let shift = u32::try_from(right).unwrap_or(u32::MAX);
        Some(match self {
            Self::Or | Self::And => u64::from(right != 0),
            Self::BitOr => left | right,
            Self::BitXor => left ^ right,
            Self::BitAnd => left & right,
            Self::Equal => u64::from(left == right),
            Self::NotEqual => u64::from(left != right),
            Self::Less => u64::from(left_signed < right_signed),
            Self::Greater => u64::from(left_signed > right_signed),
            Self::LessOrEqual => u64::from(left_signed <= right_signed),
            Self::GreaterOrEqual => u64::from(left_signed >= right_signed),
            Self::Below => u64::from(left < right),
            Self::Above => u64::from(left > right),
            Self::BelowOrEqual => u64::from(left <= right),
            Self::AboveOrEqual => u64::from(left >= right),
            Self::ShiftLeft => left.checked_shl(shift).unwrap_or(0),
            Self::ShiftRight => left.checked_shr(shift).unwrap_or(0),
            Self::Plus => left.wrapping_add(right),
            Self::Minus => left.wrapping_sub(right),
            Self::Times => left.wrapping_mul(right),
            Self::Divide => left.checked_div(right)?,
            Self::Remainder => left.checked_rem(right)?,
        })
    }
}

/// Truncates a number to `size` bytes and extends it to 64 bits again.
fn narrowed(number: u64, size: u32, is_signed: bool) -> u64 {
    let unused = 64_u32.saturating_sub(size.saturating_mul(8)).min(63);
    let lowest = number << unused >> unused;
    // Flipping and subtracting the sign bit extends it.
    let sign = 1 << (63 - unused);
    if is_signed { (lowest ^ sign).wrapping_sub(sign) } else { lowest }
}

/// Returns the names of the set bits, and the bits without a name as a number.
fn flags(mut bits: u64, between: &[u8], names: &Names) -> Vec<u8> {
    let mut text = Vec::new();
    for (value, name) in names {
        if bits == 0 && *value == 0 {
            text.extend_from_slice(name);
            return text;
        }
        if *value != 0 && bits & value == *value {
            if !text.is_empty() {
                text.extend_from_slice(between);
            }
            text.extend_from_slice(name);
            bits &= !value;
        }
    }
    if bits != 0 {
        if !text.is_empty() {
            text.extend_from_slice(between);
        }
        text.extend_from_slice(format!("{bits:#x}").as_bytes());
    }
    text
}

/// Greatest width and precision. A larger number comes from damaged text.
const MAX_WIDTH: usize = 256;

impl Count {
    fn value(&self, raw: &[u8]) -> Option<usize> {
        match self {
            Self::Fixed(count) => Some(*count),
            Self::Argument(argument) => usize::try_from(argument.number(raw)?).ok(),
        }
    }
}

impl Conversion {
    fn print(&self, value: Option<Value<'_>>, raw: &[u8], out: &mut Vec<u8>) {
        let width = self.width.value(raw).unwrap_or(0).min(MAX_WIDTH);
        let precision = self.precision.as_ref().map(|precision| precision.value(raw).unwrap_or(usize::MAX));
        let (sign, digits): (&[u8], Cow<'_, [u8]>) = match value {
            None => (b"", Cow::Borrowed(b"?")),
            Some(Value::Text(text)) => {
                let length = precision.unwrap_or(usize::MAX).min(text.len());
                (b"", text.get(..length).unwrap_or_default().to_vec().into())
            }
            Some(Value::Number(number)) => self.number(number, precision),
        };
        let padding = width.saturating_sub(sign.len() + digits.len());
        let is_number = self.kind != b's' && self.kind != b'c';
        let zeros = self.has_zeros && !self.is_left && is_number && precision.is_none();
        if !self.is_left && !zeros {
            out.resize(out.len() + padding, b' ');
        }
        out.extend_from_slice(sign);
        if zeros {
            out.resize(out.len() + padding, b'0');
        }
        out.extend_from_slice(&digits);
        if self.is_left {
            out.resize(out.len() + padding, b' ');
        }
    }

    /// Returns the sign or prefix, and the digits.
    fn number(&self, number: u64, precision: Option<usize>) -> (&'static [u8], Cow<'static, [u8]>) {
        let unsigned = narrowed(number, self.size, false);
        let (sign, digits): (&[u8], String) = match self.kind {
            b'd' | b'i' => {
                let signed = to_signed(narrowed(number, self.size, true));
                let sign: &[u8] = match signed {
                    ..0 => b"-",
                    _ if self.has_plus => b"+",
                    _ => b"",
                };
                (sign, signed.unsigned_abs().to_string())
            }
            b'x' => (if self.has_prefix && unsigned != 0 { b"0x" } else { b"" }, format!("{unsigned:x}")),
            b'X' => (if self.has_prefix && unsigned != 0 { b"0X" } else { b"" }, format!("{unsigned:X}")),
            b'o' => (if self.has_prefix && unsigned != 0 { b"0" } else { b"" }, format!("{unsigned:o}")),
            b'p' if unsigned == 0 => (b"", "(nil)".to_owned()),
            b's' if unsigned == 0 => (b"", "(null)".to_owned()),
            // `%s` prints the address of an unknown text like a pointer.
            b'p' | b's' => (b"0x", format!("{unsigned:x}")),
            b'c' => {
                let byte = u8::try_from(unsigned & 0xff).unwrap_or(b'?');
                return (b"", Cow::Owned(vec![byte]));
            }
            _ => (b"", unsigned.to_string()),
        };
        let zeros = precision.unwrap_or(0).min(MAX_WIDTH).saturating_sub(digits.len());
        (sign, format!("{}{digits}", "0".repeat(zeros)).into_bytes().into())
    }
}

/// Returns the expression of a field of a tracepoint.
fn field(format: &Format<'_>, name: &str) -> Option<Expression> {
    let field = format.field(name)?;
    match field.kind {
        Kind::Integer | Kind::Pointer => field.integer().ok().map(Expression::Integer),
        Kind::Text => field.text().ok().map(Expression::Text),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
