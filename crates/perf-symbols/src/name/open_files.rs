//! A least-recently-used cache of the symbols of files. There are hundreds at most, and the crate
//! `lru` limits by number alone.

/// The symbols of files, limited by count and by bytes; the least recently used are evicted first.
pub(super) struct OpenFiles<T> {
    /// Least recently used first.
    files: Vec<OpenFile<T>>,
    max_files: usize,
    max_bytes: u64,
}

struct OpenFile<T> {
    number: u64,
    bytes: u64,
    symbols: T,
}

impl<T> OpenFiles<T> {
    pub(super) fn new(max_files: usize, max_bytes: u64) -> Self {
        Self { files: Vec::new(), max_files, max_bytes }
    }

    pub(super) fn set_max_files(&mut self, files: usize) {
        self.max_files = files;
    }

    pub(super) fn set_max_bytes(&mut self, bytes: u64) {
        self.max_bytes = bytes;
    }

    /// Returns the symbols of a file and marks them as used.
    pub(super) fn get(&mut self, number: u64) -> Option<&mut T> {
        let index = self.files.iter().position(|file| file.number == number)?;
        let file = self.files.remove(index);
        self.files.push(file);
        self.files.last_mut().map(|file| &mut file.symbols)
    }

    /// Evicts files until another of `bytes` bytes fits: all of them if it alone exceeds the limit.
    pub(super) fn make_room(&mut self, bytes: u64) {
        let mut sum = bytes;
        let fits = |file: &&OpenFile<T>| {
            sum = sum.saturating_add(file.bytes);
            sum <= self.max_bytes
        };
        let kept = self.files.iter().rev().take(self.max_files.saturating_sub(1)).take_while(fits).count();
        self.files.drain(..self.files.len() - kept);
    }

    /// Adds the symbols of a file as the most recently used.
    pub(super) fn add(&mut self, number: u64, bytes: u64, symbols: T) {
        self.remove(number);
        self.files.push(OpenFile { number, bytes, symbols });
    }

    /// Removes the symbols of a file.
    pub(super) fn remove(&mut self, number: u64) {
        self.files.retain(|file| file.number != number);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn those_used_last_stay_open(uses in prop::collection::vec((0_u64..6, 0_u64..8), 0..60)) {
            const MAX: (usize, u64) = (3, 10);
            let mut files = OpenFiles::new(MAX.0, MAX.1);
            let mut open = Vec::<(u64, u64)>::new();
            for (number, bytes) in uses {
                let known = open.iter().position(|(other, _)| *other == number);
                prop_assert_eq!(files.get(number).is_some(), known.is_some());
                let file = known.map(|index| open.remove(index));
                if file.is_none() {
                    files.make_room(bytes);
                    files.add(number, bytes, ());
                }
                open.push(file.unwrap_or((number, bytes)));
                // Evict one after the other, the oldest first.
                while open.len() > 1
                    && (open.len() > MAX.0 || open.iter().map(|(_, bytes)| bytes).sum::<u64>() > MAX.1)
                {
                    open.remove(0);
                }
                let numbers: Vec<_> = files.files.iter().map(|file| file.number).collect();
                prop_assert_eq!(numbers, open.iter().map(|(number, _)| *number).collect::<Vec<_>>());
            }
        }
    }
}
