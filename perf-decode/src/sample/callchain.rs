use core::ops::Deref;

use perf_abi::CallchainContext;

/// The addresses that led to a sample, innermost first, with the kernel's markers between them.
///
/// Derefs to the words as they are. [`Callchain::frames`] takes the markers out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Callchain<'a> {
    words: &'a [u64],
}

/// One address of a [`Callchain`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The marker before it: where the address belongs. `None` if there was none.
    pub context: Option<CallchainContext>,
    /// The address. Of all but the first of the user's it is where a call returns to: look up the
    /// symbol of the byte before.
    pub ip: u64,
}

impl<'a> Callchain<'a> {
    #[inline]
    pub(crate) fn new(words: &'a [u64]) -> Self {
        Self { words }
    }

    /// The words, markers and all.
    #[inline]
    #[must_use]
    pub fn words(&self) -> &'a [u64] {
        self.words
    }

    /// The addresses, each with its context, without the markers and without a deferred cookie.
    #[must_use]
    pub fn frames(&self) -> Frames<'a> {
        Frames { words: self.words, context: None }
    }

    /// The cookie by which a later `CALLCHAIN_DEFERRED` record brings the user's part, if the chain ends
    /// in one (since Linux 6.19).
    #[must_use]
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
                // The cookie may look like an address or like a marker and is neither.
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
    fn a_marker_holds_until_the_next_one() {
        let words = [CallchainContext::KERNEL.0, 0xffff_0001, CallchainContext::USER.0, 0x40_1000, 0x40_2000];
        let frames: Vec<_> = Callchain::new(&words).frames().map(|frame| (frame.context, frame.ip)).collect();
        let (kernel, user) = (Some(CallchainContext::KERNEL), Some(CallchainContext::USER));
        assert_eq!(frames, [(kernel, 0xffff_0001), (user, 0x40_1000), (user, 0x40_2000)]);
    }

    #[test]
    fn a_deferred_cookie_is_no_address_even_if_it_looks_like_a_marker() {
        let cookie = CallchainContext::KERNEL.0;
        let words = [CallchainContext::KERNEL.0, 0xffff_0001, CallchainContext::USER_DEFERRED.0, cookie];
        let chain = Callchain::new(&words);
        assert_eq!(chain.deferred_cookie(), Some(cookie));
        assert_eq!(chain.frames().count(), 1);
    }

    #[test]
    fn a_chain_without_entries_has_no_frames() {
        assert_eq!(Callchain::new(&[]).frames().next(), None);
        assert_eq!(Callchain::new(&[]).deferred_cookie(), None);
    }
}
