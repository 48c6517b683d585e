//! Parser of a `print fmt`: a C string, and C expressions as its arguments.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::payload::{BytesField, Format, Kind};

use super::{Conversion, Count, Expression, Function, Memory, Operator, Piece, field};

/// Limits of the nesting and of the number of expressions, because the text is not trusted. Formats
/// of the kernel need a tenth of them.
const MAX_DEPTH: u32 = 200;
const MAX_KEPT: u32 = 2000;

pub(super) struct Parser<'f, 't> {
    format: &'f Format<'t>,
    rest: &'t str,
    depth: u32,
    kept: u32,
    /// Set by a constant that the kernel did not replace by its number.
    has_unknown: bool,
}

/// Operators by precedence, the lowest first. Within a level, longer operators come first.
const LEVELS: [&[(&str, Operator)]; 10] = [
    &[("||", Operator::Or)],
    &[("&&", Operator::And)],
    &[("|", Operator::BitOr)],
    &[("^", Operator::BitXor)],
    &[("&", Operator::BitAnd)],
    &[("==", Operator::Equal), ("!=", Operator::NotEqual)],
    &[
        ("<=", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ],
    &[("<<", Operator::ShiftLeft), (">>", Operator::ShiftRight)],
    &[("+", Operator::Plus), ("-", Operator::Minus)],
    &[("*", Operator::Times), ("/", Operator::Divide), ("%", Operator::Remainder)],
];

impl<'f, 't> Parser<'f, 't> {
    pub(super) fn new(format: &'f Format<'t>) -> Self {
        Self { format, rest: format.print_fmt, depth: 0, kept: 0, has_unknown: false }
    }

    /// Parses the whole text.
    pub(super) fn pieces(mut self) -> Option<Vec<Piece>> {
        let text = self.literal()?;
        let mut pieces = Vec::new();
        let mut literal = Vec::new();
        let mut rest = text.as_slice();
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            match (byte, rest.first()) {
                (b'%', Some(b'%')) => {
                    literal.push(b'%');
                    rest = rest.get(1..)?;
                }
                (b'%', _) => {
                    pieces.push(Piece::Literal(core::mem::take(&mut literal)));
                    pieces.push(self.conversion(&mut rest)?);
                }
                _ => literal.push(byte),
            }
        }
        pieces.push(Piece::Literal(literal));
        self.skip_blanks();
        self.rest.is_empty().then_some(pieces)
    }

    /// Parses a conversion after its `%`, and consumes its arguments.
    fn conversion(&mut self, rest: &mut &[u8]) -> Option<Piece> {
        let mut has = |wanted: u8| {
            let is_there = rest.first() == Some(&wanted);
            if is_there {
                *rest = rest.get(1..).unwrap_or_default();
            }
            is_there
        };
        let (mut is_left, mut has_zeros, mut has_prefix, mut has_plus) = (false, false, false, false);
        loop {
            if has(b'-') {
                is_left = true;
            } else if has(b'0') {
                has_zeros = true;
            } else if has(b'#') {
                has_prefix = true;
            } else if has(b'+') {
                has_plus = true;
            } else if !has(b' ') {
                break;
            }
        }
        let width = self.count(rest)?;
        let precision = match rest.strip_prefix(b".") {
            Some(after) => {
                *rest = after;
                Some(self.count(rest)?)
            }
            None => None,
        };
        let sizes: [(&[u8], u32); 8] =
            [(b"hh", 1), (b"h", 2), (b"ll", 8), (b"l", 8), (b"L", 8), (b"z", 8), (b"j", 8), (b"t", 8)];
        let size = sizes.iter().find_map(|(prefix, size)| Some((rest.strip_prefix(*prefix)?, *size)));
        let (after, size) = size.unwrap_or((*rest, 4));
        let (&kind, after) = after.split_first()?;
        *rest = after;
        // Kernel extensions. Some print functions. Others print memory at the address, which must
        // be a field of the payload, because other memory is unknown here.
        if let Some(memory) = Some(&mut *rest).filter(|_| kind == b'p').and_then(Memory::parse) {
            return self.memory(memory, is_left, width);
        }
        let function = match rest.first().filter(|_| kind == b'p') {
            Some(b'S' | b'F' | b'B') => Some(Function::NameAndOffset),
            Some(b's' | b'f') => Some(Function::Name),
            _ => None,
        };
        let size = match kind {
            b'p' if function.is_some() || matches!(rest.first(), Some(b'x' | b'K')) => {
                *rest = rest.get(1..)?;
                8
            }
            b'p' if rest.first().is_some_and(u8::is_ascii_alphanumeric) => return None,
            b'p' | b's' => 8,
            b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'c' => size,
            _ => return None,
        };
        let argument = self.argument()?;
        let conversion =
            Conversion { is_left, has_zeros, has_prefix, has_plus, width, precision, size, kind, function };
        Some(Piece::Value(conversion, argument))
    }

    /// Consumes the argument of an extension that prints the bytes of a field.
    fn memory(&mut self, memory: Memory, is_left: bool, width: Count) -> Option<Piece> {
        self.expect(",")?;
        let field = self.field_bytes(false)?;
        let (width, count) = match width {
            width if !memory.takes_count() => (width, None),
            Count::Argument(bits) => (Count::Fixed(0), Some(bits)),
            Count::Fixed(0) => (Count::Fixed(0), None),
            Count::Fixed(bits) => (Count::Fixed(0), Some(Expression::Number(bits as u64))),
        };
        let conversion = Conversion {
            is_left,
            has_zeros: false,
            has_prefix: false,
            has_plus: false,
            width,
            precision: None,
            size: 8,
            kind: b's',
            function: None,
        };
        self.kept += 1;
        let text = Expression::Memory(memory, field, count.map(Box::new));
        (self.kept <= MAX_KEPT).then_some(Piece::Value(conversion, text))
    }

    /// Parses the address of a field of the payload: an array, `&` and another field, or a function
    /// for a dynamic field. `is_address` is set after `&`.
    fn field_bytes(&mut self, is_address: bool) -> Option<BytesField> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let field = if self.has("&") {
            self.field_bytes(true)?
        } else if self.has("(") {
            if self.cast().is_some() {
                self.field_bytes(is_address)?
            } else {
                let inner = self.field_bytes(is_address)?;
                self.expect(")")?;
                inner
            }
        } else {
            self.skip_blanks();
            let name = match self.word() {
                "REC" => {
                    self.expect("->")?;
                    self.word()
                }
                "__get_dynamic_array"
                | "__get_rel_dynamic_array"
                | "__get_sockaddr"
                | "__get_rel_sockaddr"
                | "__get_bitmask"
                | "__get_rel_bitmask"
                | "__get_cpumask"
                | "__get_rel_cpumask" => self.only_argument()?,
                _ => return None,
            };
            let field = self.format.field(name)?;
            // A pointer's target is outside the payload.
            let is_in_payload =
                matches!(field.kind, Kind::Array { .. } | Kind::Text | Kind::Opaque) || is_address;
            is_in_payload.then(|| field.bytes())?
        };
        self.depth -= 1;
        Some(field)
    }

    /// Parses a width or precision.
    fn count(&mut self, rest: &mut &[u8]) -> Option<Count> {
        if let Some(after) = rest.strip_prefix(b"*") {
            *rest = after;
            return self.argument().map(Count::Argument);
        }
        let mut count = 0_usize;
        while let Some((&digit, after)) = rest.split_first().filter(|(digit, _)| digit.is_ascii_digit()) {
            count = count.saturating_mul(10).saturating_add(usize::from(digit - b'0'));
            *rest = after;
        }
        Some(Count::Fixed(count))
    }

    /// Consumes a comma and the next argument.
    fn argument(&mut self) -> Option<Expression> {
        self.expect(",")?;
        self.expression()
    }

    /// Parses a string literal, which may be concatenated from several.
    fn literal(&mut self) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        self.expect("\"")?;
        loop {
            let mut bytes = self.rest.bytes().enumerate();
            let end = loop {
                match bytes.next()? {
                    (end, b'"') => break end,
                    (_, b'\\') => text.push(escaped(bytes.next()?.1)),
                    (_, byte) => text.push(byte),
                }
            };
            self.rest = self.rest.get(end + 1..)?;
            if !self.has("\"") {
                return Some(text);
            }
        }
    }

    fn expression(&mut self) -> Option<Expression> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let condition = self.binary(0)?;
        let whole = if self.has("?") {
            let yes = self.expression()?;
            self.expect(":")?;
            let no = self.expression()?;
            self.keep(Expression::Condition(Box::new([condition, yes, no])))?
        } else {
            condition
        };
        self.depth -= 1;
        Some(whole)
    }

    /// Parses operators of this precedence and above.
    fn binary(&mut self, level: usize) -> Option<Expression> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = self.operator(operators) {
            let right = self.binary(level + 1)?;
            let is_unsigned = left.is_unsigned() || right.is_unsigned();
            let operator = if is_unsigned { operator.unsigned() } else { operator };
            left = self.keep(Expression::Binary(operator, Box::new(left), Box::new(right)))?;
        }
        Some(left)
    }

    fn operator(&mut self, operators: &[(&str, Operator)]) -> Option<Operator> {
        self.skip_blanks();
        let (text, operator) = operators.iter().find(|(text, _)| self.rest.starts_with(text))?;
        let after = self.rest.get(text.len()..)?;
        // `|` and `<` also begin other operators.
        let is_longer = matches!(
            (*text, after.bytes().next()),
            ("|", Some(b'|')) | ("&", Some(b'&')) | ("<", Some(b'<')) | (">", Some(b'>'))
        );
        if is_longer {
            return None;
        }
        self.rest = after;
        Some(*operator)
    }

    fn unary(&mut self) -> Option<Expression> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        self.skip_blanks();
        let whole = match self.rest.bytes().next()? {
            operator @ (b'-' | b'+' | b'~' | b'!') => {
                self.rest = self.rest.get(1..)?;
                let of = self.unary()?;
                self.keep(Expression::Unary(operator, Box::new(of)))?
            }
            b'"' => Expression::Literal(self.literal()?),
            b'\'' => self.character()?,
            b'0'..=b'9' => self.number()?,
            b'(' => {
                self.rest = self.rest.get(1..)?;
                if let Some((size, is_signed)) = self.cast() {
                    let of = Box::new(self.unary()?);
                    match *of {
                        // A cast to `char *`.
                        Expression::Literal(_) | Expression::Text(_) => *of,
                        _ => self.keep(Expression::Cast { size, is_signed, of })?,
                    }
                } else {
                    let inner = self.expression()?;
                    self.expect(")")?;
                    inner
                }
            }
            _ => self.name()?,
        };
        self.depth -= 1;
        Some(whole)
    }

    /// Parses a character in quotes, such as `'S'` or `'\n'`.
    fn character(&mut self) -> Option<Expression> {
        let mut bytes = self.rest.bytes().skip(1);
        let (byte, len) = match bytes.next()? {
            b'\\' => (escaped(bytes.next()?), 4),
            byte => (byte, 3),
        };
        self.rest = self.rest.get(..len)?.ends_with('\'').then(|| self.rest.get(len..))??;
        Some(Expression::Number(byte.into()))
    }

    fn number(&mut self) -> Option<Expression> {
        let word = self.word();
        let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
        let number = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(hex) => u64::from_str_radix(hex, 16),
            None if digits.len() > 1 && digits.starts_with('0') => u64::from_str_radix(digits, 8),
            None => digits.parse(),
        };
        number.ok().map(Expression::Number)
    }

    /// Parses the rest of `(TYPE)`. Returns the size and whether it is signed, or takes nothing.
    fn cast(&mut self) -> Option<(u32, bool)> {
        let (inner, after) = self.rest.split_once(')')?;
        let is_pointer = inner.trim_end().ends_with('*');
        let words: Vec<_> = inner.trim_end_matches(['*', ' ']).split_whitespace().collect();
        let is_name = |word: &&str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let last = words.last().filter(|_| words.iter().all(is_name))?;
        let is_qualified = words.len() > 1
            && matches!(
                *words.first()?,
                "unsigned" | "signed" | "const" | "struct" | "enum" | "union" | "long"
            );
        let is_unsigned = words.contains(&"unsigned");
        let named = match last.trim_start_matches('_') {
            "u8" | "uint8_t" | "uchar" => (1, false),
            "s8" | "int8_t" => (1, true),
            "u16" | "uint16_t" | "ushort" => (2, false),
            "s16" | "int16_t" => (2, true),
            "u32" | "uint32_t" | "uint" => (4, false),
            "s32" | "int32_t" => (4, true),
            "char" => (1, !is_unsigned),
            "short" => (2, !is_unsigned),
            "int" if words.contains(&"long") => (8, !is_unsigned),
            "int" | "unsigned" | "signed" => (4, !is_unsigned && *last != "unsigned"),
            // Fields of other kernel types are read at their own width, so a cast need not narrow
            // them.
            "s64" | "int64_t" => (8, true),
            "long" => (8, !is_unsigned),
            "u64" | "void" | "bool" | "size_t" | "ulong" => (8, false),
            name if is_qualified || name.ends_with("_t") => (8, false),
            _ => return None,
        };
        self.rest = after;
        Some(if is_pointer { (8, false) } else { named })
    }

    /// Parses an expression that begins with a name.
    fn name(&mut self) -> Option<Expression> {
        let name = self.word();
        match name {
            "" => None,
            "REC" => {
                self.expect("->")?;
                let name = self.word();
                if !self.has("[") {
                    return field(self.format, name);
                }
                let index = self.expression()?;
                self.expect("]")?;
                let array = self.format.field(name)?.array().ok()?;
                self.keep(Expression::Element(array, Box::new(index)))
            }
            "__get_str" | "__get_rel_str" => {
                let name = self.only_argument()?;
                self.format.field(name)?.text().ok().map(Expression::Text)
            }
            "__get_dynamic_array_len" | "__get_rel_dynamic_array_len" => {
                let name = self.only_argument()?;
                Some(Expression::Length(self.format.field(name)?.bytes()))
            }
            "__print_hex" | "__print_hex_str" => {
                let separator = if name == "__print_hex" { Some(' ') } else { None };
                self.expect("(")?;
                let field = self.field_bytes(false)?;
                let count = Some(Box::new(self.argument()?));
                self.expect(")")?;
                self.keep(Expression::Memory(Memory::Hex { separator }, field, count))
            }
            "__print_array" => {
                self.expect("(")?;
                let field = self.field_bytes(false)?;
                let count = Some(Box::new(self.argument()?));
                let size = usize::try_from(self.argument()?.number(&[])?).ok()?;
                self.expect(")")?;
                self.keep(Expression::Memory(Memory::Array { size }, field, count))
            }
            "__get_bitmask" | "__get_rel_bitmask" | "__get_cpumask" | "__get_rel_cpumask" => {
                let name = self.only_argument()?;
                Some(Expression::Memory(Memory::Bits, self.format.field(name)?.bytes(), None))
            }
            "sizeof" => {
                self.expect("(")?;
                let (size, _) = self.cast()?;
                Some(Expression::Number(size.into()))
            }
            "__print_flags" | "__print_flags_u64" => {
                self.expect("(")?;
                let of = Box::new(self.expression()?);
                self.expect(",")?;
                let between = self.literal()?;
                let names = self.names()?;
                self.keep(Expression::Flags(of, between, names))
            }
            "__print_symbolic" | "__print_symbolic_u64" => {
                self.expect("(")?;
                let of = Box::new(self.expression()?);
                let names = self.names()?;
                self.keep(Expression::Symbolic(of, names))
            }
            "__builtin_expect" => {
                self.expect("(")?;
                let expected = self.expression()?;
                self.argument()?;
                self.expect(")")?;
                Some(expected)
            }
            // A function that is not supported here.
            _ if self.has("(") => None,
            // The perf tool, too, takes 0 for a constant that the kernel did not replace.
            _ => {
                self.has_unknown = true;
                Some(Expression::Number(0))
            }
        }
    }

    /// Parses `(NAME)`.
    fn only_argument(&mut self) -> Option<&'t str> {
        self.expect("(")?;
        self.skip_blanks();
        let name = self.word();
        self.expect(")")?;
        Some(name)
    }

    /// Parses `, { VALUE, "NAME" } ..)`.
    fn names(&mut self) -> Option<super::Names> {
        let mut names = Vec::new();
        while self.has(",") {
            self.expect("{")?;
            self.has_unknown = false;
            let value = self.expression()?.number(&[])?;
            self.expect(",")?;
            let name = self.expression()?;
            self.expect("}")?;
            // Some lists end with `{ 0, NULL }`.
            if let (Expression::Literal(name), false) = (name, self.has_unknown) {
                names.push((value, name));
            }
        }
        self.expect(")")?;
        Some(names)
    }

    /// Folds an expression of constants into a number, and counts other expressions.
    fn keep(&mut self, expression: Expression) -> Option<Expression> {
        let is_number = |part: &Expression| matches!(part, Expression::Number(_));
        let is_constant = match &expression {
            Expression::Binary(_, left, right) => is_number(left) && is_number(right),
            Expression::Unary(_, of) | Expression::Cast { of, .. } => is_number(of),
            _ => false,
        };
        if is_constant {
            return expression.number(&[]).map(Expression::Number);
        }
        self.kept += 1;
        (self.kept <= MAX_KEPT).then_some(expression)
    }

    /// Consumes letters, digits and underscores.
    fn word(&mut self) -> &'t str {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let end = self.rest.bytes().position(|byte| !is_part(byte)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end).unwrap_or_default();
        self.rest = rest;
        word
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    /// Consumes a text if it comes next.
    fn has(&mut self, text: &str) -> bool {
        self.skip_blanks();
        let after = self.rest.strip_prefix(text);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn expect(&mut self, text: &str) -> Option<()> {
        self.has(text).then_some(())
    }
}

/// Returns the byte of an escape sequence, by the letter after the backslash.
fn escaped(letter: u8) -> u8 {
    match letter {
        b'n' => b'\n',
        b't' => b'\t',
        b'0' => 0,
        other => other,
    }
}
