use crate::map::page_size;

use super::*;
use crate::map::Kernel;

/// Returns a ring of one data page whose control page names this data area.
fn consumer(offset: u64, size: u64) -> Result<Consumer> {
    let area = Area::anonymous(1).unwrap();
    area.word(PageWord::DATA_OFFSET).store(offset, Ordering::Relaxed);
    area.word(PageWord::DATA_SIZE).store(size, Ordering::Relaxed);
    Consumer::new(Arc::new(area))
}

fn page() -> u64 {
    page_size() as u64
}

fn ring() -> (Kernel, Consumer) {
    let area = Arc::new(Area::anonymous(1).unwrap());
    (Kernel::on(&area), Consumer::new(area).unwrap())
}

#[test]
fn data_area_is_that_of_the_control_page() {
    let found = consumer(page(), 2048).unwrap();
    assert_eq!((found.offset as u64, found.words), (page(), 256));
}

#[test]
fn zeros_of_an_old_kernel_mean_the_rest_of_the_mapping() {
    let found = consumer(0, 0).unwrap();
    assert_eq!((found.offset as u64, found.words), (page(), page_size() / 8));
}

#[test]
fn invalid_data_area_is_refused() {
    let impossible = [
        (page(), page() * 2), // longer than the mapping
        (page() * 2, page()), // after it
        (u64::MAX - 7, 16),   // wraps
        (64, 2048),           // on the control page
        (page() + 4, 2048),   // not aligned
        (page(), 24),         // not a power of two
        (page(), 4),          // less than a word
    ];
    for (offset, size) in impossible {
        let mapped = 2 * page_size();
        assert_eq!(consumer(offset, size).unwrap_err(), Error::DataArea { offset, size, mapped });
    }
}

#[test]
fn control_page_without_data_is_refused() {
    let found = Consumer::new(Arc::new(Area::anonymous(0).unwrap())).unwrap_err();
    assert_eq!(found, Error::DataArea { offset: page(), size: 0, mapped: page_size() });
}

/// Returns the unread words, and consumes `bytes` bytes of them.
fn read(consumer: &mut Consumer, bytes: u64) -> Vec<u64> {
    let (unread, mut position) = consumer.parts();
    let (first, second) = unread.window().as_slices();
    let words = [first, second].concat();
    position.advance(bytes);
    words
}

#[test]
fn only_unread_words_are_borrowed() {
    let (mut kernel, mut consumer) = ring();
    kernel.write_words(&[1, 0, 3]);
    assert_eq!(read(&mut consumer, 8), [0; 0], "nothing before the first refresh");
    consumer.refresh().unwrap();
    kernel.write_words(&[4]);
    assert_eq!(read(&mut consumer, 16), [1, 0, 3]);
    assert_eq!(read(&mut consumer, 0), [3]);
    assert_eq!(consumer.unread_from(3).window().len(), 0);
    assert_eq!(read(&mut consumer, u64::MAX), [3]);
    assert_eq!((read(&mut consumer, 8).len(), consumer.len()), (0, 0));
}

#[test]
fn tail_is_free_running() {
    let (mut kernel, mut consumer) = ring();
    kernel.publish(page());
    consumer.refresh().unwrap();
    consumer.consume_all();
    consumer.release();
    kernel.write_words(&[0, 7]);
    consumer.refresh().unwrap();
    assert_eq!(read(&mut consumer, 16), [0, 7]);
    assert_eq!(kernel.tail(), page(), "consumed, not released");
    consumer.release();
    assert_eq!(kernel.tail(), page() + 16);
}

#[test]
fn unread_words_wrap_and_are_copied_in_order() {
    let (mut kernel, mut consumer) = ring();
    kernel.publish(page() - 16);
    consumer.refresh().unwrap();
    consumer.consume_all();
    consumer.release();
    kernel.write_words(&[1, 2, 3]);
    consumer.refresh().unwrap();
    let (unread, _) = consumer.parts();
    assert_eq!((unread.contiguous(), unread.window().as_slices()), (&[1, 2][..], (&[1, 2][..], &[3][..])));
    assert_eq!(consumer.unread_from(page() as u32 / 8 - 1).window().as_slices(), (&[2][..], &[3][..]));
    let mut copy = vec![0];
    consumer.copy(&mut copy);
    assert_eq!(copy, [0, 1, 2, 3]);
}

#[test]
fn second_reader_continues_at_the_tail_of_the_first() {
    let area = Area::anonymous(1).unwrap();
    area.word(PageWord::DATA_TAIL).store(48, Ordering::Relaxed);
    area.word(PageWord::DATA_HEAD).store(56, Ordering::Relaxed);
    let mut consumer = Consumer::new(Arc::new(area)).unwrap();
    assert!(consumer.has_unread());
    consumer.refresh().unwrap();
    assert_eq!(consumer.len(), 8);
}

#[test]
fn positions_may_wrap_at_64_bits() {
    let area = Area::anonymous(1).unwrap();
    area.word(PageWord::DATA_TAIL).store(0_u64.wrapping_sub(16), Ordering::Relaxed);
    area.word(PageWord::DATA_HEAD).store(8, Ordering::Relaxed);
    let mut consumer = Consumer::new(Arc::new(area)).unwrap();
    assert!(consumer.has_unread());
    consumer.refresh().unwrap();
    assert_eq!(consumer.len(), 24, "a head that wrapped is not before its tail");
    consumer.consume_all();
    consumer.release();
    assert_eq!((consumer.tail, consumer.has_unread()), (8, false));
}

#[test]
fn invalid_head_keeps_the_last_valid_one() {
    let (mut kernel, mut consumer) = ring();
    kernel.publish(8);
    consumer.refresh().unwrap();
    for head in [12, page() + 8, u64::MAX] {
        kernel.publish(head);
        assert!(matches!(consumer.refresh(), Err(Error::Positions(_))), "{head}");
        assert_eq!(consumer.len(), 8);
    }
}

#[test]
fn only_unread_bytes_can_be_consumed() {
    let (mut kernel, mut consumer) = ring();
    kernel.publish(16);
    consumer.refresh().unwrap();
    read(&mut consumer, u64::MAX);
    consumer.release();
    assert_eq!(kernel.tail(), 16);
}

#[test]
fn the_page_is_shared_with_one_other_reader_at_a_time() {
    let mut consumer = consumer(0, 0).unwrap();
    let shared = consumer.share().unwrap();
    assert!(consumer.share().is_none());
    drop(shared);
    assert!(consumer.share().is_some());
}

#[test]
fn an_eighth_of_the_ring_is_due_for_release() {
    let (mut kernel, mut consumer) = ring();
    kernel.publish(page());
    consumer.refresh().unwrap();
    read(&mut consumer, page() / 8 - 8);
    consumer.release_if_due();
    assert_eq!(kernel.tail(), 0);
    read(&mut consumer, 8);
    consumer.release_if_due();
    assert_eq!(kernel.tail(), page() / 8);
}
