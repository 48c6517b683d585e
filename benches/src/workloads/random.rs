//! Random numbers from a fixed seed.

/// A small generator of numbers that are the same in every run (splitmix64).
pub struct Random(u64);

impl Random {
    /// Returns a generator. Equal seeds give equal numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns any 64 bits.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Returns a number from `low` to below `high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.word() % (high - low)
    }

    /// Returns the indices below `count`, in random order.
    pub fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<_> = (0..count).collect();
        order.sort_by_cached_key(|_| self.word());
        order
    }

    /// Returns a task id, out of enough to differ.
    pub fn task(&mut self) -> u32 {
        self.between(1, 1 << 22) as u32
    }

    /// Returns an address in user space.
    pub fn address(&mut self) -> u64 {
        self.between(0x1000, 1 << 47)
    }

    /// Returns random bytes.
    pub fn bytes(&mut self, len: u64) -> Vec<u8> {
        (0..len).map(|_| self.word() as u8).collect()
    }
}
