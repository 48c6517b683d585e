/// Iterator over whole records as byte slices, by the plainest safe framing there is.
///
/// The peers have no framing of slices of their own.
#[derive(Clone, Copy, Debug)]
pub struct Frames<'a>(&'a [u8]);

impl<'a> Frames<'a> {
    /// Returns the frames of `bytes`, up to the first size that is below 8 or past the end.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = &'a [u8];

    #[inline(always)]
    fn next(&mut self) -> Option<&'a [u8]> {
        let header = u64::from_ne_bytes(*self.0.first_chunk()?);
        let size = (header >> 48) as usize;
        if size < 8 {
            return None;
        }
        let (record, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        Some(record)
    }
}
