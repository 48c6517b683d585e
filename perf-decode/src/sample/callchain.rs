//! Callchains of samples.

use core::ops::Deref;

use perf_abi::CallchainContext;

/// The addresses that led to a sample, innermost first, with the kernel's context markers.
///
/// Dereferences to all words, the markers included. [`Callchain::frames`] leaves the markers out.
/// The default is an empty one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Callchain<'a> {
    words: &'a [u64],
}

/// One address of a [`Callchain`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The context of the address, from the marker before it: user, kernel, hypervisor or guest.
    /// `None` if the callchain has no marker before it.
    pub context: Option<CallchainContext>,
    /// The address. All user frames but the innermost are return addresses: symbolize `ip - 1`.
    pub ip: u64,
}

impl<'a> Callchain<'a> {
    /// Views the words of a callchain, without their count. For tests of code that takes
    /// callchains.
    ///
    /// ```
    /// use perf_abi::CallchainContext;
    /// use perf_decode::Callchain;
    ///
    /// let chain = Callchain::from_words(&[CallchainContext::USER.0, 0x40_1000]);
    /// assert_eq!(chain.frames().map(|frame| frame.ip).collect::<Vec<_>>(), [0x40_1000]);
    /// ```
    #[inline]
    #[must_use]
    pub const fn from_words(words: &'a [u64]) -> Self {
        Self { words }
    }

    /// Returns the words, with the markers.
    #[inline]
    pub fn words(&self) -> &'a [u64] {
        self.words
    }

    /// Returns the addresses, each with its context, without the markers and without a deferred
    /// cookie.
    pub fn frames(&self) -> Frames<'a> {
        Frames { words: self.words, context: None }
    }

    /// Returns the cookie at the end of a deferred callchain, which a later `CALLCHAIN_DEFERRED`
    /// record with the user part has too (since Linux 6.19).
    pub fn deferred_cookie(&self) -> Option<u64> {
        match *self.words {
            [.., marker, cookie] if marker == CallchainContext::USER_DEFERRED.0 => Some(cookie),
            _ => None,
        }
    }
}

impl Deref for Callchain<'_> {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        self.words
    }
}

/// The frames of a [`Callchain`].
#[derive(Clone, Debug)]
pub struct Frames<'a> {
    words: &'a [u64],
    context: Option<CallchainContext>,
}

impl Iterator for Frames<'_> {
    type Item = Frame;

    #[inline]
    fn next(&mut self) -> Option<Frame> {
        while let Some((&word, rest)) = self.words.split_first() {
            self.words = rest;
            let Some(marker) = CallchainContext::from_entry(word) else {
                return Some(Frame { context: self.context, ip: word });
            };
            self.context = Some(marker);
            if marker == CallchainContext::USER_DEFERRED {
                // The cookie is neither an address nor a marker, whatever its value.
                self.words = rest.get(1..).unwrap_or(&[]);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn context_marker_applies_until_the_next_one() {
        let words = [CallchainContext::KERNEL.0, 0xffff_0001, CallchainContext::USER.0, 0x40_1000, 0x40_2000];
        let frames: Vec<_> =
            Callchain::from_words(&words).frames().map(|frame| (frame.context, frame.ip)).collect();
        let (kernel, user) = (Some(CallchainContext::KERNEL), Some(CallchainContext::USER));
        assert_eq!(frames, [(kernel, 0xffff_0001), (user, 0x40_1000), (user, 0x40_2000)]);
    }

    #[test]
    fn deferred_cookie_is_not_a_frame_even_if_it_equals_a_marker() {
        let cookie = CallchainContext::KERNEL.0;
        let words = [CallchainContext::KERNEL.0, 0xffff_0001, CallchainContext::USER_DEFERRED.0, cookie];
        let chain = Callchain::from_words(&words);
        assert_eq!(chain.deferred_cookie(), Some(cookie));
        assert_eq!(chain.frames().count(), 1);
    }

    #[test]
    fn empty_callchain_has_no_frames() {
        assert_eq!(Callchain::default().frames().next(), None);
        assert_eq!(Callchain::from_words(&[]).deferred_cookie(), None);
    }
}
