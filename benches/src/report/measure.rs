use crate::counter::{Counter, by_valgrind};
use crate::{Case, Consumer, Input, Random, median, selected};

/// What is measured.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Size of the input, a power of two.
    pub bytes: usize,
    /// Whether the peers are measured too.
    pub peers: bool,
    /// Passes of each consumer.
    pub passes: usize,
    /// Letters of shapes, workloads and touches. Empty for all of them.
    pub selection: Vec<String>,
}

/// What the consumers of one case cost, in ns or in instructions a record.
pub struct Costs {
    /// The shape's letter and name.
    pub shape: &'static str,
    /// The workload's name.
    pub workload: &'static str,
    /// The touch's name.
    pub touch: &'static str,
    consumers: Vec<(Consumer, f64)>,
}

impl Costs {
    /// Returns the cost of a consumer.
    pub fn of(&self, name: &str) -> Option<f64> {
        self.consumers.iter().find(|(consumer, _)| consumer.name == name).map(|(_, cost)| *cost)
    }

    /// Returns the lowest cost of a peer.
    pub fn cheapest_peer(&self) -> Option<f64> {
        let peers = self.consumers.iter().filter(|(consumer, _)| consumer.is_peer());
        peers.map(|(_, cost)| *cost).min_by(f64::total_cmp)
    }
}

impl Options {
    /// Measures the consumers of each selected case.
    fn measure(
        &self,
        mut costs: impl FnMut(&Case, &[Consumer], &mut Input) -> Option<Vec<f64>>,
    ) -> Option<Vec<Costs>> {
        let mut of_workload: Option<(&str, Input)> = None;
        let mut all = Vec::new();
        for case in selected(&self.selection) {
            if of_workload.as_ref().is_none_or(|(workload, _)| *workload != case.workload) {
                of_workload = Some((case.workload, (case.input)(self.bytes)));
            }
            let (_, input) = of_workload.as_mut()?;
            case.check(input);
            let consumers = case.consumers.iter().filter(|one| self.peers || !one.is_peer());
            let consumers: Vec<_> = consumers.copied().collect();
            let costs = costs(&case, &consumers, input)?;
            let records = input.records() as f64;
            let consumers =
                consumers.into_iter().zip(costs).map(|(consumer, cost)| (consumer, cost / records)).collect();
            let Case { shape, workload, touch, .. } = case;
            all.push(Costs { shape, workload, touch, consumers });
        }
        Some(all)
    }
}

/// Returns the medians of CPU time in ns a record; `None` without a task clock, which every kernel has.
pub fn nanoseconds(options: &Options) -> Option<Vec<Costs>> {
    let clock = Counter::nanoseconds()?;
    options.measure(|_, consumers, input| Some(medians(&clock, consumers, input, options.passes)))
}

/// Returns instructions in user space a record, by the machine's counter or else by callgrind; `None` without both.
pub fn instructions(options: &Options) -> Option<Vec<Costs>> {
    let counter = Counter::instructions();
    options.measure(|case, consumers, input| {
        let count = |consumer: &Consumer| match &counter {
            Some(counter) => counter.count(|| (consumer.run)(input)),
            None => by_valgrind(options.bytes, case, consumer),
        };
        consumers.iter().map(count).map(|count| count.map(|count| count as f64)).collect()
    })
}

/// The ns that each consumer takes for the input. Passes are taken in turn, so that a noisy moment meets all, and in
/// another order each time, or a consumer would always find the caches as the same other one left them.
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
