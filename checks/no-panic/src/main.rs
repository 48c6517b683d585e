//! Calls the decoder's entry points with data of which the compiler knows nothing. Its panic handler
//! calls a function that does not exist, so the program links exactly when the optimised code cannot
//! panic anywhere.
//!
//! `Debug` and `Display` are not called here: core's formatting machinery itself may panic.
#![no_std]
#![no_main]

use core::hint::black_box;
use core::panic::PanicInfo;

use perf_abi::{Attr, Software};
use perf_decode::{SampleLayout, Scratch, Window};

mod calls;

extern crate start as _;

static DATA: [u64; 64] = [0; 64];
static ATTR: Attr = Attr::software(Software::CPU_CLOCK);

#[unsafe(no_mangle)]
extern "C" fn check() -> i32 {
    let data = black_box(&DATA[..]);
    let layout = SampleLayout::new(black_box(&ATTR));
    let mut scratch = Scratch::new();

    if let Ok(window) = Window::over(data, black_box(0), black_box(512)) {
        let mut records = window.records(&mut scratch);
        for raw in records.by_ref().flatten() {
            calls::raw(raw, &layout);
        }
        black_box(records.position());
    }
    calls::split(data, &layout);

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
