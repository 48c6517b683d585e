use super::*;

#[test]
fn flush_delivers_everything() {
    let (mut set, mut kernels) = set(2, 0);
    write(&mut kernels[1], 20, 0);
    write(&mut kernels[0], 30, 0);
    let mut times = vec![];
    set.flush_sorted(|record| times.push(seconds(&record))).unwrap();
    assert_eq!(times, [20, 30]);
    assert_eq!(round(&mut set), []);
}

#[test]
fn flush_ends_although_the_callback_makes_records_which_the_next_round_counts_as_late() {
    let (mut set, mut kernels) = set(2, 0);
    write(&mut kernels[0], 30, 0);
    let mut times = vec![];
    set.flush_sorted(|record| {
        times.push(seconds(&record));
        write(&mut kernels[1], 20, 0);
    })
    .unwrap();
    assert_eq!((times, set.late()), (vec![30], 0));
    assert_eq!((round(&mut set), set.late()), (vec![(20, 1)], 1));
}

#[test]
fn flush_ends_at_a_break_and_leaves_the_records_after_it() {
    let (mut set, mut kernels) = set(1, 60);
    (1..5).for_each(|time| write(&mut kernels[0], time, 0));
    let (drained, flow) = set
        .try_flush_sorted(|record| {
            if seconds(&record) == 2 { ControlFlow::Break("two") } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    assert_eq!((drained.records, flow), (2, ControlFlow::Break("two")));
    assert_eq!(round(&mut set), [], "3 and 4 are too young");
    assert_eq!(set.flush_sorted(|_| {}).unwrap().records, 2);
}
