//! The fields that MMAP and MMAP2 have in common.

/// Expands to the accessors of words 1 to 4 and of the name, in the `impl` of a view.
macro_rules! mapping_fields {
    () => {
        /// Returns the process.
        #[inline]
        #[must_use]
        pub fn pid(&self) -> u32 {
            crate::word::halves(self.0.fixed()[1])[0]
        }

        /// Returns the thread that made the mapping.
        #[inline]
        #[must_use]
        pub fn tid(&self) -> u32 {
            crate::word::halves(self.0.fixed()[1])[1]
        }

        /// Returns the first address.
        #[inline]
        #[must_use]
        pub fn addr(&self) -> u64 {
            self.0.fixed()[2]
        }

        /// Returns the length in bytes.
        #[inline]
        #[must_use]
        pub fn len(&self) -> u64 {
            self.0.fixed()[3]
        }

        /// Returns the offset in the file in bytes; for anonymous memory often the address.
        #[inline]
        #[must_use]
        pub fn pgoff(&self) -> u64 {
            self.0.fixed()[4]
        }

        /// Returns whether the memory was mapped executable: whether the record is without
        /// [`MMAP_DATA`](perf_abi::Misc::MMAP_DATA).
        #[doc(alias = "PERF_RECORD_MISC_MMAP_DATA")]
        #[inline]
        #[must_use]
        pub fn is_executable(&self) -> bool {
            !self.misc().contains(perf_abi::Misc::MMAP_DATA)
        }

        /// Returns the path, or a name such as `//anon`, `[heap]` or `[vdso]`. Raw bytes without the
        /// NUL, not UTF-8.
        #[inline]
        #[must_use]
        pub fn filename(&self) -> &'a [u8] {
            self.0.name()
        }
    };
}
