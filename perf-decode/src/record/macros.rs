//! The macro that expands the table of record kinds.

/// Expands one row per record kind into all that depends on the set of kinds.
///
/// `LOST => lost::Lost, fixed, { id: number, lost: number };` becomes the module and the `use` of
/// the view, the variant `Lost(Lost<'a, L>)`, the arm of the decoder, the check of the record's
/// length, and the list of fields. The word after the view names the end of the body:
///
/// | word | body | check |
/// |---|---|---|
/// | `fixed` | the view's words | length |
/// | `name(field)` | the view's words, then a name up to the trailer | length, and a NUL |
/// | `end` | its own length | `fn end(Body) -> Result<&[u64]>` of the file |
/// | `end_then_trailer` | as `end`, and the trailer follows it, not the end of the record | the same |
/// | `end_or_name(field)` | as `name`, with `end` for records with a build id or a long padding | both |
macro_rules! records {
    ($($KIND:ident => $file:ident::$View:ident, $end:ident $(($name:ident))?,
        { $($field:ident: $form:ident $(= $getter:ident)?),* };)*) => {
        $(mod $file;)*
        $(pub use $file::$View;)*

        /// A decoded record: a validated view of its words.
        ///
        /// Every accessor is total and takes constant time, except that of a name, which searches
        /// for its NUL. The parameter `L` is the type of the layout, by default a reference: see
        /// [`Layout`].
        ///
        // The tag is the kernel's number and all views have the same memory layout, so that making
        // a record copies five words, and a `match` on it is a `match` on the header's kind.
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        #[repr(u32)]
        pub enum Record<'a, L = &'a SampleLayout> {
            /// [`RecordType::SAMPLE`].
            Sample(Sample<'a, L>) = RecordType::SAMPLE.0,
            $(
                #[doc = concat!("[`RecordType::", stringify!($KIND), "`].")]
                $View($View<'a, L>) = RecordType::$KIND.0,
            )*
            /// A kind that this decoder does not know, kept as it is.
            Unknown(RawRecord<'a>) = u32::MAX,
        }

        impl<'a> RawRecord<'a> {
            /// Decodes this record with the layout of its event. Validates all its words once.
            ///
            /// Pass a `&SampleLayout`, or a value of a type that stands for a constant [`Layout`].
            ///
            /// # Errors
            ///
            /// [`Error::Truncated`](crate::Error::Truncated),
            /// [`Unterminated`](crate::Error::Unterminated) or [`Invalid`](crate::Error::Invalid)
            /// name the field; [`UnknownBits`](crate::Error::UnknownBits) names the field of the
            /// attr that is newer than this decoder. An error does not affect the records after
            /// this one.
            // Inlined, so that a caller's `match` is compiled into this one and no record is built
            // in memory, which would be three to four times slower (benches `ratios`, d and e).
            #[inline(always)]
            pub fn decode<L: Layout>(self, layout: L) -> Result<Record<'a, L>> {
                let known = layout.sample_layout();
                if self.kind() == RecordType::SAMPLE {
                    return match sample::offsets(self.words(), known) {
                        Some(offsets) => Ok(Record::Sample(Sample::validated(self.words(), layout, offsets))),
                        None => Err(sample::sample_error(self.words(), known)),
                    };
                }
                let words = if self.is_simple_and_whole(known) {
                    self.words()
                } else if let Some(words) = check::whole(self.words(), known) {
                    words
                } else {
                    return Err(check::error(self.words(), known));
                };
                Ok(match self.kind() {
                    // Returned before. Without this arm the kinds would have a gap, and LLVM would
                    // make the match a jump table instead of a copy of the kind.
                    RecordType::SAMPLE => Record::Sample(Sample::from_header(words, layout, self.first_word())),
                    $(RecordType::$KIND => Record::$View($View(View::new(words, layout, self.first_word()))),)*
                    _ => Record::Unknown(self),
                })
            }
        }

        impl<'a, L: Layout> Record<'a, L> {
            /// Returns the common view of a side-band record; `None` for a sample or an unknown
            /// kind.
            #[inline(always)]
            fn side_band(&self) -> Option<View<'a, L, 1>> {
                match self {
                    Self::Sample(_) | Self::Unknown(_) => None,
                    $(Self::$View(view) => Some(view.0.common()),)*
                }
            }

            /// Returns the time in the body, of the kinds that have one.
            fn own_time(&self) -> Option<u64> {
                match self {
                    Self::Sample(_) | Self::Unknown(_) => None,
                    $(Self::$View(view) => view.time_in_body(),)*
                }
            }

            /// Returns the number of words between the last field and the trailer; 0 for a sample.
            fn unclaimed_words(&self) -> usize {
                match self {
                    Self::Sample(_) | Self::Unknown(_) => 0,
                    $(Self::$View(_view) => unclaimed!(_view, $end),)*
                }
            }

            /// Returns the first field at or after index `next` of the row that this record has, and
            /// advances `next` past it.
            fn next_field(&self, next: &mut usize) -> Option<Field<'a>> {
                match self {
                    Self::Sample(_) => None,
                    Self::Unknown(raw) => fields::unknown(*raw, next),
                    $(Self::$View(_view) => {
                        let getters: &[fn(&$View<'a, L>) -> Option<Field<'a>>] = &[$(
                            |view| Some(Field { name: stringify!($field), value: value!($form, getter!(view, $field $($getter)?)) }),
                        )*];
                        while let Some(get) = getters.get(*next) {
                            *next += 1;
                            if let Some(field) = get(_view) {
                                return Some(field);
                            }
                        }
                        None
                    })*
                }
            }
        }

        /// The check of each kind's length, by its number.
        #[expect(clippy::indexing_slicing, reason = "a constant: a kind above `LAST` does not compile")]
        const LENGTH_CHECKS: [LengthCheck; RecordType::LAST.0 as usize + 1] = {
            let mut checks = [LengthCheck::UNKNOWN; RecordType::LAST.0 as usize + 1];
            $(checks[RecordType::$KIND.0 as usize] = length_check!($View, $end);)*
            checks
        };

        /// Returns the check of the length of a kind that is not a sample.
        #[inline(always)]
        fn length_check(kind: RecordType) -> LengthCheck {
            LENGTH_CHECKS.get(kind.0 as usize).copied().unwrap_or(LengthCheck::UNKNOWN)
        }

        /// Returns the check of a kind that has a row.
        fn body_end(kind: RecordType) -> Option<for<'a> fn(Body<'a>) -> Result<&'a [u64]>> {
            match kind {
                $(RecordType::$KIND => Some(body_end!($file::$View, $end $(($name))?)),)*
                _ => None,
            }
        }

        /// Returns whether the trailer of this kind is located by the end of the body, not by the
        /// end of the record: see [`Body::words_with_trailer_after`].
        pub(crate) fn trailer_follows_body(kind: RecordType) -> bool {
            match kind {
                $(RecordType::$KIND => trailer_follows_body!($end),)*
                _ => false,
            }
        }
    };
}

/// The check of a row's length.
macro_rules! length_check {
    ($View:ident, fixed) => {
        LengthCheck::fixed(<$View<'_>>::WORDS)
    };
    ($View:ident, name) => {
        LengthCheck::named(<$View<'_>>::WORDS)
    };
    ($View:ident, end_or_name) => {
        LengthCheck::named(<$View<'_>>::WORDS)
    };
    ($View:ident, end) => {
        LengthCheck::rare(<$View<'_>>::WORDS)
    };
    ($View:ident, end_then_trailer) => {
        LengthCheck::rare(<$View<'_>>::WORDS)
    };
}

/// The check of a row, as a function of the body.
macro_rules! body_end {
    ($file:ident::$View:ident, fixed) => {
        |body| Ok(body.words())
    };
    ($file:ident::$View:ident, name($field:ident)) => {
        |body| body.name_end(stringify!($field), <$View<'_>>::WORDS).map(|_| body.words())
    };
    ($file:ident::$View:ident, end_or_name($field:ident)) => {
        $file::end
    };
    ($file:ident::$View:ident, end) => {
        $file::end
    };
    ($file:ident::$View:ident, end_then_trailer) => {
        $file::end
    };
}

/// The words of a row's view that no field claims.
macro_rules! unclaimed {
    ($view:ident, fixed) => {
        $view.0.tail().len()
    };
    ($view:ident, end) => {
        $view.unclaimed_words()
    };
    // What follows the trailer is not part of the view.
    ($view:ident, end_then_trailer) => {
        0
    };
    ($view:ident, $named:ident) => {
        $view.0.words_after_name()
    };
}

/// Whether the trailer of a row is after the end of the body.
macro_rules! trailer_follows_body {
    (end_then_trailer) => {
        true
    };
    ($end:ident) => {
        false
    };
}

/// The accessor of a field: the method of the same name, unless the row names another.
macro_rules! getter {
    ($view:ident, $field:ident) => {
        $view.$field()
    };
    ($view:ident, $field:ident $getter:ident) => {
        $view.$getter()
    };
}

/// The value of a field in one of the forms that rows name; returns from the getter if it is absent.
macro_rules! value {
    (number, $value:expr) => {
        Value::Number(u64::from($value))
    };
    (some_number, $value:expr) => {
        Value::Number(u64::from($value?))
    };
    (hex, $value:expr) => {
        Value::Hex($value)
    };
    (task, $value:expr) => {
        Value::Task($value)
    };
    (text, $value:expr) => {
        Value::Text($value)
    };
    (bytes, $value:expr) => {
        Value::Bytes($value)
    };
    (some_bytes, $value:expr) => {
        Value::Bytes($value?)
    };
    (words, $value:expr) => {
        Value::Words($value)
    };
    (counts, $value:expr) => {
        Value::Read($value)
    };
    (namespaces, $value:expr) => {
        Value::Namespaces($value)
    };
    (aux_flags, $value:expr) => {
        Value::AuxFlags($value)
    };
    (ksymbol_type, $value:expr) => {
        Value::KsymbolType($value)
    };
    (ksymbol_flags, $value:expr) => {
        Value::KsymbolFlags($value)
    };
    (bpf_event_type, $value:expr) => {
        Value::BpfEventType($value)
    };
}
