//! The pages about Cilium's `pkg/bpf` and `perfevent` list every exported name.

const PAGES: &str = concat!(
    include_str!("../../docs/coming-from/cilium-maps.md"),
    include_str!("../../docs/coming-from/cilium-events.md")
);

/// Returns the names without a row in the page. A constant may be in a row such as `PERF_TYPE_*`.
fn missing<'n>(page: &str, names: &'n str) -> Vec<&'n str> {
    let rows: String = page.lines().filter(|line| line.starts_with('|')).collect();
    let listed: Vec<&str> = rows.split('`').skip(1).step_by(2).collect();
    let is_listed = |name: &&str| {
        listed.iter().any(|entry| match entry.strip_suffix('*') {
            Some(prefix) => !prefix.is_empty() && name.starts_with(prefix) && !name.contains('.'),
            None => entry == name,
        })
    };
    names.lines().filter(|name| !is_listed(name)).collect()
}

#[test]
fn every_name_of_cilium_is_listed() {
    let names = include_str!("../data/cilium-bpf-names.txt");
    assert!(names.lines().count() > 290);
    assert_eq!(missing(PAGES, names), [""; 0]);
}

#[test]
fn every_name_of_perfevent_is_listed() {
    assert_eq!(missing(PAGES, include_str!("../data/perfevent-names.txt")), [""; 0]);
}

#[test]
fn a_name_without_a_row_is_found() {
    let page = "text with `InText`\n| `A`, `B.C` | `ours` |\n| `D_*` | none |\n";
    assert_eq!(missing(page, "A\nB.C\nD_1\nInText\nD\nE"), ["InText", "D", "E"]);
}
