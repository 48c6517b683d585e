//! Holds this crate against the type information of a running kernel: every size, offset, bit field and
//! constant.
#![cfg(target_endian = "little")] // the positions of bit fields were taken on such a machine

mod common;

use common::{Kernel, constants, fields};
use perf_abi::{
    Attr, AttrFlags, AuxAction, BranchEntry, BranchInfo, BranchNewType, BranchPrivilege, BranchSpeculation,
    BranchType, DataSource, Header, MmapCapabilities, MmapPage, NamespaceLink, PerfEventQueryBpf, Weight,
};

#[test]
#[rustfmt::skip] // one list of names a struct
fn structs_are_laid_out_as_the_kernel_does() {
    let kernel = Kernel::load();
    kernel.has_fields("perf_event_attr", "", 0, &fields!(Attr {
        kind = "type", size, config, sample_period, sample_type, read_format, flags = "disabled",
        wakeup = "wakeup_events", bp_type, config1, config2, branch_sample_type, sample_regs_user,
        sample_stack_user, clockid, sample_regs_intr, aux_watermark, sample_max_stack,
        reserved_2 = "__reserved_2", aux_sample_size, aux_action, sig_data, config3,
    } not in kernel: config4));
    kernel.has_fields("perf_event_header", "", 0, &fields!(Header { kind = "type", misc, size }));
    kernel.has_fields("perf_branch_entry", "", 0, &fields!(BranchEntry { from, to, info = "mispred" }));
    kernel.has_fields("perf_ns_link_info", "", 0, &fields!(NamespaceLink { dev, inode = "ino" }));
    kernel.has_fields("perf_event_query_bpf", "", 0, &fields!(PerfEventQueryBpf { ids_len, prog_cnt }));
    kernel.has_fields("perf_event_mmap_page", "", 0, &fields!(MmapPage {
        version, compat_version, lock, index, offset, time_enabled, time_running, capabilities, pmc_width,
        time_shift, time_mult, time_offset, time_zero, size, reserved_1 = "__reserved_1", time_cycles, time_mask,
        reserved = "__reserved", data_head, data_tail, data_offset, data_size, aux_head, aux_tail, aux_offset,
        aux_size,
    }));
}

#[test]
fn structs_are_as_long_as_the_kernel_says() {
    let kernel = Kernel::load();
    assert_eq!(kernel.size("perf_event_attr"), Attr::SIZE_VER8 as usize);
    assert_eq!(kernel.size("perf_event_header"), size_of::<Header>());
    assert_eq!(kernel.size("perf_branch_entry"), size_of::<BranchEntry>());
    assert_eq!(kernel.size("perf_event_mmap_page"), size_of::<MmapPage>());
    assert_eq!(kernel.size("perf_ns_link_info"), size_of::<NamespaceLink>());
    assert_eq!(kernel.size("perf_event_query_bpf"), size_of::<PerfEventQueryBpf>());
    assert_eq!(kernel.size("perf_mem_data_src"), size_of::<DataSource>());
    assert_eq!(kernel.size("perf_sample_weight"), size_of::<Weight>());
}

#[test]
fn flags_are_the_kernels_bit_fields() {
    let kernel = Kernel::load();
    let mut count = 0;
    let newer = ["defer_callchain", "defer_output"];
    for &(name, bit) in AttrFlags::C_NAMES.iter().filter(|(name, _)| !newer.contains(name)) {
        assert_eq!(kernel.mask("perf_event_attr", name, 40), bit, "{name}");
        count += 1;
    }
    for &(name, bit) in AuxAction::C_NAMES {
        assert_eq!(kernel.mask("perf_event_attr", name, 116), u64::from(bit), "{name}");
        count += 1;
    }
    for &(name, bit) in BranchInfo::C_NAMES {
        assert_eq!(kernel.mask("perf_branch_entry", name, 16), bit, "{name}");
        count += 1;
    }
    for &(name, bit) in MmapCapabilities::C_NAMES {
        assert_eq!(kernel.mask("perf_event_mmap_page", name, 40), bit, "{name}");
        count += 1;
    }
    assert_eq!(kernel.mask("perf_event_attr", "precise_ip", 40), AttrFlags::PRECISE_IP_MASK);
    println!("{} one-bit fields compared", count + 1);
}

#[test]
fn every_attr_bit_of_the_kernel_has_a_name() {
    let known = AttrFlags::C_NAMES.iter().fold(AttrFlags::PRECISE_IP_MASK, |all, (_, bit)| all | bit);
    let kernel = Kernel::load();
    let reserved = kernel.mask("perf_event_attr", "__reserved_1", 40);
    let newer = (AttrFlags::DEFER_CALLCHAIN | AttrFlags::DEFER_OUTPUT).bits();
    assert_eq!(known, !reserved | newer);
}

#[test]
fn numbers_inside_branch_info_sit_where_the_kernel_puts_them() {
    let kernel = Kernel::load();
    let field = |name| BranchInfo::from_bits_retain(kernel.mask("perf_branch_entry", name, 16));
    let extended = field("type");
    assert_eq!(field("cycles").cycles(), u16::MAX);
    assert_eq!(extended.kind(), BranchType(15));
    assert_eq!(field("spec").speculation(), BranchSpeculation(3));
    assert_eq!((field("new_type") | extended).new_type(), Some(BranchNewType(15)));
    assert_eq!(field("priv").privilege(), BranchPrivilege(7));
    // What is left of the word after all of them is the kernel's reserved field.
    let numbers = ["cycles", "type", "spec", "new_type", "priv"].map(|name| field(name).bits());
    let known =
        BranchInfo::C_NAMES.iter().map(|(_, bit)| *bit).chain(numbers).fold(0, |all, bits| all | bits);
    assert_eq!(!known, field("reserved").bits());
}

#[test]
fn fields_of_a_data_source_sit_where_the_kernel_puts_them() {
    type Accessor = fn(DataSource) -> u64;
    let kernel = Kernel::load();
    let fields: [(&str, Accessor); 10] = [
        ("mem_op", |source| source.op().bits().into()),
        ("mem_lvl", |source| source.level().bits().into()),
        ("mem_snoop", |source| source.snoop().bits().into()),
        ("mem_lock", |source| source.lock().bits().into()),
        ("mem_dtlb", |source| source.tlb().bits().into()),
        ("mem_lvl_num", |source| source.level_number().0.into()),
        ("mem_remote", |source| source.is_remote().into()),
        ("mem_snoopx", |source| source.snoop_ext().bits().into()),
        ("mem_blk", |source| source.blocked().bits().into()),
        ("mem_hops", |source| source.hops().0.into()),
    ];
    for (name, accessor) in fields {
        let mask = kernel.mask("perf_mem_data_src", name, 0);
        assert_eq!(accessor(DataSource(mask)), mask >> mask.trailing_zeros(), "{name}");
        assert_eq!(accessor(DataSource(!mask)), 0, "{name}");
    }
}

#[test]
fn parts_of_a_weight_sit_where_the_kernel_puts_them() {
    let kernel = Kernel::load();
    for (part, mask) in [("var1_dw", 0xffff_ffff), ("var2_w", 0xffff << 32), ("var3_w", 0xffff << 48)] {
        let weight = Weight(mask);
        let parts = [u64::from(weight.var1()), weight.var2().into(), weight.var3().into()];
        assert_eq!(parts.iter().filter(|&&part| part != 0).count(), 1, "{part}");
        let (offset, size) = (mask.trailing_zeros() / 8, mask.count_ones() / 8);
        kernel.has_fields("perf_sample_weight", "", 0, &[(part, offset as usize, size as usize)]);
    }
}

#[test]
fn constants_have_the_kernels_values() {
    let (kernel, ours) = (Kernel::load(), constants());
    let mut count = 0;
    let mut unknown = Vec::new();
    for (c_enum, values) in kernel.0["enums"].as_object().unwrap() {
        for (name, value) in values.as_object().unwrap() {
            match ours.get(name.as_str()) {
                Some(&known) => assert_eq!(value.as_u64(), Some(known), "{name}"),
                None if is_left_out(c_enum, name) => continue,
                None => unknown.push(name),
            }
            count += 1;
        }
    }
    assert!(unknown.is_empty(), "not declared: {unknown:?}");
    println!("{count} constants compared");
}

/// Counts and shifts that the kernel keeps for itself, and what of BPF is not tracing.
fn is_left_out(c_enum: &str, name: &str) -> bool {
    let bookkeeping = name.ends_with("_MAX") || name.starts_with("__MAX_") || name.ends_with("_ABORT_SHIFT");
    let other_bpf = c_enum.starts_with("bpf_") || c_enum.contains("BPF_");
    bookkeeping || (other_bpf && c_enum != "bpf_perf_event_type")
}
