/// The position of an iteration in batches, for one map.
#[derive(Clone, Debug)]
pub struct BatchCursor {
    capacity: usize,
    mode: Mode,
    /// `None` at the start.
    position: Option<Vec<u8>>,
    is_at_end: bool,
}

/// The way of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::map) enum Mode {
    /// Batch commands; the position is the kernel's.
    Batches,
    /// Single elements; the position is the next key.
    Keys,
}

impl BatchCursor {
    /// Returns a cursor at the start of a map, for batches of at most `capacity` elements, at least
    /// 1.
    ///
    /// The capacity is doubled if a bucket of a hash holds more elements.
    pub fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(1), mode: Mode::Batches, position: None, is_at_end: false }
    }

    /// Returns a cursor that does not use batch commands, as [`is_fallback`](Self::is_fallback)
    /// describes it.
    pub fn by_keys(capacity: usize) -> Self {
        Self { mode: Mode::Keys, ..Self::new(capacity) }
    }

    /// Returns `true` if all elements were returned.
    pub fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    /// Returns `true` if the kernel has no batch commands for the map type, so that elements are
    /// accessed one by one.
    pub fn is_fallback(&self) -> bool {
        self.mode == Mode::Keys
    }

    /// Returns the number of elements of the next batch.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    pub(in crate::map) fn mode(&self) -> Mode {
        self.mode
    }

    pub(super) fn position(&self) -> Option<&[u8]> {
        self.position.as_deref()
    }

    pub(super) fn is_at_start(&self) -> bool {
        self.position.is_none()
    }

    pub(super) fn advance(&mut self, position: Vec<u8>) {
        self.position = Some(position);
    }

    pub(super) fn grow(&mut self) {
        self.capacity = self.capacity.saturating_mul(2);
    }

    pub(super) fn fall_back(&mut self) {
        self.mode = Mode::Keys;
    }

    pub(super) fn end(&mut self) {
        self.is_at_end = true;
    }
}
