use std::sync::Arc;

use perf_session::CpuList;

use super::{Key, Map};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// The values of an element of a per-CPU map: one for each *possible* CPU, by its true id.
///
/// Offline CPUs have a value too, and ids may have holes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerCpu<V> {
    cpus: Arc<CpuList>,
    /// In the order of `cpus`.
    values: Vec<V>,
}

impl<V> PerCpu<V> {
    pub(super) fn from_parts(cpus: Arc<CpuList>, values: Vec<V>) -> Self {
        Self { cpus, values }
    }

    /// Returns the possible CPUs in ascending order.
    pub fn cpus(&self) -> &CpuList {
        &self.cpus
    }

    /// Returns the values in the order of [`cpus`](Self::cpus).
    pub fn values(&self) -> &[V] {
        &self.values
    }

    /// Returns the value of a CPU, or `None` if it is not a possible CPU.
    pub fn get(&self, cpu: u32) -> Option<&V> {
        self.values.get(self.cpus.iter().position(|possible| possible == cpu)?)
    }

    /// Returns the value of a CPU for a change, or `None` if it is not a possible CPU.
    pub fn get_mut(&mut self, cpu: u32) -> Option<&mut V> {
        self.values.get_mut(self.cpus.iter().position(|possible| possible == cpu)?)
    }

    /// Returns each CPU and its value, by ascending CPU.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, &V)> + '_ {
        self.cpus.iter().zip(&self.values)
    }
}

impl<K: Key, V: FromBytes + IntoBytes + Immutable> Map<K, PerCpu<V>> {
    /// Returns the values that `value` returns for the possible CPUs, for an update.
    ///
    /// ```
    /// use perf_bpf::{BpfMapType, Map, MapSpec, PerCpu};
    ///
    /// # fn main() -> Result<(), perf_bpf::Error> {
    /// let spec = MapSpec::new(BpfMapType::PERCPU_ARRAY, 1);
    /// let map = match Map::<u32, PerCpu<u64>>::create(spec) {
    ///     Ok(map) => map,
    ///     Err(error) => return Ok(println!("{error}")),
    /// };
    /// map.update(&0, &map.per_cpu(|_| 5))?;
    /// let total: u64 = map.lookup(&0)?.map_or(0, |counts| counts.values().iter().sum());
    /// assert_eq!(total % 5, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn per_cpu(&self, value: impl FnMut(u32) -> V) -> PerCpu<V> {
        let cpus = self.fd().layout().cpus.clone().unwrap_or_default();
        let values = cpus.iter().map(value).collect();
        PerCpu { cpus, values }
    }
}
