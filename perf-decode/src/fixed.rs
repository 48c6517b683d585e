//! The accessors of the fixed words that a sample, its head and a trailer share: written once, and
//! shown on the page of each.

/// Defines the accessors of the six fields that samples and trailers have.
///
/// The type has a method `word(row) -> Option<u64>` for the rows of the named table of
/// `field_order`.
macro_rules! common_fields {
    ($TABLE:ident) => {
        /// Returns the process id in the opener's pid namespace; `0xffffffff` if the process has
        /// none there, 0 for the idle task.
        #[inline]
        pub fn pid(&self) -> Option<u32> {
            let word = self.word(const { crate::field_order::row(&$TABLE, perf_abi::SampleType::TID) });
            word.map(|word| crate::word::halves(word)[0])
        }

        /// Returns the thread id in the opener's pid namespace, as [`pid`](Self::pid).
        #[inline]
        pub fn tid(&self) -> Option<u32> {
            let word = self.word(const { crate::field_order::row(&$TABLE, perf_abi::SampleType::TID) });
            word.map(|word| crate::word::halves(word)[1])
        }

        /// Returns when the record was written, in ns of the event's clock.
        #[inline]
        pub fn time(&self) -> Option<u64> {
            self.word(const { crate::field_order::row(&$TABLE, perf_abi::SampleType::TIME) })
        }

        /// Returns the id of the opened event; an inherited copy reports its parent's.
        #[inline]
        pub fn id(&self) -> Option<u64> {
            self.word(const { crate::field_order::row(&$TABLE, perf_abi::SampleType::ID) })
        }

        /// Returns the id of the event, or of the inherited copy, that wrote the record.
        #[inline]
        pub fn stream_id(&self) -> Option<u64> {
            self.word(const { crate::field_order::row(&$TABLE, perf_abi::SampleType::STREAM_ID) })
        }

        /// Returns the CPU that wrote the record.
        #[inline]
        pub fn cpu(&self) -> Option<u32> {
            let word = self.word(const { crate::field_order::row(&$TABLE, perf_abi::SampleType::CPU) });
            word.map(|word| crate::word::halves(word)[0])
        }

        /// Returns the same id as [`id`](Self::id), at an offset that does not depend on the
        /// layout: the first field of a sample, the last word of a trailer. Since Linux 3.12.
        #[inline]
        pub fn identifier(&self) -> Option<u64> {
            self.word(const { crate::field_order::row(&$TABLE, perf_abi::SampleType::IDENTIFIER) })
        }
    };
}

/// Defines the accessors of the fixed head of a sample: those of [`common_fields`] and three more.
macro_rules! head_fields {
    () => {
        crate::fixed::common_fields!(HEAD);

        /// Returns the instruction pointer: the address of the instruction that caused the event if
        /// [`exact_ip`](Self::exact_ip) is set, else one near it.
        #[inline]
        pub fn ip(&self) -> Option<u64> {
            self.word(const { crate::field_order::row(&HEAD, perf_abi::SampleType::IP) })
        }

        /// Returns the data address of the fault, the breakpoint or the sampled access; 0 if the
        /// event has none.
        #[inline]
        pub fn addr(&self) -> Option<u64> {
            self.word(const { crate::field_order::row(&HEAD, perf_abi::SampleType::ADDR) })
        }

        /// Returns the number of events since the previous sample, in ns for the clocks.
        #[inline]
        pub fn period(&self) -> Option<u64> {
            self.word(const { crate::field_order::row(&HEAD, perf_abi::SampleType::PERIOD) })
        }

        /// Returns whether [`ip`](Self::ip) is the instruction that caused the event. Since Linux
        /// 2.6.35.
        #[inline]
        pub fn exact_ip(&self) -> bool {
            self.misc().contains(perf_abi::Misc::EXACT_IP)
        }

        /// Returns the header's `misc` bits: the CPU mode, and whether the address is exact.
        #[inline]
        pub fn misc(&self) -> perf_abi::Misc {
            perf_abi::Header::from_word(self.words.first().copied().unwrap_or(0)).misc
        }

        /// Returns the whole record as words, the header first.
        #[inline]
        pub fn words(&self) -> &'a [u64] {
            self.words
        }

        /// Returns the layout that the record was validated against.
        #[inline]
        pub fn layout(&self) -> L {
            self.layout
        }

        /// Returns the fields that the event records in a sample.
        #[inline]
        pub fn sample_type(&self) -> perf_abi::SampleType {
            self.layout.sample_layout().sample_type()
        }
    };
}

pub(crate) use {common_fields, head_fields};
