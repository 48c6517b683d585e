use super::Costs;

/// Prints the costs by hand and of perf-decode, one line per shape and workload, and then a summary per shape: the
/// geometric mean over the workloads and the worst of them.
pub fn print(costs: &[Costs]) {
    let peers = costs.iter().any(|cost| cost.cheapest_peer().is_some());
    let mut shapes: Vec<_> = costs.iter().map(|cost| cost.shape).collect();
    shapes.sort_unstable();
    shapes.dedup();
    print!(
        "{:<13}{:<11}{:<6}{:>8}{:>8}{:>8}{:>7}{:>7}",
        "shape", "workload", "touch", "by hand", "ours", "const", "x", "const"
    );
    println!("{}", if peers { "    peer  / ours  / const" } else { "" });
    for shape in &shapes {
        for cost in costs.iter().filter(|cost| cost.shape == *shape) {
            row(cost);
        }
    }
    let mut touches: Vec<_> = costs.iter().map(|cost| cost.touch).collect();
    touches.sort_unstable();
    touches.dedup();
    // Few first: by the alphabet it comes last but one.
    touches.sort_by_key(|touch| *touch != "few");
    summary(
        "time / by hand: geometric mean over the workloads (worst)",
        &shapes,
        &touches,
        costs,
        f64::max,
        |cost, ours| Some(cost.of(ours)? / cost.of("by hand")?),
    );
    if peers {
        summary(
            "fastest peer / ours: geometric mean over the workloads (least)",
            &shapes,
            &touches,
            costs,
            f64::min,
            |cost, ours| Some(cost.cheapest_peer()? / cost.of(ours)?),
        );
    }
}

fn row(cost: &Costs) {
    let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
    let [hand, ours, constant] = ["by hand", "ours", "ours const"].map(|name| number(cost.of(name)));
    print!("{:<13}{:<11}{:<6}{hand:>8.2}{ours:>8.2}", cost.shape, cost.workload, cost.touch);
    print!("{constant:>8.2}{:>7.2}{:>7.2}", ours / hand, constant / hand);
    if let Some(peer) = cost.cheapest_peer() {
        print!("{peer:>8.1}{:>8.1}{:>8.1}", peer / ours, peer / constant);
    }
    println!();
}

fn summary(
    title: &str,
    shapes: &[&str],
    touches: &[&str],
    costs: &[Costs],
    worse: fn(f64, f64) -> f64,
    ratio: impl Fn(&Costs, &str) -> Option<f64>,
) {
    println!("\n{title}");
    print!("{:<13}", "shape");
    let columns: Vec<_> =
        touches.iter().flat_map(|touch| ["ours", "ours const"].map(|name| (*touch, name))).collect();
    columns.iter().for_each(|(touch, name)| print!("{:>28}", format!("{touch}, {name}")));
    println!();
    for shape in shapes {
        print!("{shape:<13}");
        for (touch, name) in &columns {
            let cell = costs.iter().filter(|cost| cost.shape == *shape && stands_for(cost, touch));
            let ratios: Vec<_> = cell.filter_map(|cost| Some((ratio(cost, name)?, cost.workload))).collect();
            print!("{:>28}", mean_and_worst(&ratios, worse));
        }
        println!();
    }
}

/// Whether a case is part of the mean of a touch: records without large contents have no `views` of them.
fn stands_for(cost: &Costs, touch: &str) -> bool {
    let has_views = matches!(cost.workload, "stack" | "raw");
    cost.touch == touch || (touch == "views" && cost.touch == "all" && !has_views)
}

fn mean_and_worst(ratios: &[(f64, &str)], worse: fn(f64, f64) -> f64) -> String {
    let Some(worst) = ratios.iter().map(|(ratio, _)| *ratio).reduce(worse) else { return String::new() };
    let mean = (ratios.iter().map(|(ratio, _)| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let workload = ratios.iter().find(|(ratio, _)| *ratio == worst).map_or("", |(_, workload)| workload);
    format!("{mean:.2} ({worst:.2} {workload})")
}
