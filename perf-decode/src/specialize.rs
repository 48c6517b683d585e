//! Constant layouts for attrs that are known only at run time.

use perf_abi::{Attr, AttrFlags, EventType, ReadFormat, SampleType};

use crate::layout::{ConstantLayout, Layout, SampleLayout};

/// Code that is generic over the [`Layout`] and that [`SampleLayout::specialize`] runs.
pub trait LayoutVisitor {
    /// The value that the code returns.
    type Output;

    /// Runs the code with a layout, which is a constant one or the reference that was specialized.
    fn visit<L: Layout>(self, layout: L) -> Self::Output;
}

/// Defines a zero-sized type per sample type, and the function that maps a layout to a type.
macro_rules! specialized {
    ($($(#[$doc:meta])* $Name:ident: $flags:expr, $($BIT:ident)|+ $(, counts $FORMAT:expr)?;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy)]
            struct $Name;

            impl ConstantLayout for $Name {
                const LAYOUT: SampleLayout = layout(
                    $flags,
                    SampleType::empty()$(.union(SampleType::$BIT))+,
                    ReadFormat::empty()$(.union($FORMAT))?,
                );
            }
        )*

        /// Runs the visitor with the constant layout that equals this one, if there is one.
        pub(super) fn specialize<V: LayoutVisitor>(this: &SampleLayout, visitor: V) -> V::Output {
            $(
                let constant = $Name.sample_layout();
                // The fields first: one comparison rules out nearly all others, so that a call for
                // few records costs little.
                if this.sample_type() == constant.sample_type() && this.decodes_as(constant) {
                    return visitor.visit($Name);
                }
            )*
            visitor.visit(this)
        }
    };
}

mod layouts {
    use super::{
        AttrFlags, ConstantLayout, Layout, LayoutVisitor, ReadFormat, SampleLayout, SampleType, layout,
    };

    /// The counts of a group as perf 6.0 and newer ask for them.
    const GROUP: ReadFormat = ReadFormat::GROUP.union(ReadFormat::ID).union(ReadFormat::LOST);

    specialized! {
        /// `perf record` of one event by frequency.
        Default: AttrFlags::SAMPLE_ID_ALL, IP | TID | TIME | PERIOD;
        /// `perf record -g`.
        DefaultCallchain: AttrFlags::SAMPLE_ID_ALL, IP | TID | TIME | PERIOD | CALLCHAIN;
        /// `perf record -a`, which records the CPU too.
        SystemWide: AttrFlags::SAMPLE_ID_ALL, IP | TID | TIME | CPU | PERIOD;
        /// `perf record -a -g`.
        SystemWideCallchain: AttrFlags::SAMPLE_ID_ALL, IP | TID | TIME | CPU | PERIOD | CALLCHAIN;
        /// `perf record -a` since perf 6.0, with a separate side-band event.
        SystemWideWithIdentifier: AttrFlags::SAMPLE_ID_ALL, IDENTIFIER | IP | TID | TIME | CPU | PERIOD;
        /// `perf record -a -g` since perf 6.0.
        SystemWideWithIdentifierCallchain: AttrFlags::SAMPLE_ID_ALL,
            IDENTIFIER | IP | TID | TIME | CPU | PERIOD | CALLCHAIN;
        /// `perf record --call-graph dwarf`.
        Dwarf: AttrFlags::SAMPLE_ID_ALL,
            IP | TID | TIME | ADDR | PERIOD | CALLCHAIN | REGS_USER | STACK_USER | DATA_SRC;
        /// `perf record -a --call-graph dwarf`.
        SystemWideDwarf: AttrFlags::SAMPLE_ID_ALL,
            IDENTIFIER | IP | TID | TIME | ADDR | CPU | PERIOD | CALLCHAIN | REGS_USER | STACK_USER | DATA_SRC;
        /// `perf record -e '{...}:S'`: the counts of a group.
        Group: AttrFlags::SAMPLE_ID_ALL, IP | TID | TIME | ID | PERIOD | READ, counts GROUP;
        /// `perf record -a -e '{...}:S'`.
        SystemWideGroup: AttrFlags::SAMPLE_ID_ALL, IDENTIFIER | IP | TID | TIME | CPU | PERIOD | READ, counts GROUP;
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

/// The user registers that the perf tool samples: all but the segments on x86-64.
const USER_REGS: u64 = if cfg!(target_arch = "x86_64") {
    0xff_0fff
} else if cfg!(target_arch = "aarch64") {
    0x1_ffff_ffff
} else {
    0xffff_ffff
};

/// Returns the layout of an event of these flags, fields and counts.
const fn layout(flags: AttrFlags, fields: SampleType, counts: ReadFormat) -> SampleLayout {
    let attr = Attr::new(EventType::SOFTWARE, 0).with_sample_type(fields).with_flags(flags);
    let attr = attr.with_read_format(counts);
    let has_regs = fields.contains(SampleType::REGS_USER);
    SampleLayout::new(&if has_regs { attr.with_regs_user(USER_REGS) } else { attr })
}

impl SampleLayout {
    /// Runs the visitor with a constant layout equal to this one, or with this reference if none of
    /// the 16 constant layouts is equal. Call it once, outside the loop over records. Records are
    /// then decoded as if the attr were known at compile time.
    ///
    /// The constant layouts are for the perf tool's events (one event, several events, system wide,
    /// with callchains, with registers and stack for DWARF, tracepoints, groups), for a side-band
    /// event, and for the output of BPF programs. The visitor's code is compiled 17 times, which
    /// increases code size.
    ///
    /// A `read_format` without counts in samples and without `inherit_stat` has no effect on the
    /// records, so [`read_format`](Self::read_format) of the constant layout can differ.
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
            assert!(self.0.decodes_as(layout.sample_layout()));
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
    fn attrs_of_the_perf_tool_get_a_constant_layout() {
        use SampleType as S;
        let one = Attr::software(Software::CPU_CLOCK)
            .with_sample_type(S::IP | S::TID | S::TIME | S::PERIOD)
            .with_read_format(ReadFormat::ID | ReadFormat::LOST)
            .with_flags(AttrFlags::SAMPLE_ID_ALL);
        let has_constant = |attr: &Attr| {
            let layout = SampleLayout::new(attr);
            layout.specialize(IsConstant(&layout))
        };
        let with = |attr: Attr, fields: S| attr.with_sample_type(attr.sample_type | fields);
        let all = with(one, S::IDENTIFIER | S::CPU);
        assert!(has_constant(&one) && has_constant(&all) && has_constant(&with(all, S::CALLCHAIN)));
        let dwarf = S::ADDR | S::CALLCHAIN | S::REGS_USER | S::STACK_USER | S::DATA_SRC;
        let group = ReadFormat::GROUP | ReadFormat::ID | ReadFormat::LOST;
        for (attr, id) in [(one, S::ID), (all, S::empty())] {
            let dwarf = with(attr, dwarf).with_regs_user(USER_REGS);
            assert!(has_constant(&dwarf));
            assert!(!has_constant(&dwarf.replace_regs_user(USER_REGS >> 1)));
            let counts = with(attr, S::READ | id);
            assert!(has_constant(&counts.with_read_format(group)));
            let times = group | ReadFormat::TOTAL_TIME_ENABLED;
            assert!(!has_constant(&counts.with_read_format(times)), "other counts in samples");
        }
        let inherited = one.with_flags(AttrFlags::SAMPLE_ID_ALL | AttrFlags::INHERIT_STAT);
        assert!(!has_constant(&inherited), "READ records have these counts");
    }

    #[test]
    fn other_attrs_keep_their_own_layout() {
        assert!(!is_constant(SampleType::IP | SampleType::ADDR, AttrFlags::SAMPLE_ID_ALL));
        assert!(!is_constant(SampleType::IP | SampleType::TID, AttrFlags::empty()));
    }
}
