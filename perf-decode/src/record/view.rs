//! The memory layout that the views of all records but samples share.

use perf_abi::{Header, Misc};

use crate::{Layout, SampleId, word};

/// A validated record: its words, its layout and its header.
///
/// Holding one proves that the record has its header and body, `WORDS` words at least, and that
/// `words` end in the trailer of the layout. Accessors are total: their fallbacks for missing words
/// are never taken.
///
/// All kinds have the same fields, in whole words, so that a [`Record`](crate::Record) is moved and
/// matched on without being repacked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct View<'a, L, const WORDS: usize> {
    words: &'a [u64],
    layout: L,
    header: u64,
}

impl<'a, L, const WORDS: usize> View<'a, L, WORDS> {
    /// Views words that were validated.
    #[inline(always)]
    pub(super) fn new(words: &'a [u64], layout: L, header: u64) -> Self {
        Self { words, layout, header }
    }

    /// Returns the header and the fixed part of the body: one bounds check for all fields in it.
    #[inline(always)]
    pub(super) fn fixed(&self) -> &'a [u64; WORDS] {
        self.words.first_chunk().unwrap_or(const { &[0; WORDS] })
    }

    #[inline(always)]
    pub(super) fn header(&self) -> Header {
        Header::from_word(self.header)
    }

    #[inline(always)]
    pub(super) fn misc(&self) -> Misc {
        self.header().misc
    }
}

impl<'a, L: Layout, const WORDS: usize> View<'a, L, WORDS> {
    /// Returns the view without its kind's fixed part.
    #[inline(always)]
    pub(super) fn common(self) -> View<'a, L, 1> {
        View { words: self.words, layout: self.layout, header: self.header }
    }

    /// Returns the layout that the record was validated against.
    #[inline(always)]
    pub(super) fn layout(&self) -> L {
        self.layout
    }

    /// Returns the words after the fixed part, without the trailer.
    #[inline(always)]
    pub(super) fn tail(&self) -> &'a [u64] {
        let end = self.words.len().wrapping_sub(usize::from(self.layout.sample_layout().trailer_words));
        self.words.get(WORDS..end).unwrap_or(&[])
    }

    /// Returns the name after the fixed part, up to its first NUL.
    #[inline]
    pub(super) fn name(&self) -> &'a [u8] {
        word::text(self.tail()).unwrap_or(&[])
    }

    /// Returns the words between the word of the name's NUL and the trailer.
    pub(super) fn words_after_name(&self) -> usize {
        self.tail().len().saturating_sub(word::words_for(self.name().len() + 1))
    }

    #[inline(always)]
    pub(super) fn sample_id(&self) -> SampleId<'a, L> {
        SampleId::new(self.words, self.layout)
    }

    /// Returns the words after the header, with the trailer.
    pub(super) fn body(&self) -> &'a [u64] {
        self.words.get(1..).unwrap_or(&[])
    }

    /// Returns the bytes of the record that come after the trailer.
    pub(super) fn bytes_after_trailer(&self) -> usize {
        usize::from(self.header().size).saturating_sub(self.words.len() * 8)
    }
}

/// Defines the view of one record kind.
///
/// ```text
/// view! {
///     /// The first line says when the kernel writes the record.
///     Lost: 3 words;
/// }
/// ```
///
/// expands to the struct, whose fixed part has that many words with the header, and to what all
/// views have: `misc`, `time`, `sample_id`, `Debug` and `Display`. `Fork: 4 words, time in word 3;` adds
/// the time in the body.
macro_rules! view {
    ($(#[$meta:meta])* $Name:ident: $words:literal words $(, time in word $time:literal)?;) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub struct $Name<'a, L = &'a crate::SampleLayout>(pub(super) super::view::View<'a, L, $words>);

        const _: () = assert!(size_of::<$Name<'_>>() <= 32);

        impl $Name<'_> {
            /// Words of the header and of the fixed part of the body.
            pub(super) const WORDS: usize = $words;
        }

        impl<'a, L: crate::Layout> $Name<'a, L> {
            /// Returns the header's `misc` bits.
            #[inline]
            #[must_use]
            pub fn misc(&self) -> perf_abi::Misc {
                self.0.misc()
            }

            /// Returns when the record was written, in ns of the event's clock: the time in the trailer,
            /// or else the one in the body if the kind has one.
            #[inline]
            #[must_use]
            pub fn time(&self) -> Option<u64> {
                match self.sample_id().time() {
                    None => self.time_in_body(),
                    time => time,
                }
            }

            /// Returns the trailer: the event that wrote the record, the time, the task and the
            /// CPU.
            #[inline]
            #[must_use]
            pub fn sample_id(&self) -> crate::SampleId<'a, L> {
                self.0.sample_id()
            }

            $(
                /// Returns the time in the body, in ns of the event's clock.
                #[inline]
                #[must_use]
                pub fn own_time(&self) -> u64 {
                    self.0.fixed()[$time]
                }
            )?

            #[inline(always)]
            pub(super) fn time_in_body(&self) -> Option<u64> {
                None $(.or(Some(self.0.fixed()[$time])))?
            }
        }

        impl<L: crate::Layout> core::fmt::Debug for $Name<'_, L> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                super::Record::$Name(*self).fields().debug(f, stringify!($Name))
            }
        }

        impl<L: crate::Layout> core::fmt::Display for $Name<'_, L> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(&super::Record::$Name(*self), f)
            }
        }
    };
}
