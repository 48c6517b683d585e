//! A program with several levels of inlined functions, generics and closures, to compare with
//! addr2line.

use std::collections::HashMap;

trait Shape {
    fn area(&self) -> f64;
}

struct Rect<T>(T, T);

impl<T: Copy + Into<f64>> Shape for Rect<T> {
    fn area(&self) -> f64 {
        self.0.into() * self.1.into()
    }
}

#[inline]
fn mixed(value: u64) -> u64 {
    value.wrapping_mul(31) ^ (value >> 3)
}

#[inline]
fn twice_mixed(value: u64) -> u64 {
    mixed(mixed(value))
}

#[inline(never)]
fn words(texts: &[String]) -> u64 {
    let mut counts = HashMap::<&str, u64>::new();
    for text in texts {
        *counts.entry(text).or_default() += twice_mixed(text.len() as u64);
    }
    counts.values().map(|&count| mixed(count)).fold(0, u64::wrapping_add)
}

fn main() {
    let mut texts: Vec<String> = std::env::args().collect();
    texts.extend((0..1000).map(|number| twice_mixed(number).to_string()));
    texts.sort_by_key(|text| (text.len(), text.clone()));
    let shapes: Vec<Box<dyn Shape>> =
        (0..100_u16).flat_map(|n| [Box::new(Rect(n, n)) as Box<dyn Shape>, Box::new(Rect(f64::from(n), 0.5))]).collect();
    let sum: f64 = shapes.iter().map(|shape| shape.area()).sum();
    println!("{} {sum}", words(&texts));
}
