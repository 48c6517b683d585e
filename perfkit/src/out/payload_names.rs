//! The names of the kernel's addresses in payloads of tracepoints.

use perf_session::{System, Tracefs};
use perf_symbols::Kallsyms;
use perf_tracepoint::{KernelNames, KernelTexts, PrintFormat};

/// The functions and the texts of a kernel, as far as formats need them.
#[derive(Debug, Default)]
pub(crate) struct PayloadNames {
    functions: Option<Kallsyms>,
    texts: KernelTexts,
}

impl PayloadNames {
    /// Returns the names of the running kernel that these formats need.
    pub(crate) fn of_this_kernel<'f>(formats: impl Iterator<Item = &'f PrintFormat> + Clone) -> Self {
        let texts = formats.clone().any(PrintFormat::has_texts).then(|| {
            let tracefs = Tracefs::find(&System::new());
            tracefs.and_then(|tracefs| tracefs.printk_formats()).unwrap_or_default()
        });
        Self::of_texts(&texts.unwrap_or_default()).with_functions(formats)
    }

    /// Returns the texts of the file `printk_formats`, without functions.
    pub(crate) fn of_texts(printk_formats: &[u8]) -> Self {
        Self { functions: None, texts: KernelTexts::parse(printk_formats) }
    }

    /// Adds the functions of the running kernel, if one of the formats prints functions.
    pub(crate) fn with_functions<'f>(self, mut formats: impl Iterator<Item = &'f PrintFormat>) -> Self {
        let functions = formats.any(PrintFormat::has_functions).then(Kallsyms::of_this_kernel);
        Self { functions: functions.and_then(Result::ok), ..self }
    }
}

impl KernelNames for PayloadNames {
    fn function(&self, address: u64) -> Option<(&[u8], u64)> {
        let function = self.functions.as_ref()?.find(address)?;
        Some((function.name, function.address))
    }

    fn text(&self, address: u64) -> Option<&[u8]> {
        self.texts.text(address)
    }
}
