//! PMUs of several machines.

use super::*;
use crate::names::spec::EventSpec;
use crate::system::tree::Tree;

mod amd;
mod arm;
mod files;
mod hybrid;
mod live;
mod terms;
mod uncore;

/// Returns the event of these terms, separated by commas.
fn spec(pmu: &Pmu, terms: &str) -> Result<EventSpec, PmuError> {
    pmu.event_spec(&PmuTerm::parse_list(terms).unwrap())
}

fn named(tree: &Tree, name: &str) -> Pmu {
    Pmu::named(tree.system(), name).unwrap()
}

/// Returns `config` of the event.
fn config(pmu: &Pmu, terms: &str) -> u64 {
    spec(pmu, terms).unwrap().attr().config
}

/// Returns the message of the error.
fn error(pmu: &Pmu, terms: &str) -> String {
    spec(pmu, terms).unwrap_err().to_string()
}

fn names(pmus: &[Pmu]) -> Vec<&str> {
    pmus.iter().map(Pmu::name).collect()
}
