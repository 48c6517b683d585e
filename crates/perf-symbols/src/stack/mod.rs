//! The stack of a sample as one list of frames, however it was recorded.

#[cfg(feature = "unwind")]
mod caches;
#[cfg(feature = "unwind")]
mod info;
#[cfg(feature = "unwind")]
mod machine;
#[cfg(feature = "unwind")]
mod modules;
#[cfg(feature = "unwind")]
mod reader;
#[cfg(feature = "unwind")]
mod registers;
#[cfg(feature = "unwind")]
mod rules;
#[cfg(all(feature = "names", feature = "unwind"))]
mod runtime_code;
#[cfg(all(feature = "names", feature = "unwind"))]
mod runtime_frames;
#[cfg(feature = "unwind")]
mod sections;
#[cfg(feature = "unwind")]
mod start_code;
#[cfg(feature = "unwind")]
mod trail;
#[cfg(all(feature = "names", feature = "unwind"))]
mod trampoline;
#[cfg(feature = "unwind")]
mod unwind;
#[cfg(feature = "unwind")]
mod walker;

use std::fmt;

use perf_abi::{BranchSampleType, CallchainContext, CpuMode, MAX_STACK_DEPTH};
use perf_decode::{Branches, Callchain, CallchainDeferred, Layout, Sample};

use crate::AddressSpaces;

#[cfg(feature = "unwind")]
pub use info::NoUnwindInfo;
#[cfg(feature = "unwind")]
pub use unwind::Unwinder;

/// Minimum number of equal non-code addresses at the end of a full callchain to report a loop.
const MIN_LOOP: usize = 3;

/// A frame of a [`Stack`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StackFrame {
    /// The CPU mode for [`AddressSpaces::find`](crate::AddressSpaces::find).
    pub mode: CpuMode,
    /// An address in the process or in the kernel.
    pub address: u64,
    /// True for the address after a call, which can already belong to another line or function.
    pub is_return_address: bool,
}

impl StackFrame {
    /// Returns the address to look up. For a return address, it is an address in the call
    /// instruction.
    pub fn lookup_address(&self) -> u64 {
        self.address.saturating_sub(u64::from(self.is_return_address))
    }
}

/// The origin of the user part of a [`Stack`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UserSource {
    /// There is no user part: a kernel thread, or the event excludes it.
    None,
    /// Only the address of the sample.
    Address,
    /// The callchain of the sample, which the kernel collects by frame pointers.
    Callchain,
    /// The callchain in a later record.
    Deferred,
    /// The calls that the CPU recorded: a branch stack in call-stack mode (LBR).
    Branches,
    /// Registers and a copy of the stack, unwound by `Unwinder`.
    StackCopy,
}

/// Why a [`Stack`] ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StackEnd {
    /// The stack reaches the outermost function, such as `_start`.
    Complete,
    /// The callchain or branch stack ends here, or a frame pointer is 0. Callers may be missing.
    Unknown,
    /// The sample has an address but no stack.
    AddressOnly,
    /// The callchain has the maximum number of addresses. Callers may be missing.
    Limit {
        /// Maximum number of kernel and user addresses together: `sample_max_stack` of the attr, or
        /// `/proc/sys/kernel/perf_event_max_stack`.
        max_stack: u16,
    },
    /// The frame pointers of the callchain lead out of the code, because a function uses the
    /// register for another value. [`Stack::leave_out_unmapped`] has removed the addresses that
    /// follow.
    NoFramePointer,
    /// A frame pointer points to itself, so that the kernel filled the callchain with one address
    /// outside of code. [`Stack::leave_out_unmapped`] has removed it. The register has such a value
    /// while libc starts a thread.
    FramePointerLoop,
    /// The user part is in a later [`CallchainDeferred`] record: pass it to
    /// [`Stack::add_deferred`].
    Deferred {
        /// The cookie of that record.
        cookie: u64,
    },
    /// The copy of the user stack is too short, but the event can request one that reaches the next
    /// frame.
    Truncated {
        /// Bytes above the stack pointer that the next frame needs: the smallest sufficient
        /// `sample_stack_user`, a multiple of 8. Outer frames need more.
        needed: u64,
    },
    /// The next frame is further up the stack than the kernel can copy.
    BeyondCopy {
        /// Bytes above the stack pointer that the next frame needs.
        needed: u64,
        /// Maximum number of bytes that the kernel copies: 65528 minus the other fields of the
        /// sample.
        limit: u64,
    },
    /// A signal handler runs on a separate stack (sigaltstack(2)), and the copy does not contain
    /// the interrupted one.
    OtherStack,
    /// The kernel could not copy the full size, and the next frame is above the copied part.
    NotCopied {
        /// An address on the stack whose page was not in memory, for example in a large array that
        /// was never written, or because the process was exiting or calling exec. A larger
        /// `sample_stack_user` does not help.
        address: u64,
    },
    /// The unwind information at an address is missing or unusable, and the function does not keep
    /// a frame pointer.
    NoUnwindInfo {
        /// An address in the frame. `Unwinder::missing_info` returns the reason.
        address: u64,
    },
    /// A return address is not in code: the stack is damaged, or the unwind information is wrong.
    BadAddress {
        /// The address, which no record maps as executable.
        address: u64,
    },
    /// The unwind information leads away from the stack: the stack is damaged, or the unwind
    /// information is wrong.
    BadFrame {
        /// The address, which cannot be on the stack.
        address: u64,
    },
    /// The next frame would not be further up the stack.
    Loop,
    /// The stack has more user frames than `Unwinder::with_max_frames` allows.
    TooDeep {
        /// The limit, in frames.
        max_frames: usize,
    },
    /// The registers cannot be unwound: another architecture, a 32-bit program, or the event does
    /// not sample the instruction pointer, stack pointer and frame pointer.
    Unsupported,
    /// The library that reads unwind information panicked: see `Unwinder::panics`.
    Panicked,
}

impl StackEnd {
    /// Returns the reason without the addresses and sizes of this stack, as a key for counting.
    #[must_use]
    pub fn reason(self) -> StackEndReason {
        StackEndReason(match self {
            Self::Deferred { .. } => Self::Deferred { cookie: 0 },
            Self::Truncated { .. } => Self::Truncated { needed: 0 },
            Self::BeyondCopy { .. } => Self::BeyondCopy { needed: 0, limit: 0 },
            Self::NotCopied { .. } => Self::NotCopied { address: 0 },
            Self::NoUnwindInfo { .. } => Self::NoUnwindInfo { address: 0 },
            Self::BadAddress { .. } => Self::BadAddress { address: 0 },
            Self::BadFrame { .. } => Self::BadFrame { address: 0 },
            end => end,
        })
    }
}

impl fmt::Display for StackEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deferred { cookie } => {
                write!(f, "the user part is in the deferred record with the cookie {cookie:#x}")
            }
            Self::Truncated { needed } => {
                write!(f, "the copy of the stack is too short; the next frame needs {needed} bytes")
            }
            Self::BeyondCopy { needed, limit } => {
                write!(
                    f,
                    "the next frame needs {needed} bytes of stack, and the kernel copies at most {limit}"
                )
            }
            Self::NotCopied { address } => {
                write!(f, "the kernel could not copy the stack up to {address:#x}, which was not in memory")
            }
            Self::NoUnwindInfo { address } => write!(f, "no unwind information for {address:#x}"),
            Self::BadAddress { address } => {
                write!(f, "the stack leads to {address:#x}, where no code is mapped")
            }
            Self::BadFrame { address } => {
                write!(f, "the unwind information leads to {address:#x}, which is not on the stack")
            }
            end => end.reason().fmt(f),
        }
    }
}

/// A [`StackEnd`] without addresses and sizes. Its text is the same for all stacks that end for
/// this reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StackEndReason(StackEnd);

impl fmt::Display for StackEndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            StackEnd::Complete => "complete",
            StackEnd::Unknown => "the callchain ends; callers may be missing",
            StackEnd::AddressOnly => "the sample has no callchain; record with one",
            StackEnd::Limit { max_stack } => {
                return write!(
                    f,
                    "the callchain has the {max_stack} addresses that the kernel permits; raise \
                     kernel.perf_event_max_stack"
                );
            }
            StackEnd::NoFramePointer => {
                "the frame pointers lead out of the code, as in code that keeps none; record with --call-graph dwarf"
            }
            StackEnd::FramePointerLoop => "the frame pointers loop, as where a thread starts",
            StackEnd::Deferred { .. } => "the record with the user part is missing",
            StackEnd::Truncated { .. } => "the copy of the stack is too short",
            StackEnd::BeyondCopy { .. } => {
                "the copy of the stack is too short: the next frame is further up than the kernel copies"
            }
            StackEnd::OtherStack => {
                "alternate signal stack: the stack that the signal has interrupted is not in the copy"
            }
            StackEnd::NotCopied { .. } => "the copy of the stack is too short: a page of it was not in memory",
            StackEnd::NoUnwindInfo { .. } => "no unwind information",
            StackEnd::BadAddress { .. } => {
                "damaged stack or unwind information: it leads to an address at which no code is mapped"
            }
            StackEnd::BadFrame { .. } => "damaged stack or unwind information: it leads away from the stack",
            StackEnd::Loop => "damaged stack or unwind information: it leads back to the same frame",
            StackEnd::TooDeep { max_frames } => {
                return write!(f, "the stack has more than the {max_frames} frames that are followed; raise the limit");
            }
            StackEnd::Unsupported => {
                "expected the registers of a 64-bit program on x86-64 or arm64 and its stack"
            }
            StackEnd::Panicked => "no unwind information: reading it panicked",
        })
    }
}

/// The stack of a sample: the kernel part, then the user part, each innermost first.
///
/// It uses the best source in the sample: the callchain with its context markers; the calls that
/// the CPU recorded ([`CALL_STACK`](BranchSampleType::CALL_STACK)) if they are deeper than the user
/// callchain; a deferred user callchain; or only the address of the sample. `Unwinder` (feature
/// `unwind`) unwinds registers and stack copies.
///
/// The stack of a [precise](Sample::exact_ip) sample begins at the address of the sample instead of
/// the first address of the callchain. The kernel walks the stack from the interrupt, which comes
/// some instructions after the event and possibly in another function. If an event in user space
/// was interrupted in the kernel, the kernel part is left out.
///
/// Reuse one value for all samples, so that it reuses its memory.
///
/// ```
/// use perf_decode::{Layout, Record};
/// use perf_symbols::{AddressSpaces, Location, Stack};
///
/// /// Returns the objects of the frames of a sample, innermost first.
/// fn objects<L: Layout>(spaces: &AddressSpaces, stack: &mut Stack, record: &Record<'_, L>) -> Vec<String> {
///     let Record::Sample(sample) = record else { return Vec::new() };
///     stack.fill(sample);
///     let object = |frame: &perf_symbols::StackFrame| {
///         match spaces.find(sample.pid().unwrap_or(0), frame.mode, frame.lookup_address()) {
///             Ok(Location::User(mapping)) => String::from_utf8_lossy(mapping.object().path()).into_owned(),
///             Ok(_) => "[kernel]".to_string(),
///             Err(reason) => reason.to_string(),
///         }
///     };
///     stack.frames().iter().map(object).collect()
/// }
/// # use perf_abi::{Attr, CallchainContext, CpuMode, Misc, RecordType, SampleType, Software};
/// # use perf_decode::testing::builder::{RecordBuilder, SampleBuilder};
/// # use perf_decode::{RawRecord, SampleLayout};
/// # let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(SampleType::TID | SampleType::CALLCHAIN);
/// # let layout = SampleLayout::new(&attr);
/// # let user = Misc::empty().with_cpu_mode(CpuMode::USER);
/// # let mmap = RecordBuilder::new(RecordType::MMAP, user).pair(7, 7).words(&[0x5000, 0x1000, 0x2000]);
/// # let mmap = mmap.string(b"/bin/true").finish();
/// # let chain = [CallchainContext::KERNEL.0, !0xfff, CallchainContext::USER.0, 0x5010, 0x6000];
/// # let sample = SampleBuilder::new(&attr).misc(user).tid(7, 7).callchain(&chain).finish();
/// # let (mut spaces, mut stack) = (AddressSpaces::new(), Stack::new());
/// # spaces.update(&RawRecord::from_words(&mmap)?.decode(&layout)?);
/// # let found = objects(&spaces, &mut stack, &RawRecord::from_words(&sample)?.decode(&layout)?);
/// # assert_eq!(found, ["[kernel]", "/bin/true", "/bin/true"]);
/// # Ok::<(), perf_decode::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    frames: Vec<StackFrame>,
    /// Index of the first user frame.
    user_start: usize,
    source: UserSource,
    end: StackEnd,
    /// Number of addresses at which callchains are cut off.
    limit: u16,
    /// The address of a precise sample in user space, which becomes the innermost user frame.
    exact_user: Option<u64>,
}

impl StackEnd {
    /// Returns the number of user addresses of a callchain that [`Stack::leave_out_unmapped`]
    /// keeps, and why the rest is removed. For callers that work without frames. `is_code` receives
    /// the index and the lookup address of each address but the first.
    pub fn of_user_callchain(
        self,
        user: &[u64],
        mut is_code: impl FnMut(usize, u64) -> bool,
    ) -> (usize, Self) {
        let mut callers = user.iter().enumerate().skip(1);
        let cut = callers.find(|&(index, address)| !is_code(index, address.saturating_sub(1)));
        let kept = cut.map_or(user.len(), |(index, _)| index);
        let left_out = user.get(kept..).unwrap_or_default();
        let is_filled = matches!(self, Self::Limit { .. }) && left_out.len() >= MIN_LOOP;
        let end = match left_out {
            [] => self,
            [first, rest @ ..] if is_filled && rest.iter().all(|address| address == first) => {
                Self::FramePointerLoop
            }
            _ => Self::NoFramePointer,
        };
        (kept, end)
    }
}

impl Default for Stack {
    fn default() -> Self {
        Self::new()
    }
}

impl Stack {
    /// Creates an empty stack for callchains of at most [`MAX_STACK_DEPTH`] addresses, the default
    /// of the kernel.
    pub fn new() -> Self {
        Self {
            frames: Vec::new(),
            user_start: 0,
            source: UserSource::None,
            end: StackEnd::Unknown,
            limit: MAX_STACK_DEPTH,
            exact_user: None,
        }
    }

    /// Sets the number of addresses at which callchains are cut off: `sample_max_stack` of the
    /// attr, or if that is 0, `/proc/sys/kernel/perf_event_max_stack` of the recorded machine.
    #[must_use]
    pub fn with_max_stack(mut self, addresses: u16) -> Self {
        self.limit = addresses;
        self
    }

    /// Sets the [limit](Self::with_max_stack) for the following samples, because each event can
    /// have a different one.
    pub fn set_max_stack(&mut self, addresses: u16) {
        self.limit = addresses;
    }

    /// Returns all frames: the kernel part, then the user part.
    pub fn frames(&self) -> &[StackFrame] {
        &self.frames
    }

    /// Returns the frames of the kernel, of a hypervisor and of guests.
    pub fn kernel(&self) -> &[StackFrame] {
        self.frames.get(..self.user_start).unwrap_or(&[])
    }

    /// Returns the frames in user space.
    pub fn user(&self) -> &[StackFrame] {
        self.frames.get(self.user_start..).unwrap_or(&[])
    }

    /// Returns the origin of the user part.
    pub fn user_source(&self) -> UserSource {
        self.source
    }

    /// Returns why the stack ends.
    pub fn end(&self) -> StackEnd {
        self.end
    }

    /// Replaces the frames with those of a sample, which may lack a user part.
    pub fn fill<L: Layout>(&mut self, sample: &Sample<'_, L>) {
        let mode = sample.misc().cpu_mode();
        let chain = sample.callchain().unwrap_or_default();
        self.frames.clear();
        self.push_chain(chain, mode);
        self.source = if self.user().is_empty() { UserSource::None } else { UserSource::Callchain };
        self.end = match chain.deferred_cookie() {
            Some(cookie) => StackEnd::Deferred { cookie },
            None => self.end_of_callchain(self.frames.len()),
        };
        if self.frames.is_empty() {
            self.push_address(mode, sample.ip());
        }
        let exact = sample.ip().filter(|_| sample.exact_ip());
        self.exact_user = exact.filter(|_| mode == CpuMode::USER);
        if let Some(address) = exact {
            self.begin_at(StackFrame { mode, address, is_return_address: false });
        }
        let is_call_stack =
            sample.layout().sample_layout().branch_sample_type().contains(BranchSampleType::CALL_STACK);
        if let Some(branches) = sample.branches().filter(|_| is_call_stack) {
            self.use_calls(&branches);
        }
    }

    /// Replaces the user part with a deferred callchain. Returns false, without a change, if the
    /// record belongs to another stack.
    pub fn add_deferred<L: Layout>(&mut self, user: &CallchainDeferred<'_, L>) -> bool {
        if self.end != (StackEnd::Deferred { cookie: user.cookie() }) {
            return false;
        }
        let ips = user.ips();
        self.end = self.end_of_callchain(ips.len());
        // Keep the CPU's calls if there are more than frame pointers lead to.
        if ips.len() >= self.user().len() {
            self.start_user(UserSource::Deferred);
            for (index, &ip) in ips.iter().enumerate() {
                self.push_user(self.exact_user.filter(|_| index == 0).unwrap_or(ip), true);
            }
        }
        true
    }

    /// Truncates a callchain at the first return address outside of code, and returns the number of
    /// removed frames. [`end`](Self::end) has the reason then.
    ///
    /// A function without a frame pointer uses the register for another value, which the kernel
    /// takes for the address of a frame. What it reads there is usually not a code address and
    /// leads nowhere. The value can also point to itself, so that the callchain repeats an address
    /// a hundred times. Recursion is kept because its addresses are in code.
    ///
    /// Never removes the innermost frame, frames from other sources, or frames of processes whose
    /// mappings are [not all known](AddressSpaces::may_be_code).
    pub fn leave_out_unmapped(&mut self, spaces: &AddressSpaces, pid: u32) -> usize {
        if !matches!(self.source, UserSource::Callchain | UserSource::Deferred) {
            return 0;
        }
        let user: Vec<_> = self.user().iter().map(|frame| frame.address).collect();
        let (kept, end) = self.end.of_user_callchain(&user, |_, addr| spaces.may_be_code(pid, addr));
        let left_out = user.len() - kept;
        if left_out > 0 {
            self.frames.truncate(self.user_start + kept);
            self.end = end;
        }
        left_out
    }

    /// Returns how a callchain with this number of addresses ends: [`StackEnd::Limit`] if it has
    /// reached [the limit](Self::with_max_stack), [`StackEnd::Unknown`] otherwise.
    pub fn end_of_callchain(&self, addresses: usize) -> StackEnd {
        let max_stack = self.limit;
        // A longer callchain proves that the kernel's limit is higher.
        if addresses == usize::from(max_stack) { StackEnd::Limit { max_stack } } else { StackEnd::Unknown }
    }

    /// Adds the frames of a callchain, user frames last.
    fn push_chain(&mut self, chain: Callchain<'_>, mode: CpuMode) {
        let (mut last, mut user_start, mut is_mixed) = (None, None, false);
        for frame in chain.frames() {
            let mode = frame.context.map_or(mode, mode_of);
            if mode == CpuMode::USER {
                user_start.get_or_insert(self.frames.len());
            } else {
                is_mixed |= user_start.is_some();
            }
            // After a mode change, the first address is the interrupted instruction or the system
            // call.
            let is_return_address = last == Some(mode);
            self.frames.push(StackFrame { mode, address: frame.ip, is_return_address });
            last = Some(mode);
        }
        self.user_start = user_start.unwrap_or(self.frames.len());
        if is_mixed {
            self.frames.sort_by_key(|frame| frame.mode == CpuMode::USER);
            self.user_start = self.frames.partition_point(|frame| frame.mode != CpuMode::USER);
        }
    }

    fn push_address(&mut self, mode: CpuMode, ip: Option<u64>) {
        let Some(address) = ip else { return };
        self.frames.push(StackFrame { mode, address, is_return_address: false });
        if mode == CpuMode::USER {
            self.source = UserSource::Address;
        } else {
            self.user_start = self.frames.len();
        }
        if self.end == StackEnd::Unknown {
            self.end = StackEnd::AddressOnly;
        }
    }

    /// Replaces the innermost address of its mode, and removes frames of other modes that ran after
    /// it.
    fn begin_at(&mut self, exact: StackFrame) {
        let is_user = exact.mode == CpuMode::USER;
        let same_mode = self.frames.iter().position(|frame| frame.mode == exact.mode);
        let after = same_mode.unwrap_or(if is_user { self.user_start } else { 0 });
        self.frames.drain(..after);
        self.user_start -= after;
        if let Some(interrupted) = self.frames.first_mut().filter(|_| same_mode.is_some()) {
            *interrupted = exact;
        } else {
            self.frames.insert(0, exact);
            self.user_start += usize::from(!is_user);
        }
        if is_user && self.source == UserSource::None {
            self.source = UserSource::Address;
        }
    }

    /// Uses the calls that the CPU recorded if they are deeper than the user part.
    fn use_calls(&mut self, branches: &Branches<'_>) {
        let calls = || branches.entries().iter().filter(|call| call.from != 0);
        let Some(newest) = calls().next() else { return };
        if calls().count() < self.user().len() {
            return;
        }
        // Without a sampled address, use the first address of the callee, which is in the same
        // function.
        let innermost = self.user().first().map_or(newest.to, |frame| frame.address);
        self.start_user(UserSource::Branches);
        self.push_user(innermost, true);
        for call in calls() {
            self.push_user(call.from, false);
        }
        if !matches!(self.end, StackEnd::Deferred { .. }) {
            self.end = StackEnd::Unknown;
        }
    }

    /// Removes the user part, to replace it by one from `source`.
    fn start_user(&mut self, source: UserSource) {
        self.frames.truncate(self.user_start);
        self.source = source;
    }

    /// Keeps this number of user frames, the innermost ones.
    #[cfg(feature = "unwind")]
    fn keep_user(&mut self, frames: usize) {
        self.frames.truncate(self.user_start + frames);
    }

    /// Marks the last frame as not reached by a call: it is where a signal handler returns to.
    #[cfg(feature = "unwind")]
    fn set_exact(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.is_return_address = false;
        }
    }

    /// Adds a user frame. With `is_after_call` it is a return address, unless it is the first
    /// frame.
    fn push_user(&mut self, address: u64, is_after_call: bool) {
        let is_return_address = is_after_call && self.frames.len() > self.user_start;
        self.frames.push(StackFrame { mode: CpuMode::USER, address, is_return_address });
    }
}

/// Returns the CPU mode of a context marker.
fn mode_of(context: CallchainContext) -> CpuMode {
    match context {
        CallchainContext::HV => CpuMode::HYPERVISOR,
        CallchainContext::KERNEL => CpuMode::KERNEL,
        CallchainContext::USER | CallchainContext::USER_DEFERRED => CpuMode::USER,
        CallchainContext::GUEST_KERNEL => CpuMode::GUEST_KERNEL,
        CallchainContext::GUEST_USER => CpuMode::GUEST_USER,
        // Kernels write GUEST only before one of the other two. Newer markers are unknown, too.
        _ => CpuMode::UNKNOWN,
    }
}

#[cfg(test)]
mod tests;
