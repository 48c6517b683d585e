use super::measure::Costs;

/// A summary of a ratio of two costs.
struct Summary {
    title: &'static str,
    /// The worse of two ratios.
    worse: fn(f64, f64) -> f64,
    ratio: fn(&Costs, &str) -> f64,
}

const SUMMARIES: [Summary; 3] = [
    Summary {
        title: "ratio to the code by hand",
        worse: f64::max,
        ratio: |cost, name| cost.of(name) / cost.of("by hand"),
    },
    Summary {
        title: "ratio to the plan of offsets",
        worse: f64::max,
        ratio: |cost, name| cost.of(name) / cost.of("plan"),
    },
    Summary {
        title: "fastest peer, ratio to ours",
        worse: f64::min,
        ratio: |cost, name| cost.cheapest_peer() / cost.of(name),
    },
];

/// Prints the costs, one line per shape and workload, and then summaries per shape: the geometric mean over the
/// workloads and the worst of them.
pub(super) fn print(costs: &[Costs]) {
    let sorted = |mut names: Vec<&'static str>| {
        names.sort_unstable();
        names.dedup();
        names
    };
    let shapes = sorted(costs.iter().map(|cost| cost.shape).collect());
    let mut touches = sorted(costs.iter().map(|cost| cost.touch).collect());
    // Few first: by the alphabet it comes last but one.
    touches.sort_by_key(|touch| *touch != "few");
    let columns = ["by hand", "plan", "ours", "const", "peer", "x hand", "x plan", "const x"];
    print!("{:<13}{:<11}{:<6}", "shape", "workload", "touch");
    columns.iter().for_each(|column| print!("{column:>9}"));
    println!();
    for shape in &shapes {
        for cost in costs.iter().filter(|cost| cost.shape == *shape) {
            print!("{:<13}{:<11}{:<6}", cost.shape, cost.workload, cost.touch);
            let [hand, plan, ours, constant] =
                ["by hand", "plan", "ours", "ours const"].map(|name| cost.of(name));
            let ratios = [ours / hand, ours / plan, constant / hand];
            [hand, plan, ours, constant, cost.cheapest_peer()].into_iter().chain(ratios).for_each(number);
            println!();
        }
    }
    for summary in &SUMMARIES {
        summary.print(&shapes, &touches, costs);
    }
}

fn number(value: f64) {
    if value.is_nan() { print!("{:>9}", "") } else { print!("{value:>9.2}") }
}

impl Summary {
    fn print(&self, shapes: &[&str], touches: &[&str], costs: &[Costs]) {
        if costs.iter().all(|cost| (self.ratio)(cost, "ours").is_nan()) {
            return;
        }
        println!("\n{}: geometric mean over the workloads (worst)", self.title);
        print!("{:<13}", "shape");
        let columns: Vec<_> =
            touches.iter().flat_map(|touch| ["ours", "ours const"].map(|name| (*touch, name))).collect();
        columns.iter().for_each(|(touch, name)| print!("{:>24}", format!("{touch}, {name}")));
        println!();
        for shape in shapes {
            print!("{shape:<13}");
            for (touch, name) in &columns {
                let cell = costs.iter().filter(|cost| cost.shape == *shape && stands_for(cost, touch));
                let ratios: Vec<_> = cell.map(|cost| ((self.ratio)(cost, name), cost.workload)).collect();
                print!("{:>24}", mean_and_worst(&ratios, self.worse));
            }
            println!();
        }
    }
}

/// Returns whether a case is part of the mean of a touch: records without large contents have no `views` of them.
fn stands_for(cost: &Costs, touch: &str) -> bool {
    let has_views = matches!(cost.workload, "stack" | "raw");
    cost.touch == touch || (touch == "views" && cost.touch == "all" && !has_views)
}

fn mean_and_worst(ratios: &[(f64, &str)], worse: fn(f64, f64) -> f64) -> String {
    let ratios: Vec<_> = ratios.iter().filter(|(ratio, _)| !ratio.is_nan()).collect();
    let Some(worst) = ratios.iter().map(|(ratio, _)| *ratio).reduce(worse) else { return String::new() };
    let mean = (ratios.iter().map(|(ratio, _)| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let workload = ratios.iter().find(|(ratio, _)| *ratio == worst).map_or("", |(_, workload)| workload);
    format!("{mean:.2} ({worst:.2} {workload})")
}
