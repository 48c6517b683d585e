//! Constant layouts for attrs that are known only at run time.

use perf_abi::{Attr, AttrFlags, EventType, SampleType};

use crate::{Layout, SampleLayout};

/// Code that is generic over the [`Layout`] and that [`SampleLayout::specialize`] runs.
pub trait LayoutVisitor {
    /// The value that the code returns.
    type Output;

    /// Runs the code with a layout, which is a constant one or the reference that was specialized.
    fn visit<L: Layout>(self, layout: L) -> Self::Output;
}

/// Defines a zero-sized type per sample type, and the function that maps a layout onto one of them.
macro_rules! specialized {
    ($($(#[$doc:meta])* $Name:ident: $flags:expr, $($BIT:ident)|+;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy)]
            struct $Name;

            impl Layout for $Name {
                #[inline(always)]
                fn sample_layout(&self) -> &SampleLayout {
                    const {
                        &layout($flags, SampleType::empty()$(.union(SampleType::$BIT))+)
                    }
                }
            }
        )*

        /// Runs the visitor with the constant layout that equals this one, if there is one.
        pub(super) fn specialize<V: LayoutVisitor>(this: &SampleLayout, visitor: V) -> V::Output {
            $(
                if this == $Name.sample_layout() {
                    return visitor.visit($Name);
                }
            )*
            visitor.visit(this)
        }
    };
}

mod layouts {
    use super::{AttrFlags, Layout, LayoutVisitor, SampleLayout, SampleType, layout};

    specialized! {
        /// `perf record` of one event by frequency.
        Default: AttrFlags::SAMPLE_ID_ALL, IP | TID | TIME | PERIOD;
        /// `perf record -g`.
        DefaultCallchain: AttrFlags::SAMPLE_ID_ALL, IP | TID | TIME | PERIOD | CALLCHAIN;
        /// `perf record -a`, which records the CPU too.
        SystemWide: AttrFlags::SAMPLE_ID_ALL, IP | TID | TIME | CPU | PERIOD;
        /// `perf record -a -g`.
        SystemWideCallchain: AttrFlags::SAMPLE_ID_ALL, IP | TID | TIME | CPU | PERIOD | CALLCHAIN;
        /// `perf record` of several events with the same fields.
        WithId: AttrFlags::SAMPLE_ID_ALL, IP | TID | TIME | ID | PERIOD;
        /// `perf record` of several events with different fields, and most libraries.
        WithIdentifier: AttrFlags::SAMPLE_ID_ALL, IDENTIFIER | IP | TID | TIME | PERIOD;
        /// `perf record` of a tracepoint.
        Tracepoint: AttrFlags::SAMPLE_ID_ALL, IP | TID | TIME | CPU | PERIOD | RAW;
        /// `perf record` of several tracepoints.
        Tracepoints: AttrFlags::SAMPLE_ID_ALL, IDENTIFIER | IP | TID | TIME | CPU | PERIOD | RAW;
        /// The side-band event of a profiler, which has no samples.
        SideBand: AttrFlags::SAMPLE_ID_ALL, IDENTIFIER | TID | TIME | CPU;
        /// The output of BPF programs, as libbpf and its descendants open it.
        BpfOutput: AttrFlags::empty(), RAW;
    }
}

/// Returns the layout of an event of these flags and fields.
const fn layout(flags: AttrFlags, fields: SampleType) -> SampleLayout {
    SampleLayout::new(&Attr::new(EventType::SOFTWARE, 0).with_sample_type(fields).with_flags(flags))
}

impl SampleLayout {
    /// Runs the visitor with a constant layout equal to this one, or with this reference if none of
    /// the ten constant layouts is equal. Call it once, outside the loop over records. Records are
    /// then decoded as if the attr were known at compile time.
    ///
    /// The constant layouts are those of the perf tool's events (one event, several events, system
    /// wide, with callchains, tracepoints), of a side-band event, and of the output of BPF
    /// programs. The visitor's code is compiled eleven times, which increases code size.
    ///
    /// ```
    /// use perf_abi::{Attr, SampleType, Software};
    /// use perf_decode::{Layout, LayoutVisitor, Record, SampleLayout, Scratch, Window};
    /// # use perf_decode::testing::builder::{SampleBuilder, ring};
    ///
    /// struct SumOfIps<'a>(Window<'a>, &'a mut Scratch);
    ///
    /// impl LayoutVisitor for SumOfIps<'_> {
    ///     type Output = Result<u64, perf_decode::Error>;
    ///
    ///     fn visit<L: Layout>(self, layout: L) -> Self::Output {
    ///         let mut sum = 0_u64;
    ///         for record in self.0.records(self.1) {
    ///             if let Record::Sample(sample) = record?.decode(layout)? {
    ///                 sum = sum.wrapping_add(sample.ip().unwrap_or(0));
    ///             }
    ///         }
    ///         Ok(sum)
    ///     }
    /// }
    ///
    /// # let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(SampleType::IP | SampleType::TID);
    /// # let (data, tail, head) = ring(&[SampleBuilder::new(&attr).ip(7).finish()], 64, 0);
    /// let layout = SampleLayout::new(&attr);
    /// let mut scratch = Scratch::new();
    /// assert_eq!(layout.specialize(SumOfIps(Window::new(&data, tail, head)?, &mut scratch)), Ok(7));
    /// # Ok::<(), perf_decode::Error>(())
    /// ```
    pub fn specialize<V: LayoutVisitor>(&self, visitor: V) -> V::Output {
        layouts::specialize(self, visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_abi::Software;

    /// A visitor that returns whether its layout is a constant one.
    struct IsConstant<'a>(&'a SampleLayout);

    impl LayoutVisitor for IsConstant<'_> {
        type Output = bool;

        fn visit<L: Layout>(self, layout: L) -> bool {
            assert_eq!(layout.sample_layout(), self.0);
            size_of::<L>() == 0
        }
    }

    fn is_constant(fields: SampleType, flags: AttrFlags) -> bool {
        let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(fields).with_flags(flags);
        let layout = SampleLayout::new(&attr);
        layout.specialize(IsConstant(&layout))
    }

    #[test]
    fn common_attrs_get_a_constant_layout_equal_to_theirs() {
        let perf = SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::PERIOD;
        let all = AttrFlags::SAMPLE_ID_ALL;
        assert!(is_constant(perf, all));
        assert!(is_constant(perf | SampleType::CALLCHAIN, all));
        assert!(is_constant(perf | SampleType::CPU, all));
        assert!(is_constant(perf | SampleType::CPU | SampleType::CALLCHAIN, all));
        assert!(is_constant(perf | SampleType::ID, all));
        assert!(is_constant(perf | SampleType::IDENTIFIER, all));
        assert!(is_constant(perf | SampleType::CPU | SampleType::RAW, all));
        assert!(is_constant(perf | SampleType::CPU | SampleType::RAW | SampleType::IDENTIFIER, all));
        let side_band = SampleType::IDENTIFIER | SampleType::TID | SampleType::TIME | SampleType::CPU;
        assert!(is_constant(side_band, all));
        assert!(is_constant(SampleType::RAW, AttrFlags::empty()));
    }

    #[test]
    fn other_attrs_keep_their_own_layout() {
        assert!(!is_constant(SampleType::IP | SampleType::ADDR, AttrFlags::SAMPLE_ID_ALL));
        assert!(!is_constant(SampleType::IP | SampleType::TID, AttrFlags::empty()));
    }
}
