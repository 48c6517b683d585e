//! Prints what it costs to read the records of rings, for perf-sys and its peers on one stream of events.
//!
//! `drain [PASSES]`: three tables, for 31 passes if not given: draining a full ring, reading while the
//! stream runs as fast as it can, and reading 20 000 samples a second.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use perfkit_benches::counter::Counter;
use perfkit_benches::samplers::{Found, Open, Setup, samplers};
use perfkit_benches::stream::{Faults, SAMPLE};
use perfkit_benches::{All, Few, Touch, allocations};
use rustix::thread::gettid;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let passes = std::env::args().nth(1).map_or(Ok(31), |passes| passes.parse())?;
    full_rings(passes)?;
    beside_the_stream(passes.div_ceil(4))?;
    at_a_rate(passes.div_ceil(8))
}

/// What one sampler took for one pass, by the name of the column.
type Pass = Vec<(&'static str, f64)>;

/// Prints the medians of every sampler, its passes taken in turn with those of the others.
fn table(title: &str, passes: usize, mut run: impl FnMut(usize) -> Result<(String, Pass)>) -> Result<()> {
    let mut rows: [(String, Vec<Pass>); 3] = Default::default();
    for _ in 0..passes {
        for (index, (name, found)) in rows.iter_mut().enumerate() {
            let (sampler, pass) = run(index)?;
            *name = sampler;
            found.push(pass);
        }
    }
    println!("\n{title}, median of {passes} interleaved passes");
    let columns: Vec<_> = rows[0].1[0].iter().map(|(column, _)| *column).collect();
    print!("{:<18}", "");
    columns.iter().for_each(|column| print!(" {column:>16}"));
    println!(" {:>8}", "x ours");
    let mut ours = f64::NAN;
    for (name, passes) in &rows {
        print!("{name:<18}");
        for column in 0..columns.len() {
            let mut values: Vec<_> = passes.iter().map(|pass| pass[column].1).collect();
            values.sort_by(f64::total_cmp);
            let median = values[values.len() / 2];
            print!(" {median:>16.2}");
            if column == 0 && ours.is_nan() {
                ours = median;
            }
            if column + 1 == columns.len() {
                let mut firsts: Vec<_> = passes.iter().map(|pass| pass[0].1).collect();
                firsts.sort_by(f64::total_cmp);
                println!(" {:>8.1}", firsts[firsts.len() / 2] / ours);
            }
        }
    }
    Ok(())
}
