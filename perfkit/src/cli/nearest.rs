//! The name nearest to one that does not exist.

/// Similarity from which a name is proposed, between 0 and 1.
const SIMILAR: f64 = 0.7;

/// Returns `; the nearest is NAME`, or nothing if none is like the wanted one.
pub(crate) fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let wanted = wanted.to_ascii_lowercase();
    let rated = names.into_iter().map(|name| {
        let lower = name.to_ascii_lowercase();
        // The second measure favors a common prefix, as of an unfinished name.
        (
            strsim::normalized_damerau_levenshtein(&wanted, &lower)
                .max(strsim::jaro_winkler(&wanted, &lower) - 0.1),
            name,
        )
    });
    match rated.max_by(|(left, _), (right, _)| left.total_cmp(right)) {
        Some((similarity, name)) if similarity >= SIMILAR => format!("; the nearest is {name}"),
        _ => String::new(),
    }
}
