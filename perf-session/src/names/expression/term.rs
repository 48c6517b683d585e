use super::cursor::Cursor;
use super::{ParseError, Spanned, Term};

const QUOTE: char = '\'';

/// Returns `true` for the characters of a term's name.
fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// Returns `true` for the characters of a value without quotes.
pub(super) fn is_value(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && !matches!(c, ',' | '/' | '=' | QUOTE)
}

/// Returns `true` for the characters of a value between quotes.
fn is_quoted(c: char) -> bool {
    !c.is_control() && c != QUOTE
}

/// Parses terms up to the closing slash, which is consumed.
pub(super) fn parse_terms(cursor: &mut Cursor<'_>) -> Result<Vec<Term>, ParseError> {
    let mut terms = Vec::new();
    cursor.skip_spaces();
    if cursor.take("/") {
        return Ok(terms);
    }
    loop {
        terms.push(parse_term(cursor)?);
        cursor.skip_spaces();
        if cursor.take("/") {
            return Ok(terms);
        }
        if !cursor.take(",") {
            return Err(cursor.error("`,`, `=` or the closing `/` of the terms"));
        }
        cursor.skip_spaces();
    }
}

fn parse_term(cursor: &mut Cursor<'_>) -> Result<Term, ParseError> {
    if cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
        return Err(cursor.error("the name of a term"));
    }
    let name = cursor.expect_while(is_name, "the name of a term")?;
    let name = Spanned { node: name.node.to_owned(), span: name.span };
    let value = if cursor.take("=") { Some(parse_value(cursor)?) } else { None };
    Ok(Term { name, value })
}

fn parse_value(cursor: &mut Cursor<'_>) -> Result<Spanned<String>, ParseError> {
    let start = cursor.offset();
    if !cursor.take("'") {
        let run = cursor.expect_while(is_value, "the value of the term")?;
        return Ok(Spanned { node: run.node.to_owned(), span: run.span });
    }
    let node = cursor.take_while(is_quoted).node.to_owned();
    if !cursor.take("'") {
        return Err(cursor.error("the closing `'` of the value"));
    }
    Ok(Spanned { node, span: cursor.span_from(start) })
}

/// Returns `true` if the text has the form of a number, which may be too large.
pub(super) fn is_digits(text: &str) -> bool {
    match text.strip_prefix("0x") {
        Some(digits) => !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()),
    }
}
