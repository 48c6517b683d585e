use perf_sys::Attr;

use super::event::Resolver;
use crate::expression::{Problem, Span, Spanned, Term};
use crate::{ParseError, nearest};

/// The terms that set fields of the attr, whatever the PMU is.
const NAMES: [&str; 8] = ["config", "config1", "config2", "config3", "config4", "name", "period", "freq"];

/// The settings of an event by the terms that do not belong to its PMU.
#[derive(Debug, Default)]
pub(super) struct Settings {
    /// The name that replaces the text of the event.
    pub(super) name: Option<String>,
    numbers: Vec<(Number, u64)>,
}

/// A field of the attr.
#[derive(Clone, Copy, Debug)]
enum Number {
    Config,
    Config1,
    Config2,
    Config3,
    Config4,
    Period,
    Frequency,
}

impl Settings {
    pub(super) fn new(terms: &[Term], resolver: &Resolver<'_>) -> Result<Self, ParseError> {
        let mut settings = Self::default();
        for term in terms {
            let number = match term.name.node.as_str() {
                "name" => {
                    settings.name = Some(text(term, resolver)?.to_owned());
                    continue;
                }
                "config" => Number::Config,
                "config1" => Number::Config1,
                "config2" => Number::Config2,
                "config3" => Number::Config3,
                "config4" => Number::Config4,
                "period" => Number::Period,
                "freq" => Number::Frequency,
                name => {
                    let error = resolver.error(term.name.span, Problem::Unknown("term"));
                    return Err(error.with_nearest(nearest::nearest(name, NAMES)));
                }
            };
            settings.numbers.push((number, self::number(term, resolver)?));
        }
        Ok(settings)
    }

    /// Returns the attr with the settings, of two of a kind the last one.
    pub(super) fn apply(&self, attr: Attr) -> Attr {
        self.numbers.iter().fold(attr, |attr, &(number, value)| match number {
            Number::Config => Attr { config: value, ..attr },
            Number::Config1 => attr.with_config1(value),
            Number::Config2 => attr.with_config2(value),
            Number::Config3 => attr.with_config3(value),
            Number::Config4 => attr.with_config4(value),
            Number::Period => attr.with_period(value),
            Number::Frequency => attr.with_frequency(value),
        })
    }
}

fn value<'a>(term: &'a Term, resolver: &Resolver<'_>) -> Result<&'a Spanned<String>, ParseError> {
    let end = Span { start: term.name.span.end, end: term.name.span.end };
    term.value.as_ref().ok_or_else(|| resolver.error(end, Problem::Expected("`=` and the value of the term")))
}

fn text<'a>(term: &'a Term, resolver: &Resolver<'_>) -> Result<&'a str, ParseError> {
    Ok(&value(term, resolver)?.node)
}

fn number(term: &Term, resolver: &Resolver<'_>) -> Result<u64, ParseError> {
    let value = value(term, resolver)?;
    let expected = Problem::Expected("a number of at most 64 bits");
    crate::expression::parse_number(&value.node).ok_or_else(|| resolver.error(value.span, expected))
}
