use super::*;

#[test]
fn peeked_record_is_not_consumed() {
    let mut ring = Fake::with(5);
    let mut batch = ring.batch();
    let mut records = batch.records().peekable();
    while records.next_if(|record| record.unwrap().words()[2] < 2).is_some() {}
    assert_eq!(records.peek().unwrap().unwrap().words()[2], 2);
    drop(records);
    assert_eq!(batch.len(), 72);
    assert_eq!(batch.records().take_while(|record| record.unwrap().words()[2] < 3).count(), 1);
    assert_eq!(batch.len(), 48);
    let number = |record: perf_decode::Result<RawRecord<'_>>| record.ok().map(|record| record.words()[2]);
    assert_eq!(batch.records().map_while(|record| number(record).filter(|&n| n < 4)).sum::<u64>(), 3);
    assert_eq!(numbers(&mut batch), [4]);
    drop(batch);
    assert_eq!(ring.tail(), 120);
}

#[test]
fn peekable_yields_everything_once() {
    let mut ring = Fake::with(3);
    let mut batch = ring.batch();
    let mut records = batch.records().peekable();
    assert!(records.peek().is_some());
    assert_eq!(records.by_ref().map(|record| record.unwrap().words()[2]).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(records.peek().is_none());
    drop(records);
    assert!(batch.is_empty());
}

#[test]
fn take_while_is_fused() {
    let mut ring = Fake::with(3);
    let mut batch = ring.batch();
    let mut asked = 0;
    let mut records = batch.records().take_while(|_| {
        asked += 1;
        asked != 2
    });
    assert!(records.next().is_some());
    assert!(records.next().is_none());
    assert!(records.next().is_none(), "the condition would hold again");
    drop(records);
    assert_eq!(batch.len(), 48);
}

#[test]
fn next_record_is_released_before_the_one_after_it_is_read() {
    let mut ring = Fake::with(3);
    let Fake { reader, kernel } = &mut ring;
    reader.consumer.refresh().unwrap();
    let mut batch = Batch::new(reader);
    let mut found = vec![];
    while let Some(record) = batch.next() {
        found.push((record.unwrap().words()[2], kernel.tail()));
        batch.release();
    }
    assert_eq!(found, [(0, 0), (1, 24), (2, 48)]);
    assert!(batch.is_empty() && batch.next().is_none());
}
