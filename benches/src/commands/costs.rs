//! A table of costs: one line for each case, one column for each consumer of this project.

use perfkit_benches::Result;
use perfkit_benches::consumers::{Case, Consumer, Input, cases};

const COLUMNS: [&str; 7] =
    ["by-hand", "plan", "run-time", "specialized", "constant", "head", "head-constant"];

/// Cost per record of each consumer of a case.
pub struct Costs {
    pub case: Case,
    costs: Vec<f64>,
}

impl Costs {
    /// Returns the cost of a consumer; NaN if it was not measured.
    pub fn of(&self, name: &str) -> f64 {
        let mut named = self.case.consumers.iter().zip(&self.costs);
        named.find(|(consumer, _)| consumer.name == name).map_or(f64::NAN, |(_, cost)| *cost)
    }

    fn ratio(&self, name: &str) -> f64 {
        self.of(name) / self.of("by-hand")
    }
}

/// Returns the cases that the words select by loop, workload and touch, without peers. A property
/// without a word selects all its values.
fn selected(words: &[String]) -> Vec<Case> {
    let mut cases = cases();
    let properties: [fn(&Case) -> &str; 3] = [|case| case.shape, |case| case.workload, |case| case.touch];
    for property in properties {
        if cases.iter().any(|case| words.iter().any(|word| word == property(case))) {
            cases.retain(|case| words.iter().any(|word| word == property(case)));
        }
    }
    cases.iter_mut().for_each(|case| case.consumers.retain(|consumer| !consumer.is_peer()));
    cases
}

/// Measures the cases that the words select, after `keeps` has removed cases or consumers.
pub fn measure(
    words: &[String],
    bytes: usize,
    keeps: impl Fn(&mut Case) -> bool,
    mut costs: impl FnMut(&Case, &mut Input) -> Result<Vec<f64>>,
) -> Result<Vec<Costs>> {
    let mut all = Vec::new();
    for mut case in selected(words) {
        if keeps(&mut case) {
            let mut input = (case.input)(bytes);
            case.check(&mut input);
            let mut costs = costs(&case, &mut input)?;
            costs.iter_mut().for_each(|cost| *cost /= input.records() as f64);
            all.push(Costs { case, costs });
        }
    }
    // Groups in sequence, with the workloads of a group in their original order.
    all.sort_by_key(|cost| cost.case.group());
    Ok(all)
}

/// Prints costs, or ratios to the hand-written code, and the geometric mean and the worst ratio of
/// each group.
pub fn print(all: &[Costs], value: fn(&Costs, &str) -> f64) {
    let line = |title: &str, cells: [String; COLUMNS.len()]| {
        println!("{title:<32}{}", cells.map(|cell| format!("{cell:>14}")).concat());
    };
    line("", COLUMNS.map(String::from));
    for group in all.chunk_by(|one, next| one.case.group() == next.case.group()) {
        let name = group[0].case.group();
        for cost in group {
            let cell = |name| number(value(cost, name));
            line(&format!("{name}/{}", cost.case.workload), COLUMNS.map(cell));
        }
        let ratios = COLUMNS.map(|column| group.iter().map(|cost| cost.ratio(column)).collect::<Vec<_>>());
        let mean = |ratios: &Vec<f64>| {
            number((ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp())
        };
        line("  x by hand, geometric mean", ratios.each_ref().map(mean));
        line("  x by hand, worst", ratios.map(|ratios| number(ratios.into_iter().fold(f64::NAN, f64::max))));
    }
}

/// Prints only the ratios.
pub fn print_ratios(all: &[Costs]) {
    print(all, Costs::ratio);
}

fn number(value: f64) -> String {
    if value.is_nan() { String::new() } else { format!("{value:.2}") }
}

/// Keeps only the consumers with these names.
pub fn retain(case: &mut Case, names: &[&str]) {
    case.consumers.retain(|Consumer { name, .. }| names.contains(name));
}
