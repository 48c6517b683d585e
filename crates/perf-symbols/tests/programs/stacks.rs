//! Different kinds of stacks: recursion, trait objects, sorting with a comparator, hash maps,
//! formatting, a thread and large frames. Usage: `stacks [ROUNDS]`.

use std::collections::{BTreeMap, HashMap};
use std::hint::black_box;

#[inline(never)]
fn spin(n: u64) -> u64 {
    (0..3000).fold(n | 1, |x, _| x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(x >> 33))
}

#[inline(never)]
fn recurse(depth: u64, n: u64) -> u64 {
    let frame = black_box([n as u8; 64]);
    if depth == 0 {
        return spin(n) + u64::from(frame[0]);
    }
    let below = recurse(depth - 1, n + 1);
    below.wrapping_add(spin(below)).wrapping_add(u64::from(frame[depth as usize % 64]))
}

trait Figure {
    fn area(&self, n: u64) -> u64;
}

struct Square;
struct Circle(u64);

impl Figure for Square {
    fn area(&self, n: u64) -> u64 {
        spin(n) ^ 1
    }
}

impl Figure for Circle {
    fn area(&self, n: u64) -> u64 {
        spin(n).wrapping_mul(self.0)
    }
}

#[inline(never)]
fn figures(n: u64) -> u64 {
    let all: [Box<dyn Figure>; 2] = [Box::new(Square), Box::new(Circle(n))];
    (0..20).fold(0, |sum, i| all[(n + i) as usize % 2].area(i) ^ sum)
}

#[inline(never)]
fn sorted(n: u64) -> u64 {
    let mut values: Vec<_> = (0..50_u64).map(|i| (i * 2_654_435_761 + n) % 1009).collect();
    values.sort_by(|a, b| ((spin(*a) & 1) + a).cmp(&((spin(*b) & 1) + b)));
    values[n as usize % 50]
}

#[inline(never)]
fn maps(n: u64) -> u64 {
    let mut words = HashMap::new();
    let mut ordered = BTreeMap::new();
    for i in 0..300 {
        *words.entry(format!("{}", (i * 7919 + n) % 997)).or_insert(0) += i;
        ordered.insert((i * 31 + n) % 101, i);
    }
    words.values().sum::<u64>() + spin(ordered.len() as u64)
}

#[inline(never)]
fn large_frame(n: u64) -> u64 {
    let mut frame = black_box([0_u8; 12_000]);
    for i in (0..frame.len()).step_by(512) {
        frame[i] = spin(n + i as u64) as u8;
    }
    u64::from(black_box(&frame)[n as usize % 12_000])
}

#[inline(never)]
fn work(rounds: u64) -> u64 {
    let mut sum = 0_u64;
    for n in 0..rounds {
        for i in 0..7 {
            sum = sum.wrapping_add(recurse(12, n + i));
        }
        for part in [recurse(12, n), figures(n), sorted(n), maps(n)] {
            sum = sum.wrapping_add(part);
        }
        if n % 8 == 0 {
            sum = sum.wrapping_add(large_frame(n));
        }
    }
    sum
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100);
    let other = std::thread::spawn(move || work(rounds / 4));
    black_box(work(rounds));
    black_box(other.join().ok());
}
