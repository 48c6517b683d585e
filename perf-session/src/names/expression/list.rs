use std::str::FromStr;

use super::cursor::Cursor;
use super::event::{is_name, parse_event};
use super::{Expression, Group, Modifiers, ParseError, Spanned};

impl FromStr for Expression {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut cursor = Cursor::new(text);
        let mut groups = Vec::new();
        loop {
            cursor.skip_spaces();
            groups.push(parse_group(&mut cursor)?);
            cursor.skip_spaces();
            if cursor.rest().is_empty() {
                return Ok(Self { groups });
            }
            if !cursor.take(",") {
                return Err(cursor.error("`,` or the end"));
            }
        }
    }
}

fn parse_group(cursor: &mut Cursor<'_>) -> Result<Group, ParseError> {
    // A name before a brace is a group's; without the brace it is read again, as an event.
    let mut ahead = cursor.clone();
    let name = ahead.take_while(is_name);
    if !ahead.take("{") {
        let event = parse_event(cursor)?;
        return Ok(Group { events: vec![event], ..Group::default() });
    }
    *cursor = ahead;
    let name = (!name.node.is_empty()).then(|| Spanned { node: name.node.to_owned(), span: name.span });
    let mut events = Vec::new();
    loop {
        cursor.skip_spaces();
        events.push(parse_event(cursor)?);
        cursor.skip_spaces();
        if cursor.take("}") {
            break;
        }
        if !cursor.take(",") {
            return Err(cursor.error("`,` or the closing `}` of the group"));
        }
    }
    let modifiers = if cursor.take(":") {
        let modifiers = Modifiers::parse(cursor)?;
        if modifiers.node.is_empty() {
            return Err(cursor.error("modifiers"));
        }
        modifiers
    } else {
        Spanned { node: Modifiers::default(), span: cursor.span_from(cursor.offset()) }
    };
    Ok(Group { name, is_braced: true, events, modifiers })
}
