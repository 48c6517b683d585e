//! Prints the functions with most samples of a `perf.data` file, and what is missing.
//!
//! Usage: `profile_of_file [FILE]`, of `perf record` or `perfkit record`.

use std::{env, io};

use perf_profile::read::ProfileReader;
use perf_profile::{Column, Order, Table};

fn main() -> io::Result<()> {
    let file = env::args_os().nth(1).unwrap_or_else(|| "perf.data".into());
    let read = ProfileReader::open(file)?.read()?;
    for (event, about) in read.profile.event_ids() {
        println!("{}: {} samples", about.name, read.profile.sample_count(event));
        let table = Table::new(&read.profile, &[Column::Function]).sorted(event, Order::BySelf);
        for row in table.rows.iter().take(20) {
            println!("{:>12} {}", row.cost(event).self_value, row.entry);
        }
    }
    read.profile.losses().lines().iter().for_each(|loss| eprintln!("{loss}"));
    read.finish()
}
