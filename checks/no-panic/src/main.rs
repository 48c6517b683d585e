//! Calls the decoder's entry points with data of which the compiler knows nothing. Its panic handler
//! calls a function that does not exist, so the program links exactly when the optimised code cannot
//! panic anywhere.
//!
//! `Debug` is called for every view, field and value. It is not called for errors and layouts, which
//! derive it. Core's `Debug` of a string (the field's name in an error) and its helper for structs of
//! more than five fields (a layout) have panic paths that no value takes, and core is linked as built,
//! so the linker keeps them.
#![no_std]
#![no_main]

use core::hint::black_box;
use core::panic::PanicInfo;

use perf_abi::{Attr, Software};
use perf_decode::SampleLayout;

mod calls;
mod print;
mod record;
mod tracepoint;

extern crate start as _;

static DATA: [u64; 64] = [0; 64];
static ATTR: Attr = Attr::software(Software::CPU_CLOCK);

#[unsafe(no_mangle)]
extern "C" fn check() -> i32 {
    let data = black_box(&DATA[..]);
    let layout = SampleLayout::new(black_box(&ATTR));
    let (head, tail) = (black_box(512), black_box(0));

    calls::framing(data, &layout);
    calls::window(data, tail, head, &layout);
    calls::backward(data, head, &layout);
    calls::joined(data, &layout);
    calls::ordered(data);
    calls::shared(data, black_box(&mut [(1, layout), (2, layout)][..]));
    tracepoint::payload(black_box(&[0; 64][..]));

    #[cfg(feature = "panics")]
    black_box(data[black_box(3)]);
    0
}

unsafe extern "C" {
    /// Defined nowhere.
    safe fn a_panic_is_left() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    a_panic_is_left()
}
