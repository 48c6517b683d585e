//! AUX areas with hardware traces.

use perf_decode::{Aux, Layout};
use perf_sys::{AuxRing, Error, OverwrittenAux};

use super::Ring;
use crate::error::Result;

/// The AUX area of a [`Ring`]: the raw trace of a unit like Intel PT, `CoreSight` or SPE, in bytes.
/// Since Linux 4.1.
///
/// The kernel announces each chunk of the trace in the ring by an [`Aux`] record. Check its flags
/// ([`AuxFlags`](perf_abi::AuxFlags)), read its [`chunk`](Self::chunk), then
/// [`release`](Self::release) it. Unreleased bytes are not overwritten. When the area is full, the
/// kernel stops the event and flags the record as `TRUNCATED`. Release it, then enable the event
/// again.
///
/// The mapping is not inherited across `fork`; see [`sys::Error::Forked`](Error::Forked).
///
/// ```no_run
/// use perf_decode::{Record, SampleLayout};
/// use perf_ring::{AuxArea, Event, Ring, Target};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let attr = perf_abi::Attr::default();
/// let layout = SampleLayout::new(&attr);
/// let mut ring = Ring::map(Event::open(&attr, Target::calling_thread())?, 16)?;
/// let mut area = AuxArea::map(&mut ring, 1024)?;
/// for record in ring.batch()?.records() {
///     if let Record::Aux(piece) = record?.decode(&layout)? {
///         let (first, wrapped) = area.chunk(&piece)?;
///         println!("{} bytes of trace, {}", first.len() + wrapped.len(), piece.flags());
///         area.release(&piece)?;
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct AuxArea {
    area: AuxRing,
}

impl AuxArea {
    /// `mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, aux_offset)`—Maps an AUX
    /// area of `pages` pages for the event of `ring`, after the ring.
    ///
    /// # Errors
    ///
    /// [`PageCount`](Error::PageCount) unless `pages` is a power of two, [`Error::AuxInUse`] while
    /// the ring has another area, [`Forked`](perf_sys::Error::Forked), and
    /// [`System`](perf_sys::Error::System): `EOPNOTSUPP` if the event's PMU has no AUX area,
    /// `EPERM` if the memory exceeds what the user may lock.
    ///
    /// # References
    ///
    /// `perf_event_open(2)`, "MMAP layout", `aux_offset`.
    #[doc(alias = "aux_offset")]
    #[doc(alias = "aux_size")]
    pub fn map(ring: &mut Ring, pages: usize) -> Result<Self> {
        Ok(Self { area: AuxRing::map(ring.reader.mapping(), pages)? })
    }

    /// Returns the bytes that `record` announces, as two slices. The second is empty unless the
    /// chunk wraps at the end of the area.
    ///
    /// The kernel writes the record before it stores `aux_head`. This method spins in between.
    ///
    /// # Errors
    ///
    /// [`Error::AuxRange`] if the bytes are not unread, for example released or of another ring.
    /// [`Forked`](perf_sys::Error::Forked).
    pub fn chunk<L: Layout>(&self, record: &Aux<'_, L>) -> Result<(&[u8], &[u8])> {
        /// Number of attempts, which take much longer than the kernel needs between its two stores.
        const ATTEMPTS: usize = 10_000;
        for _ in 0..ATTEMPTS {
            match self.area.slices(record.aux_offset(), record.aux_size()) {
                Err(Error::AuxRange { .. }) => core::hint::spin_loop(),
                result => return Ok(result?),
            }
        }
        Ok(self.area.slices(record.aux_offset(), record.aux_size())?)
    }

    /// Returns all unreleased bytes, announced or not, as two slices like [`chunk`](Self::chunk).
    ///
    /// # Errors
    ///
    /// [`Error::AuxRange`] if the control page is damaged. [`Forked`](perf_sys::Error::Forked).
    pub fn unread(&self) -> Result<(&[u8], &[u8])> {
        let (tail, head) = self.area.unread()?;
        Ok(self.area.slices(tail, head.wrapping_sub(tail))?)
    }

    /// Releases the bytes of `record` and all bytes before them, including bytes whose record was
    /// lost. Does nothing if they are released already.
    ///
    /// # Errors
    ///
    /// The errors of [`unread`](Self::unread).
    pub fn release<L: Layout>(&mut self, record: &Aux<'_, L>) -> Result<()> {
        Ok(self.area.release(record.aux_offset().wrapping_add(record.aux_size()))?)
    }

    /// Releases all bytes, read or not, and returns their number. Use it if the area stays full
    /// because [`Aux`] records were lost.
    ///
    /// # Errors
    ///
    /// The errors of [`unread`](Self::unread).
    pub fn discard(&mut self) -> Result<u64> {
        let (tail, head) = self.area.unread()?;
        self.area.release(head)?;
        Ok(head.wrapping_sub(tail))
    }
}

/// An AUX area in which the hardware overwrites the oldest bytes, so that it has the end of a
/// trace. Since Linux 4.1.
///
/// Disable the event, copy, and enable it. Nothing is released. The kernel flags the [`Aux`]
/// records `OVERWRITE`; their offset is the position after the newest byte.
///
/// The mapping is not inherited across `fork`; see [`sys::Error::Forked`](Error::Forked).
#[derive(Debug)]
pub struct AuxSnapshot {
    area: OverwrittenAux,
}

impl AuxSnapshot {
    /// `mmap(NULL, pages * page, PROT_READ, MAP_SHARED, fd, aux_offset)`—Maps an AUX area that is
    /// overwritten for the event of `ring`.
    ///
    /// # Errors
    ///
    /// [`Error::AuxInUse`] if the ring has an AUX area; otherwise the errors of [`AuxArea::map`].
    pub fn map(ring: &mut Ring, pages: usize) -> Result<Self> {
        Ok(Self { area: OverwrittenAux::map(ring.reader.mapping(), pages)? })
    }

    /// Returns the length of the area in bytes.
    #[expect(clippy::len_without_is_empty, reason = "an area of no pages cannot be mapped")]
    pub const fn len(&self) -> usize {
        self.area.len()
    }

    /// Copies the newest bytes in the order of the trace, and returns their number and `aux_head`,
    /// the position after them. Depending on the driver, it is free-running or modulo the area's
    /// length; a 32-bit kernel counts modulo 2^32.
    ///
    /// Bytes that were never written are 0. A byte that the hardware writes meanwhile is copied as
    /// it was before or after.
    ///
    /// # Errors
    ///
    /// [`Forked`](perf_sys::Error::Forked).
    #[doc(alias = "aux_head")]
    pub fn copy_newest(&self, copy: &mut [u8]) -> Result<(usize, u64)> {
        Ok(self.area.copy(copy)?)
    }
}

#[cfg(test)]
mod tests {
    //! The tests write the control page and the area as kernel and hardware do.

    use perf_abi::{Attr, AuxFlags, EventType, RecordType};
    use perf_decode::{RawRecord, Record, SampleLayout};
    use perf_sys::page_size;
    use perf_sys::testing::SimulatedKernel;

    use super::*;

    struct Simulated {
        kernel: SimulatedKernel,
        area: AuxArea,
    }

    impl Simulated {
        /// Returns an area of one page. Byte n is n modulo 251.
        fn new() -> Self {
            let (kernel, _) = SimulatedKernel::new(1).unwrap();
            let area = AuxArea { area: kernel.aux(&content()).unwrap() };
            Self { kernel, area }
        }

        /// Stores `aux_head`.
        fn head(&self, head: u64) {
            self.kernel.set_aux_head(head);
        }

        fn tail(&self) -> u64 {
            self.kernel.aux_tail()
        }
    }

    fn content() -> Vec<u8> {
        (0..page_size()).map(|byte| (byte % 251) as u8).collect()
    }

    fn size() -> u64 {
        page_size() as u64
    }

    /// The words of an AUX record.
    struct AuxRecord([u64; 4]);

    impl AuxRecord {
        fn record(&self) -> Aux<'_> {
            static LAYOUT: SampleLayout = SampleLayout::new(&Attr::new(EventType::SOFTWARE, 0));
            match RawRecord::from_words(&self.0).unwrap().decode(&LAYOUT) {
                Ok(Record::Aux(record)) => record,
                other => panic!("{other:?}"),
            }
        }
    }

    fn flagged(aux_offset: u64, aux_size: u64, flags: AuxFlags) -> AuxRecord {
        AuxRecord([SimulatedKernel::any_header(RecordType::AUX, 32), aux_offset, aux_size, flags.bits()])
    }

    fn piece(aux_offset: u64, aux_size: u64) -> AuxRecord {
        flagged(aux_offset, aux_size, AuxFlags::empty())
    }

    #[test]
    fn a_chunk_is_borrowed_and_released() {
        let mut fake = Simulated::new();
        fake.head(100);
        assert_eq!(fake.area.chunk(&piece(10, 3).record()), Ok((&[10, 11, 12][..], &[][..])));
        fake.area.release(&piece(10, 3).record()).unwrap();
        assert_eq!(fake.tail(), 13);
        assert_eq!(fake.area.unread().unwrap().0.len(), 87);
    }

    #[test]
    fn a_chunk_that_wraps_is_two_slices_and_the_tail_is_free_running() {
        let mut fake = Simulated::new();
        fake.head(size());
        assert_eq!(fake.area.discard(), Ok(size()));
        fake.head(3 * size() / 2);
        fake.area.release(&piece(3 * size() / 2 - 2, 0).record()).unwrap();
        fake.head(2 * size() + 2);
        let wrapping = piece(2 * size() - 1, 3);
        let last = content()[page_size() - 1];
        assert_eq!(fake.area.chunk(&wrapping.record()), Ok((&[last][..], &[0, 1][..])));
        fake.area.release(&wrapping.record()).unwrap();
        assert_eq!(fake.tail(), 2 * size() + 2, "not modulo the area");
    }

    #[test]
    fn positions_of_a_32_bit_kernel_are_extended_beyond_4_gib() {
        /// Returns the position as a kernel counts it, in an `unsigned long`.
        fn counted(position: u64) -> u64 {
            position as usize as u64
        }
        const PAST: u64 = 1 << 32;
        let (kernel, _) = SimulatedKernel::new(1).unwrap();
        kernel.set_aux_tail(PAST - 2);
        let area = AuxArea { area: kernel.aux(&content()).unwrap() };
        let mut fake = Simulated { kernel, area };
        let last = content()[page_size() - 1];
        // One chunk ends at 4 GiB, one crosses it, one follows.
        fake.head(counted(PAST + 8));
        for (offset, size, chunk) in [(PAST - 2, 1, None), (PAST - 1, 3, Some(last)), (PAST + 4, 4, None)] {
            let piece = piece(counted(offset), size);
            let (first, wrapped) = fake.area.chunk(&piece.record()).unwrap();
            assert_eq!((first.len() + wrapped.len()) as u64, size);
            assert!(chunk.is_none_or(|last| (first, wrapped) == (&[last], &[0, 1])));
            fake.area.release(&piece.record()).unwrap();
            assert_eq!(fake.tail(), offset + size, "not modulo 2^32");
        }
        assert!(fake.area.chunk(&piece(counted(PAST - 2), 1).record()).is_err(), "released");
    }

    #[test]
    fn bytes_that_are_not_unread_are_an_error() {
        let mut fake = Simulated::new();
        fake.head(64);
        fake.area.release(&piece(0, 32).record()).unwrap();
        for (offset, size) in [(0, 8), (31, 8), (60, 8), (64, 1), (32, u64::MAX), (u64::MAX, 1)] {
            let refused = Error::AuxRange { offset, size, tail: 32, head: 64 };
            assert_eq!(fake.area.chunk(&piece(offset, size).record()), Err(refused.into()));
        }
        assert_eq!(fake.area.chunk(&piece(64, 0).record()), Ok((&[][..], &[][..])));
    }

    #[test]
    fn an_old_record_moves_the_tail_neither_back_nor_beyond_the_head() {
        let mut fake = Simulated::new();
        fake.head(64);
        fake.area.release(&piece(0, 48).record()).unwrap();
        fake.area.release(&piece(0, 16).record()).unwrap();
        fake.area.release(&piece(0, 128).record()).unwrap();
        assert_eq!(fake.tail(), 48);
    }

    #[test]
    fn a_record_may_precede_the_store_of_the_head() {
        let fake = Simulated::new();
        std::thread::scope(|scope| {
            scope.spawn(|| fake.head(8));
            while fake.area.chunk(&piece(0, 8).record()).is_err() {}
        });
        assert_eq!(fake.area.chunk(&piece(4, 4).record()), Ok((&[4, 5, 6, 7][..], &[][..])));
    }

    #[test]
    fn a_truncated_area_is_full_until_it_is_released() {
        let mut fake = Simulated::new();
        fake.head(size());
        let full = flagged(0, size(), AuxFlags::TRUNCATED | AuxFlags::PARTIAL);
        assert_eq!(fake.area.chunk(&full.record()).unwrap().0, content());
        fake.area.release(&full.record()).unwrap();
        assert_eq!(fake.area.unread(), Ok((&[][..], &[][..])));
    }

    #[test]
    fn an_unread_range_longer_than_the_area_is_an_error() {
        let mut fake = Simulated::new();
        fake.head(size() + 1);
        let damaged = Error::AuxRange { offset: 0, size: size() + 1, tail: 0, head: size() + 1 };
        assert_eq!(fake.area.unread().unwrap_err(), damaged);
        assert_eq!(fake.area.discard(), Err(damaged.into()));
    }

    #[test]
    fn snapshot_ends_at_the_aux_head() {
        let (kernel, _) = SimulatedKernel::new(1).unwrap();
        let snapshot = AuxSnapshot { area: kernel.overwritten_aux(&content()).unwrap() };
        kernel.set_aux_head(size() + 2);
        let mut newest = [0; 4];
        assert_eq!(snapshot.copy_newest(&mut newest), Ok((4, size() + 2)));
        let content = content();
        assert_eq!(newest, [content[page_size() - 2], content[page_size() - 1], 0, 1]);
        let mut all = vec![0xff; page_size() + 8];
        assert_eq!(snapshot.copy_newest(&mut all).unwrap().0, snapshot.len());
        assert_eq!(all[..2], content[2..4], "the oldest byte is the next to be overwritten");
        assert_eq!(all[page_size()..], [0xff; 8]);
    }
}
