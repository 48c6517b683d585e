//! Prints how long each consumer takes for a record, beside the code by hand, and in how many instructions.
//!
//! `ratios [--large] [--valgrind] [PASSES]`: the input of 8 MiB instead of 512 KiB; instructions counted by
//! Valgrind where the machine has no counter for them (slow); passes of each consumer, 41 if not given.

use perfkit_benches::counter::{Counter, ONE, by_valgrind};
use perfkit_benches::{Case, Consumer, FITS_L2, Input, LARGE, Random, cases, median};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, passes, bytes, workload, touch, consumer] = &arguments[..]
        && first == ONE
    {
        return one(number(passes), number(bytes), workload, touch, consumer);
    }
    let has = |option: &str| arguments.iter().any(|argument| argument == option);
    let bytes = if has("--large") { LARGE } else { FITS_L2 };
    let passes = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(41);
    let counter = Counter::instructions();
    let clock = Counter::nanoseconds().expect("a task clock: every kernel has one");
    let mut ratios = Ratios::default();
    println!("{} KiB, median of {passes} interleaved passes", bytes >> 10);
    println!(
        "{:<10} {:<6} {:<24} {:>9} {:>8} {:>9} {:>8}",
        "workload", "touch", "consumer", "ns/record", "x hand", "instr/rec", "x hand"
    );
    for case in cases() {
        let mut input = (case.input)(bytes);
        case.check(&mut input);
        let all = case.walkers.iter().chain(&case.consumers);
        let consumers: Vec<_> = all.filter(|one| case.touch == "few" || !is_walker(one)).copied().collect();
        let instructions = consumers.iter().map(|consumer| match &counter {
            Some(counter) => counter.count(|| (consumer.run)(&mut input)),
            None if has("--valgrind") => by_valgrind(bytes, case.workload, case.touch, consumer.name),
            None => None,
        });
        let instructions: Vec<_> = instructions.collect();
        let times = medians(&clock, &consumers, &mut input, passes);
        let rows: Vec<_> = consumers.into_iter().zip(times.into_iter().zip(instructions)).collect();
        print(&case, &rows, input.records() as f64, &mut ratios);
    }
    ratios.print();
}

fn number(text: &str) -> usize {
    text.parse().expect("a number")
}

fn is_walker(consumer: &Consumer) -> bool {
    consumer.name.ends_with("headers")
}

/// One consumer alone, for a tool that counts the whole process.
fn one(passes: usize, bytes: usize, workload: &str, touch: &str, consumer: &str) {
    let case = cases().into_iter().find(|case| (case.workload, case.touch) == (workload, touch));
    let case = case.expect("a workload and a touch of the list");
    let mut all = case.walkers.iter().chain(&case.consumers);
    let consumer = all.find(|one| one.name == consumer).expect("a consumer of the list");
    let mut input = (case.input)(bytes);
    for _ in 0..passes {
        std::hint::black_box((consumer.run)(&mut input));
    }
}

/// Nanoseconds that each takes to read the input. The passes are taken in turn, so that a noisy moment meets all,
/// and in another order each time, or one would always find the caches as the same other left them.
fn medians(clock: &Counter, consumers: &[Consumer], input: &mut Input, passes: usize) -> Vec<f64> {
    // A pass of some hundred records is repeated, or it would be the clock that is measured.
    let repeats = (20_000 / input.records()).max(1);
    let mut times = vec![Vec::with_capacity(passes); consumers.len()];
    let mut random = Random::new(0);
    for _ in 0..passes {
        for index in random.order(consumers.len()) {
            let time = clock.count(|| {
                for _ in 0..repeats {
                    std::hint::black_box((consumers[index].run)(input));
                }
            });
            times[index].push(time.unwrap_or(0) as f64 / repeats as f64);
        }
    }
    times.into_iter().map(median).collect()
}

type Row = (Consumer, (f64, Option<u64>));

fn print(case: &Case, rows: &[Row], records: f64, ratios: &mut Ratios) {
    let of = |name: &str| rows.iter().find(|(consumer, _)| consumer.name == name);
    let Some(&(_, (hand, hand_instructions))) = of("by hand") else { return };
    for &(consumer, (time, instructions)) in rows {
        let count = instructions.map_or("n/a".into(), |count| format!("{:.1}", count as f64 / records));
        let ratio =
            instructions.zip(hand_instructions).map_or(f64::NAN, |(own, hand)| own as f64 / hand as f64);
        println!(
            "{:<10} {:<6} {:<24} {:>9.2} {:>8.2} {count:>9} {ratio:>8.2}",
            case.workload,
            case.touch,
            consumer.name,
            time / records,
            time / hand
        );
        if consumer.is_ours() && !is_walker(&consumer) {
            ratios.add(format!("{}: {} over by hand", case.touch, consumer.name), case.workload, time / hand);
        }
    }
    let peers = rows.iter().filter(|(consumer, _)| consumer.is_peer());
    let Some(peer) = peers.min_by(|a, b| a.1.0.total_cmp(&b.1.0)) else { return };
    for (consumer, (time, _)) in rows.iter().filter(|(one, _)| one.is_ours() && !is_walker(one)) {
        ratios.add(
            format!("{}: fastest peer over {}", case.touch, consumer.name),
            case.workload,
            peer.1.0 / time,
        );
    }
}

/// Ratios by title, in the order of their first appearance.
#[derive(Default)]
struct Ratios(Vec<(String, Vec<(&'static str, f64)>)>);

impl Ratios {
    fn add(&mut self, title: String, workload: &'static str, ratio: f64) {
        match self.0.iter_mut().find(|(known, _)| *known == title) {
            Some((_, ratios)) => ratios.push((workload, ratio)),
            None => self.0.push((title, vec![(workload, ratio)])),
        }
    }

    fn print(&self) {
        println!("\n{:<42} {:>8} {:>22} {:>22}", "ratio", "mean", "lowest", "highest");
        for (title, ratios) in &self.0 {
            let mean = (ratios.iter().map(|(_, ratio)| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
            let by = |a: &&(&str, f64), b: &&(&str, f64)| a.1.total_cmp(&b.1);
            let ends = [ratios.iter().min_by(by), ratios.iter().max_by(by)]
                .map(|end| end.map_or(String::new(), |(workload, ratio)| format!("{ratio:.2} ({workload})")));
            println!("{title:<42} {mean:>8.2} {:>22} {:>22}", ends[0], ends[1]);
        }
    }
}
