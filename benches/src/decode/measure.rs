use std::hint::black_box;
use std::process::Command;

use super::print::print;
use super::{Case, Consumer, FITS_L2, Input, LARGE, SMALL, cases, selected};
use crate::counter::Counter;
use crate::random::Random;
use crate::table::{Result, median};

/// Argument of a run for Valgrind, followed by passes, bytes, shape, workload, touch and consumer.
const ONE: &str = "--one";

/// Workload and touch in loop b, and at most how many instructions a record with a layout made at run time and
/// with a constant one: a few more than were counted, because compilers differ.
const LIMITS: [(&str, &str, [f64; 2]); 6] = [
    ("fixed", "few", [31.0, 25.0]),
    ("fixed", "all", [50.0, 33.0]),
    ("raw", "all", [206.0, 179.0]),
    ("group", "all", [160.0, 116.0]),
    ("side-band", "all", [163.0, 151.0]),
    ("stack", "few", [137.0, 86.0]),
];

/// The cost of each consumer of a case, in ns or in instructions a record.
pub(super) struct Costs {
    pub(super) shape: &'static str,
    pub(super) workload: &'static str,
    pub(super) touch: &'static str,
    consumers: Vec<(Consumer, f64)>,
}

impl Costs {
    /// Returns the cost of a consumer, NaN if the case does not have it.
    pub(super) fn of(&self, name: &str) -> f64 {
        self.consumers.iter().find(|(consumer, _)| consumer.name == name).map_or(f64::NAN, |(_, cost)| *cost)
    }

    /// Returns the lowest cost of a peer, NaN without peers.
    pub(super) fn cheapest_peer(&self) -> f64 {
        let peers = self.consumers.iter().filter(|(consumer, _)| consumer.is_peer());
        peers.map(|(_, cost)| *cost).fold(f64::NAN, f64::min)
    }
}

/// Measures the consumers of each case that the words select.
fn measure(
    words: &[String],
    bytes: usize,
    peers: bool,
    mut costs: impl FnMut(&Case, &[Consumer], &mut Input) -> Result<Vec<f64>>,
) -> Result<Vec<Costs>> {
    let mut of_workload: Option<(&str, Input)> = None;
    let mut all = Vec::new();
    for case in selected(words) {
        let (workload, input) = of_workload.get_or_insert_with(|| (case.workload, (case.input)(bytes)));
        if *workload != case.workload {
            (*workload, *input) = (case.workload, (case.input)(bytes));
        }
        case.check(input);
        let consumers: Vec<_> =
            case.consumers.iter().filter(|one| peers || !one.is_peer()).copied().collect();
        let costs = costs(&case, &consumers, input)?;
        let records = input.records() as f64;
        let consumers = consumers.into_iter().zip(costs.into_iter().map(|cost| cost / records)).collect();
        let Case { shape, workload, touch, .. } = case;
        all.push(Costs { shape, workload, touch, consumers });
    }
    Ok(all)
}

/// `ratios`: medians of CPU time in ns a record, or of the counts of another event.
pub(crate) fn ratios(arguments: &[String]) -> Result<()> {
    let has = |option: &str| arguments.iter().any(|argument| argument == option);
    let bytes = if has("--large") { LARGE } else { FITS_L2 };
    let passes = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(41);
    let event = arguments.iter().find_map(|argument| argument.strip_prefix("--event="));
    let counter = event.map_or_else(Counter::nanoseconds, Counter::event)?;
    println!("{} a record, {} KiB, median of {passes} interleaved passes\n", counter.unit(), bytes >> 10);
    let costs = measure(arguments, bytes, has("--peers"), |_, consumers, input| {
        Ok(medians(&counter, consumers, input, passes))
    })?;
    print(&costs);
    Ok(())
}

/// Returns what each consumer costs for the input. Passes are taken in turn, so that a noisy moment meets
/// all, and in another order each time, or a consumer would always find the caches as the same other one left them.
fn medians(counter: &Counter, consumers: &[Consumer], input: &mut Input, passes: usize) -> Vec<f64> {
    // A pass of some hundred records is repeated, or it would be the counter that is measured.
    let repeats = (20_000 / input.records()).max(1);
    let mut costs = vec![Vec::with_capacity(passes); consumers.len()];
    let mut random = Random::new(0);
    for _ in 0..passes {
        for index in random.order(consumers.len()) {
            let cost = counter.count(|| {
                for _ in 0..repeats {
                    black_box((consumers[index].run)(input));
                }
            });
            costs[index].push(cost.unwrap_or(0) as f64 / repeats as f64);
        }
    }
    costs.into_iter().map(median).collect()
}

/// `instructions`: instructions a record by callgrind, which noise does not move. With `--gate` it fails above
/// [`LIMITS`]. Without valgrind it says so and succeeds.
pub(crate) fn instructions(arguments: &[String]) -> Result<()> {
    if !Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success()) {
        println!("skipped: no valgrind, which counts the instructions");
        return Ok(());
    }
    let gate = arguments.iter().any(|argument| argument == "--gate");
    let peers = arguments.iter().any(|argument| argument == "--peers");
    let mut words = arguments.to_vec();
    if gate {
        let limits = LIMITS.iter().flat_map(|(workload, touch, _)| [*workload, *touch]);
        words = limits.chain(["b"]).map(String::from).collect();
    }
    let mut costs = measure(&words, SMALL, peers, |case, consumers, _| {
        // Two at a time, because each is a separate process.
        let mut counts = Vec::new();
        for pair in consumers.chunks(2) {
            counts.extend(std::thread::scope(|scope| {
                let counting = |one| scope.spawn(move || by_valgrind(case, one));
                let running: Vec<_> = pair.iter().map(counting).collect();
                running.into_iter().map(|one| one.join().ok().flatten()).collect::<Vec<_>>()
            }));
        }
        counts.into_iter().collect::<Option<_>>().ok_or("valgrind counted nothing".into())
    })?;
    if !gate {
        print(&costs);
        return Ok(());
    }
    costs.retain(|cost| LIMITS.iter().any(|limit| is_limited(cost, limit)));
    print(&costs);
    let mut exceeded = costs.len() != LIMITS.len();
    for limit in &LIMITS {
        for cost in costs.iter().filter(|cost| is_limited(cost, limit)) {
            for (name, limit) in ["ours", "ours const"].into_iter().zip(limit.2) {
                let found = cost.of(name);
                let verdict = if found <= limit { "kept" } else { "EXCEEDED" };
                exceeded |= found.is_nan() || found > limit;
                let (workload, touch) = (cost.workload, cost.touch);
                println!("{workload} {touch}, {name}: expected at most {limit}, found {found:.1}: {verdict}");
            }
        }
    }
    if exceeded { Err("more instructions than the gate allows".into()) } else { Ok(()) }
}

fn is_limited(cost: &Costs, (workload, touch, _): &(&str, &str, [f64; 2])) -> bool {
    (cost.workload, cost.touch) == (*workload, *touch)
}

/// Returns the instructions of one pass of a consumer, counted in two runs of this program that differ in the
/// number of passes. `main` calls [`run_one`] in them.
fn by_valgrind(case: &Case, consumer: &Consumer) -> Option<f64> {
    let run = |passes: u64| {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(std::env::current_exe().ok()?)
            .args([ONE, &passes.to_string(), &SMALL.to_string()])
            .args([case.shape, case.workload, case.touch, consumer.name])
            .output()
            .ok()?;
        let report = String::from_utf8_lossy(&output.stderr).into_owned();
        let count = report.lines().find_map(|line| line.split_once("Collected : "))?.1;
        count.trim().parse::<u64>().ok()
    };
    let (few, more) = (run(1)?, run(5)?);
    Some(more.saturating_sub(few) as f64 / 4.0)
}

/// Runs one consumer alone if these are the arguments of [`by_valgrind`]; returns whether they are.
pub(crate) fn run_one(arguments: &[String]) -> bool {
    let [first, passes, bytes, shape, workload, touch, consumer] = arguments else { return false };
    let (Ok(passes), Ok(bytes)) = (passes.parse::<u64>(), bytes.parse()) else { return false };
    let same = |case: &Case| (case.shape, case.workload, case.touch) == (shape, workload, touch);
    let Some(case) = cases().into_iter().find(same).filter(|_| first == ONE) else { return false };
    let Some(consumer) = case.consumers.iter().find(|one| one.name == consumer) else { return false };
    let mut input = (case.input)(bytes);
    for _ in 0..passes {
        black_box((consumer.run)(&mut input));
    }
    true
}
