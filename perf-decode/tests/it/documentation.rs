//! The tables of fields against the documentation of the JSON.

use perf_decode::schema::{ADDR, BODIES, FieldType, Fields, HEAD, MEM};

const DUMP_JSON: &str = include_str!("../../../docs/dump-json.md");

/// Returns the form of a field in JSON, for one field or several.
fn form(field: FieldType, several: bool) -> &'static str {
    match field {
        FieldType::Task => "signed",
        FieldType::Hex | FieldType::AuxFlags | FieldType::DataSource | FieldType::Transaction => "hex",
        FieldType::Bytes8 | FieldType::BuildId | FieldType::Summed => "bytes",
        FieldType::Name => "text",
        FieldType::Words => "list of hex",
        FieldType::Namespaces => "list of objects of the numbers `dev`, `ino`",
        FieldType::Counts => "object, see [Counts](#counts)",
        _ if several => "numbers",
        _ => "number",
    }
}

/// Returns the start of a line of the documentation.
fn line(record: &str, fields: Fields) -> String {
    let runs = fields.chunk_by(|(_, one), (_, other)| form(*one, true) == form(*other, true));
    let runs: Vec<_> = runs
        .map(|run| {
            let names: Vec<_> = run.iter().map(|(name, _)| format!("`{name}`")).collect();
            let form = run.first().map_or("", |&(_, field)| form(field, run.len() > 1));
            format!("{} {form}", names.join(", "))
        })
        .collect();
    format!("| {record} | {}", if runs.is_empty() { "no fields".into() } else { runs.join("; ") })
}

#[test]
fn documentation_lists_every_word_of_a_sample() {
    let mut missing = Vec::new();
    for row in HEAD.iter().chain(MEM).chain(ADDR) {
        let shown: Vec<_> = row.shown().collect();
        let names: Vec<_> = shown.iter().map(|(name, _)| format!("`{name}`")).collect();
        let form = shown.first().map_or("", |(_, field)| form(*field, false));
        // The bits of one word are one line each.
        let bit = row.bit.iter_names().next().map_or("", |(name, _)| name);
        let line = format!(
            "| {} | {form}{} | `{bit}` |",
            names.join(", "),
            if form == "signed" { " number" } else { "" }
        );
        if !DUMP_JSON.lines().any(|written| written == line) {
            missing.push(line);
        }
    }
    assert!(missing.is_empty(), "docs/dump-json.md needs these lines:\n{}", missing.join("\n"));
}

#[test]
fn documentation_lists_the_fields_of_every_body() {
    let mut missing = Vec::new();
    for body in BODIES {
        let with_build_id = body.fields_with_build_id.map(|fields| (" with a build id", fields));
        for (form, fields) in [Some(("", body.fields)), with_build_id].into_iter().flatten() {
            let line = line(&format!("`{}`{form}", body.kind), fields);
            // A remark can follow.
            if !DUMP_JSON.lines().any(|written| written.starts_with(&line)) {
                missing.push(line + " |");
            }
        }
    }
    assert!(missing.is_empty(), "docs/dump-json.md needs these lines:\n{}", missing.join("\n"));
}
