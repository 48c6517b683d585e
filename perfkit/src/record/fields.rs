//! The fields that each sample has on demand.

use clap::Args;
use perf_session::ring::SampleType;

/// The options that add fields.
#[derive(Args, Clone, Debug)]
pub(super) struct FieldOptions {
    /// The address of the data that the instruction accessed, and where it was; also data mappings
    #[arg(short = 'd', long, help_heading = HEADING)]
    pub(super) data: bool,
    /// The physical address of the data
    #[arg(long, help_heading = HEADING)]
    phys_data: bool,
    /// The size of the page of the data
    #[arg(long, help_heading = HEADING)]
    data_page_size: bool,
    /// The size of the page of the instruction
    #[arg(long, help_heading = HEADING)]
    code_page_size: bool,
    /// The events since the last sample, also with -c; with a frequency they are always there
    #[arg(short = 'P', long = "period", id = "period_field", help_heading = HEADING)]
    period: bool,
    /// The CPU, which samples of -a, -C and -G always have
    #[arg(long, help_heading = HEADING)]
    sample_cpu: bool,
    /// Raw data of the PMU, which samples of tracepoints always have
    #[arg(short = 'R', long = "raw-samples", help_heading = HEADING)]
    raw: bool,
    /// The cost of the access, on PMUs that measure it
    #[arg(short = 'W', long, help_heading = HEADING)]
    weight: bool,
    /// The flags of the transaction
    #[arg(long, help_heading = HEADING)]
    transaction: bool,
}

const HEADING: &str = "Fields of samples";

impl FieldOptions {
    /// Returns the fields.
    pub(super) fn sample_type(&self) -> SampleType {
        let fields = [
            (self.data, SampleType::ADDR | SampleType::DATA_SRC),
            (self.phys_data, SampleType::PHYS_ADDR),
            (self.data_page_size, SampleType::DATA_PAGE_SIZE),
            (self.code_page_size, SampleType::CODE_PAGE_SIZE),
            (self.sample_cpu, SampleType::CPU),
            (self.raw, SampleType::RAW),
            (self.weight, SampleType::WEIGHT),
            (self.transaction, SampleType::TRANSACTION),
        ];
        fields.iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, field)| *field).collect()
    }

    /// Returns whether samples with a fixed period have it too.
    pub(super) const fn has_period(&self) -> bool {
        self.period
    }
}
