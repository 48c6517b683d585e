//! Counts, callchain, raw data, registers, stack and the fixed words after them.

use super::*;

#[test]
fn counts_of_an_event_and_of_a_group_differ() {
    let entry = |value| ReadValue { value, id: value + 100, lost: 0 };
    let read = BuiltRead { time_enabled: 20, time_running: 10, values: Vec::from([entry(1), entry(2)]) };
    let times = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
    let cases = [
        (times | ReadFormat::ID, "read=[1 id 101 enabled 20 running 10]"),
        (ReadFormat::GROUP | ReadFormat::ID, "read=[1 id 101, 2 id 102]"),
        (ReadFormat::GROUP | times | ReadFormat::LOST, "read=[1 lost 0, 2 lost 0 enabled 20 running 10]"),
    ];
    for (format, text) in cases {
        let attr = event(SampleType::READ | SampleType::CALLCHAIN).with_read_format(format);
        let words = SampleBuilder::new(&attr).read(read.clone()).callchain(&[5]).finish();
        assert_eq!(fields(&words, &attr).unwrap(), [text, "callchain=[0x5]"]);
    }
}

#[test]
fn callchain_count_is_checked_before_it_is_multiplied() {
    let attr = event(SampleType::CALLCHAIN);
    for nr in [2, 1 << 61, u64::MAX] {
        let mut words = SampleBuilder::new(&attr).callchain(&[5]).finish();
        words[1] = nr;
        let expected = Error::Truncated {
            kind: RecordType::SAMPLE,
            field: "callchain",
            needed: u32::try_from(nr.saturating_mul(8)).unwrap_or(u32::MAX),
            found: 8,
        };
        assert_eq!(fields(&words, &attr), Err(expected));
    }
}

#[test]
fn raw_data_includes_its_padding() {
    let attr = event(SampleType::RAW | SampleType::WEIGHT);
    let words = SampleBuilder::new(&attr).raw(b"hello").weight(9).finish();
    let raw = with_sample(&words, &attr, |s| (s.raw().unwrap().to_vec(), s.weight().unwrap().0));
    assert_eq!(raw, Ok((b"hello\0\0\0\0\0\0\0".to_vec(), 9)));
}

#[test]
fn raw_data_that_ends_within_a_word_is_refused() {
    let attr = event(SampleType::RAW);
    let mut words = SampleBuilder::new(&attr).raw(b"hello").finish();
    words[1] = zerocopy::transmute!([5_u32, 0]);
    assert_eq!(fields(&words, &attr), Err(invalid_field("raw", 5)));
}

const REGS: SampleType = SampleType::REGS_USER.union(SampleType::STACK_USER).union(SampleType::REGS_INTR);

#[test]
fn task_without_registers_has_none_and_no_register_words() {
    let attr = event(REGS | SampleType::CGROUP).with_regs_user(0b1011).with_regs_intr(0b11);
    let words = SampleBuilder::new(&attr).regs_user(0, &[]).regs_intr(2, &[7, 8]).cgroup(99).finish();
    let read = with_sample(&words, &attr, |s| {
        assert_eq!(s.regs_user(), None);
        assert_eq!(s.fields().map(|field| field.name).next(), Some("user_abi"));
        assert_eq!(s.regs_intr().unwrap().values(), [7, 8]);
        s.cgroup()
    });
    assert_eq!(read, Ok(Some(99)));
}

#[test]
fn registers_have_the_masks_of_their_event() {
    let wanted = SampleType::REGS_USER | SampleType::REGS_INTR;
    let attr = event(wanted).with_regs_user(0b1011).with_regs_intr(0b110);
    let words = SampleBuilder::new(&attr).regs_user(2, &[4, 5, 6]).regs_intr(1, &[7, 8]).finish();
    let read = with_sample(&words, &attr, |s| {
        let [user, intr] = [s.regs_user().unwrap(), s.regs_intr().unwrap()];
        assert_eq!((user.abi(), user.mask(), user.get(3)), (RegsAbi::ABI_64, 0b1011, Some(6)));
        assert_eq!((intr.abi(), intr.mask(), intr.get(2)), (RegsAbi::ABI_32, 0b110, Some(8)));
        (s.layout().regs_user(), s.layout().regs_intr())
    });
    assert_eq!(read, Ok((0b1011, 0b110)));
}

#[test]
fn unknown_abi_is_refused() {
    let attr = event(SampleType::REGS_USER).with_regs_user(1);
    let words = SampleBuilder::new(&attr).regs_user(3, &[7]).finish();
    assert_eq!(fields(&words, &attr), Err(invalid_field("regs_user", 3)));
}

#[test]
fn registers_beyond_the_end_of_a_sample_are_truncated() {
    let attr = event(SampleType::REGS_USER).with_regs_user(0b111);
    let words = truncate(SampleBuilder::new(&attr).regs_user(2, &[7, 8, 9]).finish(), 1);
    let refused = fields(&words, &attr);
    let expected = Error::truncated(RecordType::SAMPLE, "regs_user", 3, 2);
    assert_eq!(refused, Err(expected));
}

#[test]
fn stack_ends_at_dyn_size() {
    let attr = event(SampleType::STACK_USER | SampleType::DATA_SRC);
    let words = SampleBuilder::new(&attr).stack_user(&[1; 16], 5).data_src(3).finish();
    let read = with_sample(&words, &attr, |s| {
        let stack = s.stack_user().unwrap();
        (stack.bytes().to_vec(), stack.size(), s.data_src().unwrap().0)
    });
    assert_eq!(read, Ok((std::vec![1; 5], 16, 3)));
}

#[test]
fn empty_stack_has_no_dyn_size() {
    let attr = event(SampleType::STACK_USER | SampleType::DATA_SRC);
    let words = SampleBuilder::new(&attr).stack_user(&[], 0).data_src(3).finish();
    assert_eq!(words.len(), 3);
    assert_eq!(with_sample(&words, &attr, |s| s.stack_user().unwrap().bytes().len()), Ok(0));
}

/// The parts of a sample with registers and an empty stack, each word a different number.
fn after_stack(wanted: SampleType) -> (Attr, SampleBuilder) {
    let attr = event(SampleType::REGS_USER | SampleType::STACK_USER | wanted);
    let mut attr = attr.with_regs_user(1);
    attr.sample_regs_intr = 0b11;
    let sample = SampleBuilder::new(&attr)
        .regs_user(2, &[7])
        .weight(20)
        .data_src(21)
        .transaction(22)
        .regs_intr(1, &[23, 24])
        .phys_addr(25)
        .cgroup(26)
        .data_page_size(27)
        .code_page_size(28)
        .aux(&[29; 16]);
    (attr, sample)
}

/// Writes the extra word into a sample as the kernel does: after the size of the stack, without
/// space for it.
fn with_extra_word(sample: SampleBuilder) -> Vec<u64> {
    let mut words = sample.finish();
    assert_eq!(words[1..4], [2, 7, 0]); // abi, register, size
    words.insert(4, 0);
    truncate(words, 1)
}

#[test]
fn field_that_the_extra_word_after_an_empty_stack_displaces_is_absent() {
    let cases = [
        (SampleType::WEIGHT, "weight"),
        (SampleType::WEIGHT_STRUCT, "weight_struct"),
        (SampleType::WEIGHT | SampleType::DATA_SRC, "data_src"),
        (SampleType::TRANSACTION, "transaction"),
        (SampleType::DATA_SRC | SampleType::REGS_INTR, "intr_regs"),
        (SampleType::PHYS_ADDR, "phys_addr"),
        (SampleType::REGS_INTR | SampleType::CGROUP, "cgroup"),
        (SampleType::DATA_PAGE_SIZE, "data_page_size"),
        (SampleType::DATA_PAGE_SIZE | SampleType::CODE_PAGE_SIZE, "code_page_size"),
        (SampleType::WEIGHT | SampleType::AUX, "aux"),
    ];
    for (wanted, lost) in cases {
        let (attr, sample) = after_stack(wanted);
        let whole = fields(&sample.clone().finish(), &attr).unwrap();
        let words = with_extra_word(sample);
        let expected: Vec<_> = whole
            .into_iter()
            .filter(|field| !field.starts_with(&std::format!("{lost}=")))
            .filter(|field| lost != "intr_regs" || !field.starts_with("intr_abi="))
            .collect();
        assert_eq!(fields(&words, &attr), Ok(expected), "{lost}");
        let (layout, raw) = (SampleLayout::new(&attr), RawRecord::from_words(&words).unwrap());
        let record = raw.decode(&layout).unwrap();
        assert_eq!((record.truncated_field(), record.trailing_len()), (Some(lost), 0));
        assert!(record.to_string().ends_with(&std::format!(" ({lost} truncated)")), "{record}");
        // One word less is damage.
        let refused = fields(&truncate(words.clone(), 1), &attr);
        assert!(matches!(refused, Err(Error::Truncated { .. })), "{lost}: {refused:?}");
        // A sample that another event has enlarged has all fields.
        let words = grow(grow(words, 99), 98);
        let found = with_sample(&words, &attr, |sample| {
            (sample.truncated_field(), sample.fields().any(|field| field.name == lost))
        });
        assert_eq!(found, Ok((None, true)), "{lost}");
    }
}

#[test]
fn lost_word_of_a_size_or_of_an_abi_is_one_field() {
    for (wanted, lost) in [(SampleType::AUX, "aux"), (SampleType::REGS_INTR, "intr_regs")] {
        let attr = event(SampleType::REGS_USER | SampleType::STACK_USER | wanted);
        let sample = SampleBuilder::new(&attr.with_regs_user(1)).regs_user(2, &[7]);
        let found = with_sample(&with_extra_word(sample), &attr.with_regs_user(1), |sample| {
            (
                sample.truncated_field(),
                sample.fields().count(),
                sample.aux().is_none() && sample.regs_intr().is_none(),
            )
        });
        assert_eq!(found, Ok((Some(lost), 3, true)));
    }
}

#[test]
fn extra_word_costs_nothing_where_the_stack_is_last() {
    let (attr, sample) = after_stack(SampleType::empty());
    let words = sample.finish();
    for words in [words.clone(), grow(words, 0)] {
        // Registers have the names of the architecture.
        let fields = fields(&words, &attr).unwrap();
        assert!(fields[1].starts_with("user_regs=[") && fields[1].ends_with("=0x7]"), "{fields:?}");
        assert_eq!([&fields[0], &fields[2]], ["user_abi=2", "stack_size=0"]);
        let found = with_sample(&words, &attr, |sample| (sample.truncated_field(), sample.trailing().len()));
        assert_eq!(found, Ok((None, 0)));
    }
}

/// The kernel's word is 0, because it has copied nothing.
#[test]
fn other_word_after_an_empty_stack_is_the_next_field() {
    let attr = event(SampleType::REGS_USER | SampleType::STACK_USER | SampleType::DATA_SRC).with_regs_user(1);
    let sample = |registers: u64, data_src| {
        let words = SampleBuilder::new(&attr).regs_user(registers, &[7]).data_src(data_src).finish();
        with_sample(&words, &attr, |sample| {
            (sample.data_src().map(|source| source.0), sample.truncated_field())
        })
    };
    assert_eq!(sample(2, 3), Ok((Some(3), None)));
    // Without registers the kernel copies no stack and adds no extra word.
    assert_eq!(sample(0, 0), Ok((Some(0), None)));
    let words = SampleBuilder::new(&attr).regs_user(0, &[]).finish();
    let refused = fields(&truncate(words, 1), &attr);
    assert!(matches!(refused, Err(Error::Truncated { field: "data_src", .. })), "{refused:?}");
}

#[test]
fn cgroup_precedes_the_page_sizes_and_aux_is_last() {
    let wanted = SampleType::PHYS_ADDR
        | SampleType::AUX
        | SampleType::CGROUP
        | SampleType::DATA_PAGE_SIZE
        | SampleType::CODE_PAGE_SIZE;
    let attr = event(wanted | SampleType::WEIGHT_STRUCT | SampleType::TRANSACTION);
    let words = SampleBuilder::new(&attr)
        .weight(1)
        .transaction(2)
        .phys_addr(3)
        .cgroup(4)
        .data_page_size(5)
        .code_page_size(6)
        .aux(&[7; 8])
        .finish();
    assert_eq!(words[1..], [1, 2, 3, 4, 5, 6, 8, 0x0707_0707_0707_0707]);
    let read = with_sample(&words, &attr, |s| {
        assert_eq!((s.weight().unwrap().0, s.transaction().unwrap().bits()), (1, 2));
        assert_eq!((s.phys_addr(), s.cgroup()), (Some(3), Some(4)));
        assert_eq!((s.data_page_size(), s.code_page_size()), (Some(5), Some(6)));
        s.aux().unwrap().len()
    });
    assert_eq!(read, Ok(8));
}

#[test]
fn weight_is_one_number_or_three() {
    // The numbers have the same bits in both byte orders.
    let word = 7 << 48 | 6 << 32 | 5;
    for (wanted, text) in [
        (SampleType::WEIGHT, std::format!("weight={word}")),
        (SampleType::WEIGHT_STRUCT, "weight_struct=5/6/7".into()),
    ] {
        let attr = event(wanted);
        assert_eq!(fields(&SampleBuilder::new(&attr).weight(word).finish(), &attr), Ok(Vec::from([text])));
    }
}
