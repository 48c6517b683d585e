use crate::random::Random;

/// The result of a measurement.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Prints a row of medians for each name, and how many times the first column of the first row its own is.
///
/// `run` takes the index of a name and measures it once: in turn, so that a noisy moment meets all, and in another
/// order each time, or one would always find the caches as the same other left them.
pub(crate) fn table<const COLUMNS: usize>(
    title: &str,
    columns: [&str; COLUMNS],
    names: &[&str],
    passes: usize,
    mut run: impl FnMut(usize) -> Result<[f64; COLUMNS]>,
) -> Result<()> {
    let mut found = vec![Vec::with_capacity(passes); names.len()];
    let mut random = Random::new(0);
    for _ in 0..passes {
        for index in random.order(names.len()) {
            found[index].push(run(index)?);
        }
    }
    println!("\n{title}, median of {passes} interleaved passes");
    print!("{:<18}", "");
    columns.iter().for_each(|column| print!("{column:>14}"));
    println!("{:>8}", "x first");
    let mut first = None;
    for (name, passes) in names.iter().zip(&found) {
        let column =
            |column: usize| median(passes.iter().map(|pass: &[f64; COLUMNS]| pass[column]).collect());
        let row: [f64; COLUMNS] = std::array::from_fn(column);
        print!("{name:<18}");
        row.iter().for_each(|value| print!("{value:>14.2}"));
        println!("{:>8.2}", row[0] / *first.get_or_insert(row[0]));
    }
    Ok(())
}

/// The middle of the values, of which there must be some.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
