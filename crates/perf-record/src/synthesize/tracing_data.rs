//! The section with the formats of tracepoints.

use perf_file::feature::{FormatText, TraceSystem, TracingData};
use perf_file::format::Feature;
use perf_file::writer::Features;
use perf_file::{ByteOrder, FeatureData};

use perf_session::{System, Tracefs, TracefsError};

/// The category whose formats are listed first.
const FTRACE: &str = "ftrace";

/// Sets the section [`TRACING_DATA`](Feature::TRACING_DATA): the formats of tracepoints, which
/// readers need to print the fields. It has no names of tasks, because tracefs keeps names for the
/// whole machine, and the records have the names of the recorded tasks.
///
/// `ids` are the numbers of the tracepoints, the `config` of their attrs. Numbers that tracefs does
/// not have are left out. The file `id` of each tracepoint is read until all numbers are found.
///
/// # Errors
///
/// [`TracefsError::NotMounted`] or [`TracefsError::PermissionDenied`] if tracefs cannot be used,
/// and [`TracefsError::File`] if one of its files cannot be read.
pub fn add_tracing_data(features: &mut Features, system: &System, ids: &[u64]) -> Result<(), TracefsError> {
    let tracefs = Tracefs::find(system)?;
    let (mut ftrace, mut systems) = (Vec::new(), Vec::<(String, Vec<Vec<u8>>)>::new());
    for (category, name) in tracefs.names_of(ids)? {
        let format = tracefs.read_bytes(&format!("events/{category}/{name}/format"))?;
        match systems.last_mut() {
            _ if category == FTRACE => ftrace.push(format),
            Some((last, formats)) if *last == category => formats.push(format),
            _ => systems.push((category, vec![format])),
        }
    }
    let file = |name| tracefs.read_bytes(name);
    let (header_page, header_event) = (file("events/header_page")?, file("events/header_event")?);
    // Older kernels and instances of tracefs lack these files.
    let printk_formats = file("printk_formats").unwrap_or_default();

    let ftrace = texts(&ftrace);
    let formats: Vec<_> = systems.iter().map(|(_, formats)| texts(formats)).collect();
    let systems: Vec<TraceSystem<'_>> = systems
        .iter()
        .zip(&formats)
        .map(|((name, _), formats)| TraceSystem { name: name.as_bytes(), formats: formats.as_slice().into() })
        .collect();
    let data = TracingData {
        version: b"0.6",
        order: ByteOrder::NATIVE,
        long_size: size_of::<usize>() as u8,
        page_size: perf_session::ring::sys::page_size() as u32,
        header_page: &header_page,
        header_event: &header_event,
        ftrace: ftrace.as_slice().into(),
        systems: systems.as_slice().into(),
        // Readers take the symbols from elsewhere.
        kallsyms: b"",
        printk_formats: &printk_formats,
        saved_cmdlines: b"",
    };
    features.set(Feature::TRACING_DATA, &FeatureData::TracingData(data));
    Ok(())
}

fn texts(formats: &[Vec<u8>]) -> Vec<FormatText<'_>> {
    formats.iter().map(|format| FormatText(format)).collect()
}
