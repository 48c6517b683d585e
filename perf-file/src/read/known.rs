//! The usual features of a reader's file, as values that borrow nothing.

use std::string::String;
use std::vec::Vec;

use super::{Reader, Source};
use crate::feature::{ClockData, Compression, CpuCount, SampleTime};
use crate::format::Feature;
use crate::{FeatureData, Result};

/// # Usual features
///
/// Each is `None` if the file has no such feature. [`feature`](Self::feature) has the others, such as the build ids of
/// the mapped files ([`FeatureData::BuildIds`]). Bytes of a text that are not UTF-8 become U+FFFD. The pipe form has them after
/// [`read_metadata`](Self::read_metadata). The errors are an error of [`feature`](Self::feature), and of
/// [`FeatureSection::data`](crate::FeatureSection::data) for a malformed content.
impl<S: Source> Reader<S> {
    /// Returns the name of the host.
    pub fn hostname(&mut self) -> Result<Option<String>> {
        self.text(Feature::HOSTNAME)
    }

    /// Returns the release of the kernel.
    pub fn os_release(&mut self) -> Result<Option<String>> {
        self.text(Feature::OSRELEASE)
    }

    /// Returns the version of the tool that recorded the file.
    pub fn tool_version(&mut self) -> Result<Option<String>> {
        self.text(Feature::VERSION)
    }

    /// Returns the architecture, as `uname -m` prints it.
    pub fn arch(&mut self) -> Result<Option<String>> {
        self.text(Feature::ARCH)
    }

    /// Returns the name of the CPU's model.
    pub fn cpu_description(&mut self) -> Result<Option<String>> {
        self.text(Feature::CPUDESC)
    }

    /// Returns the id of the CPU's model, in the architecture's own form.
    pub fn cpu_id(&mut self) -> Result<Option<String>> {
        self.text(Feature::CPUID)
    }

    /// Returns the path of the tool that recorded the file, and its arguments.
    pub fn command_line(&mut self) -> Result<Option<Vec<String>>> {
        self.get(Feature::CMDLINE, |data| match data {
            FeatureData::CommandLine(list) => Some(list.iter().map(text).collect()),
            _ => None,
        })
    }

    /// Returns the numbers of CPUs.
    pub fn cpu_count(&mut self) -> Result<Option<CpuCount>> {
        self.get(Feature::NRCPUS, |data| match data {
            FeatureData::CpuCount(count) => Some(count),
            _ => None,
        })
    }

    /// Returns the memory of the machine in kB.
    pub fn total_memory(&mut self) -> Result<Option<u64>> {
        self.get(Feature::TOTAL_MEM, |data| match data {
            FeatureData::TotalMemory(kb) => Some(kb),
            _ => None,
        })
    }

    /// Returns the times of the first and the last sample.
    pub fn sample_time(&mut self) -> Result<Option<SampleTime>> {
        self.get(Feature::SAMPLE_TIME, |data| match data {
            FeatureData::SampleTime(time) => Some(time),
            _ => None,
        })
    }

    /// Returns the time of the day at a time of the events' clock.
    pub fn clock_data(&mut self) -> Result<Option<ClockData>> {
        self.get(Feature::CLOCK_DATA, |data| match data {
            FeatureData::ClockData(clock) => Some(clock),
            _ => None,
        })
    }

    /// Returns the resolution of the events' clock in ns.
    pub fn clock_resolution(&mut self) -> Result<Option<u64>> {
        self.get(Feature::CLOCKID, |data| match data {
            FeatureData::ClockResolution(ns) => Some(ns),
            _ => None,
        })
    }

    /// Returns the compression of the records.
    pub fn compression(&mut self) -> Result<Option<Compression>> {
        self.get(Feature::COMPRESSED, |data| match data {
            FeatureData::Compression(compression) => Some(compression),
            _ => None,
        })
    }

    /// Returns the version of the directory's format, if the feature is there and well-formed.
    pub(super) fn directory_version(&mut self) -> Option<u64> {
        let found = self.get(Feature::DIR_FORMAT, |data| match data {
            FeatureData::DirectoryFormat(version) => Some(version),
            _ => None,
        });
        found.ok().flatten()
    }

    fn text(&mut self, feature: Feature) -> Result<Option<String>> {
        self.get(feature, |data| match data {
            FeatureData::Text(bytes) => Some(text(bytes)),
            _ => None,
        })
    }

    fn get<T>(
        &mut self,
        feature: Feature,
        value: impl FnOnce(FeatureData<'_>) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(found) = self.feature(feature)? else { return Ok(None) };
        Ok(value(found.section().data()?))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
