//! The types that can be values of maps.

use std::sync::Arc;

use perf_session::CpuList;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::{Key, Map};
use crate::error::Error;
use crate::map_fd::MapLayout;
use crate::map_fd::padded;

/// A type of values: plain bytes of a fixed length, or [`PerCpu`] of such a type.
///
/// Derive `FromBytes`, `IntoBytes` and `Immutable` of [`zerocopy`](crate::zerocopy) on a struct
/// without padding, as for a [`Key`]. The trait cannot be implemented otherwise.
pub trait Value: Element {
    /// Length of one value in bytes.
    const SIZE: usize;

    /// Whether an element has a value for each possible CPU.
    const IS_PER_CPU: bool;
}

/// The bytes of an element.
#[allow(unreachable_pub, private_interfaces)] // seals `Value`
pub trait Element: Sized {
    /// Checks that a map of this type can hold the value.
    fn check(_: &MapLayout) -> Result<(), Error> {
        Ok(())
    }

    /// Returns the value that `read` writes into a buffer, if it returns `true`.
    fn read(
        layout: &MapLayout,
        read: impl FnOnce(&mut [u8]) -> Result<bool, Error>,
    ) -> Result<Option<Self>, Error>;

    /// Converts the bytes of an element to a value.
    fn from_element(layout: &MapLayout, bytes: &[u8]) -> Result<Self, Error>;

    /// Calls `write` with the bytes of the element.
    fn with_bytes<R>(
        &self,
        layout: &MapLayout,
        write: impl FnOnce(&[u8]) -> Result<R, Error>,
    ) -> Result<R, Error>;
}

impl<V: FromBytes + IntoBytes + Immutable> Value for V {
    const SIZE: usize = size_of::<V>();
    const IS_PER_CPU: bool = false;
}

#[allow(private_interfaces)]
impl<V: FromBytes + IntoBytes + Immutable> Element for V {
    fn read(
        _: &MapLayout,
        read: impl FnOnce(&mut [u8]) -> Result<bool, Error>,
    ) -> Result<Option<Self>, Error> {
        let mut value = V::new_zeroed();
        Ok(read(value.as_mut_bytes())?.then_some(value))
    }

    fn from_element(layout: &MapLayout, bytes: &[u8]) -> Result<Self, Error> {
        V::read_from_bytes(bytes).map_err(|_| layout.size_error("value", size_of::<V>(), bytes.len()))
    }

    fn with_bytes<R>(
        &self,
        _: &MapLayout,
        write: impl FnOnce(&[u8]) -> Result<R, Error>,
    ) -> Result<R, Error> {
        write(self.as_bytes())
    }
}

impl<V: FromBytes + IntoBytes + Immutable> Value for PerCpu<V> {
    const SIZE: usize = size_of::<V>();
    const IS_PER_CPU: bool = true;
}

#[allow(private_interfaces)]
impl<V: FromBytes + IntoBytes + Immutable> Element for PerCpu<V> {
    fn read(
        layout: &MapLayout,
        read: impl FnOnce(&mut [u8]) -> Result<bool, Error>,
    ) -> Result<Option<Self>, Error> {
        let (size, element) = (size_of::<V>(), layout.element_size()?);
        if size != 0 && padded(size) == size {
            // No padding: the values are the bytes of the element.
            let mut values: Vec<V> = (0..element / size).map(|_| V::new_zeroed()).collect();
            let is_found = read(values.as_mut_slice().as_mut_bytes())?;
            return Ok(is_found.then(|| Self::from_parts(layout.cpus.clone().unwrap_or_default(), values)));
        }
        let mut bytes = vec![0; element];
        if read(&mut bytes)? { Self::from_element(layout, &bytes).map(Some) } else { Ok(None) }
    }

    fn from_element(layout: &MapLayout, bytes: &[u8]) -> Result<Self, Error> {
        let values = bytes.chunks_exact(padded(size_of::<V>()).max(1)).map(|chunk| {
            let (value, _) = V::read_from_prefix(chunk)
                .map_err(|_| layout.size_error("value", size_of::<V>(), chunk.len()))?;
            Ok(value)
        });
        Ok(Self::from_parts(layout.cpus.clone().unwrap_or_default(), values.collect::<Result<_, Error>>()?))
    }

    fn with_bytes<R>(
        &self,
        layout: &MapLayout,
        write: impl FnOnce(&[u8]) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let mut bytes = vec![0; layout.element_size()?];
        let size = size_of::<V>();
        layout.check_element(padded(size) * self.values().len())?;
        for (chunk, value) in bytes.chunks_exact_mut(padded(size).max(1)).zip(self.values()) {
            value.write_to_prefix(chunk).map_err(|_| layout.size_error("value", size, chunk.len()))?;
        }
        write(&bytes)
    }
}

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
    fn from_parts(cpus: Arc<CpuList>, values: Vec<V>) -> Self {
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
    /// # if Map::<u32, u64>::create(MapSpec::new(BpfMapType::ARRAY, 1)).is_err() {
    /// #     return Ok(()); // not permitted here
    /// # }
    /// let map = Map::<u32, PerCpu<u64>>::create(spec)?;
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
