//! Runs criterion, and writes its medians into `record/CPU/DATE.csv` with the versions and settings
//! that they depend on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use criterion_perf::PerfMeasurement;
use perfkit_benches::Result;
use perfkit_benches::measurement::EVENT;
use serde_json::Value;

/// Folder of this crate.
const HERE: &str = env!("CARGO_MANIFEST_DIR");

const PEERS: [&str; 7] = [
    "linux-perf-event-reader",
    "perf-event-open",
    "perf-event2",
    "linux-perf-data",
    "aya",
    "libbpf-rs",
    "criterion",
];

/// Result of one bench, `group/workload/decoder`.
struct Row {
    name: [String; 3],
    /// Elements of one pass.
    elements: f64,
    bytes: Option<f64>,
    ns: f64,
    /// User-space instructions of a pass, if there is a PMU.
    instructions: Option<f64>,
    measured: SystemTime,
}

pub fn record(arguments: &[String]) -> Result<()> {
    let home = Path::new(HERE).join("target/criterion-record");
    // Removes results of benches that were renamed.
    let _ = fs::remove_dir_all(&home);
    bench(&home.join("time"), None, arguments)?;
    let has_pmu = PerfMeasurement::new("instructions").is_ok();
    if has_pmu {
        bench(&home.join("instructions"), Some("instructions"), arguments)?;
    }
    let mut rows = Vec::new();
    collect(&home.join("time"), &mut rows)?;
    rows.sort_by_key(|row| row.measured);
    for row in &mut rows {
        let path = home.join("instructions").join("instructions:u").join(row.name.join("/"));
        row.instructions = median(&path.join("new")).ok();
    }
    // Partial results, or results with other settings, do not belong in the record.
    let folder = if arguments.is_empty() { Path::new(HERE).join("record") } else { home };
    let path = write(&folder, &rows)?;
    println!("\n{}\n\n{}", path.display(), tables(&rows));
    Ok(())
}

/// Runs all benches, with their results in `results`.
fn bench(results: &Path, event: Option<&str>, arguments: &[String]) -> Result<()> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.current_dir(HERE).arg("bench").env("CRITERION_HOME", results);
    if cfg!(feature = "bpf") {
        cargo.args(["--features", "bpf"]);
    }
    match event {
        Some(event) => cargo.env(EVENT, event),
        None => cargo.env_remove(EVENT),
    };
    let status = cargo.arg("--").args(arguments).status()?;
    if status.success() { Ok(()) } else { Err(format!("cargo bench: {status}").into()) }
}

/// Adds the newest results in a folder of criterion and all folders below it.
fn collect(folder: &Path, rows: &mut Vec<Row>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.ends_with("new") {
            rows.push(row(&path)?);
        } else if path.is_dir() {
            collect(&path, rows)?;
        }
    }
    Ok(())
}

fn json(path: &Path) -> Result<Value> {
    Ok(serde_json::from_slice(&fs::read(path)?)?)
}

/// Returns criterion's median time of one pass.
fn median(folder: &Path) -> Result<f64> {
    let estimates = json(&folder.join("estimates.json"))?;
    estimates["median"]["point_estimate"].as_f64().ok_or("estimates.json: no median".into())
}

fn row(folder: &Path) -> Result<Row> {
    let bench = json(&folder.join("benchmark.json"))?;
    let name =
        ["group_id", "function_id", "value_str"].map(|key| bench[key].as_str().unwrap_or("").to_owned());
    let both = &bench["throughput"]["ElementsAndBytes"];
    let elements = both["elements"].as_f64().or(bench["throughput"]["Elements"].as_f64());
    Ok(Row {
        name,
        elements: elements.ok_or("benchmark.json: no elements")?,
        bytes: both["bytes"].as_f64(),
        ns: median(folder)?,
        instructions: None,
        measured: fs::metadata(folder.join("estimates.json"))?.modified()?,
    })
}

/// Writes the rows, after comments with the versions and settings. Returns the path.
fn write(folder: &Path, rows: &[Row]) -> Result<PathBuf> {
    let (cpu, date) = (cpu()?, output("date", &["+%F"])?);
    let mut lines = vec![
        cpu.clone(),
        format!("Linux {}", output("uname", &["-r"])?),
        output("rustc", &["--version"])?,
        format!("commit {}", output("git", &["-C", HERE, "describe", "--always", "--dirty"])?),
        format!("load average at the end: {}", fs::read_to_string("/proc/loadavg")?.trim()),
    ];
    for peer in PEERS {
        lines.push(format!("{peer} {}", version(peer)?));
    }
    lines.iter_mut().for_each(|line| line.insert_str(0, "# "));
    lines.push("group,workload,decoder,elements,bytes,ns,instructions".into());
    for row in rows {
        let some = |number: Option<f64>| number.map_or_else(String::new, |number| format!("{number:.0}"));
        let (name, bytes, instructions) = (row.name.join(","), some(row.bytes), some(row.instructions));
        lines.push(format!("{name},{},{bytes},{:.1},{instructions}", row.elements, row.ns));
    }
    let words = cpu.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let folder = folder.join(words.collect::<Vec<_>>().join("-"));
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{date}.csv"));
    fs::write(&path, lines.join("\n") + "\n")?;
    Ok(path)
}

fn output(program: &str, arguments: &[&str]) -> Result<String> {
    let output =
        Command::new(program).args(arguments).output().map_err(|error| format!("{program}: {error}"))?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// Returns the model of the CPU, or the architecture if the kernel has no name for the model.
fn cpu() -> Result<String> {
    let text = fs::read_to_string("/proc/cpuinfo")?;
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    Ok(model.map_or(std::env::consts::ARCH, |(_, model)| model.trim()).to_owned())
}

/// Returns the version of a package in `Cargo.lock`.
fn version(package: &str) -> Result<String> {
    let lock = fs::read_to_string(Path::new(HERE).join("Cargo.lock"))?;
    let entry = lock.split("[[package]]").find(|entry| entry.contains(&format!("name = \"{package}\"\n")));
    let version = entry.and_then(|entry| entry.split("version = \"").nth(1)?.split('"').next());
    Ok(version.ok_or_else(|| format!("Cargo.lock: no {package}"))?.to_owned())
}

/// Returns the tables of the README: ns per element, with GB/s in parentheses, one line per
/// workload and one column per decoder. Only one of the loops in memory is shown.
fn tables(rows: &[Row]) -> String {
    let mut text = String::new();
    let shown = |row: &&Row| !row.name[0].starts_with("decode-") || row.name[0].contains("-question");
    for group in distinct(rows.iter().filter(shown), 0) {
        let rows = || rows.iter().filter(|row| row.name[0] == group);
        let decoders = distinct(rows(), 2);
        text +=
            &format!("| `{group}` | {} |\n|---|{}\n", decoders.join(" | "), "--:|".repeat(decoders.len()));
        for workload in distinct(rows(), 1) {
            let cell = |decoder: &&str| {
                let row = rows().find(|row| row.name[1..] == [workload, *decoder]);
                row.map_or_else(String::new, Row::cell)
            };
            let cells: Vec<_> = decoders.iter().map(cell).collect();
            text += &format!("| {workload} | {} |\n", cells.join(" | "));
        }
        text.push('\n');
    }
    text
}

/// Returns the distinct values of one part of the names, in row order.
fn distinct<'r>(rows: impl Iterator<Item = &'r Row>, part: usize) -> Vec<&'r str> {
    let mut names = Vec::new();
    for row in rows {
        let name = &row.name[part][..];
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

impl Row {
    fn cell(&self) -> String {
        let ns = self.ns / self.elements;
        let decimals = if ns < 10.0 { 2 } else { usize::from(ns < 100.0) };
        let rate = self.bytes.map_or_else(String::new, |bytes| format!(" ({:.1})", bytes / self.ns));
        format!("{ns:.decimals$}{rate}")
    }
}
