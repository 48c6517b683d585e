//! Records for serde: the objects of `docs/dump-json.md`.

use core::fmt::{self, Write};

use perf_abi::ReadFormat;
use serde_core::ser::{Serialize, SerializeMap, Serializer};

use crate::field::Value;
use crate::layout::Layout;
use crate::read::{ReadEntry, ReadValues};
use crate::record::Record;
use crate::sample::Branches;
use crate::sample_id::SampleId;

/// Serializes the record as an object: `type`, `name`, `misc`, `size` and `fields`, which has the
/// trailer in `sample_id`. `trailing`, `truncated` and `ambiguous` are absent if the record has no
/// trailing bytes, truncated field or ambiguous branch stack.
impl<L: Layout> Serialize for Record<'_, L> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", &self.kind().0)?;
        map.serialize_entry("name", &Text(self.kind()))?;
        map.serialize_entry("misc", &self.misc().bits())?;
        map.serialize_entry("size", &self.size())?;
        map.serialize_entry("fields", &Fields(self))?;
        if self.trailing_len() > 0 {
            map.serialize_entry("trailing", &self.trailing_len())?;
        }
        if let Some(field) = self.truncated_field() {
            map.serialize_entry("truncated", field)?;
        }
        if matches!(self, Self::Sample(sample) if sample.has_ambiguous_branches()) {
            map.serialize_entry("ambiguous", &true)?;
        }
        map.end()
    }
}

/// The fields of a record by name, with its trailer in a separate object.
struct Fields<'r, 'a, L: Layout>(&'r Record<'a, L>);

impl<L: Layout> Serialize for Fields<'_, '_, L> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for field in self.0.fields() {
            map.serialize_entry(field.name, &field.value)?;
        }
        if let Some(trailer) = self.0.sample_id().filter(|trailer| !trailer.is_empty()) {
            map.serialize_entry("sample_id", &trailer)?;
        }
        map.end()
    }
}

/// Serializes the fields of the trailer by name.
impl<L: Layout> Serialize for SampleId<'_, L> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.fields().map(|field| (field.name, field.value)))
    }
}

/// Serializes the value by its type: a number, a list, an object, or a text. Addresses, bit sets
/// and registers are texts of hexadecimal digits with `0x`, bytes of two digits each.
impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Hex(number) => serializer.collect_str(&format_args!("{number:#x}")),
            #[expect(clippy::cast_possible_wrap, reason = "0xffffffff is -1")]
            Self::Task(id) => serializer.serialize_i32(id as i32),
            Self::Text(name) => serializer.collect_str(&Lossy(name)),
            Self::Words(words) => serializer.collect_seq(words.iter().copied().map(Value::Hex)),
            Self::Callchain(chain) => Value::Words(chain.words()).serialize(serializer),
            Self::Read(ref values) => values.serialize(serializer),
            Self::Branches(ref stack) => stack.serialize(serializer),
            Self::Regs(regs) => {
                serializer.collect_map(regs.iter().map(|(bit, word)| (bit, Value::Hex(word))))
            }
            Self::WeightStruct(weight) => {
                let [var2, var3] = [weight.var2(), weight.var3()].map(u32::from);
                serializer.collect_map([("var1_dw", weight.var1()), ("var2_w", var2), ("var3_w", var3)])
            }
            Self::DataSource(source) => Value::Hex(source.0).serialize(serializer),
            Self::Transaction(flags) => Value::Hex(flags.bits()).serialize(serializer),
            Self::AuxFlags(flags) => Value::Hex(flags.bits()).serialize(serializer),
            Self::Namespaces(links) => {
                serializer.collect_seq(links.iter().map(|link| Map([("dev", link.dev), ("ino", link.inode)])))
            }
            Self::Number(_)
            | Self::Bytes(_)
            | Self::KsymbolType(_)
            | Self::KsymbolFlags(_)
            | Self::BpfEventType(_) => match self.as_u64() {
                Some(number) => serializer.serialize_u64(number),
                None => serializer.collect_str(self),
            },
        }
    }
}

/// Serializes `nr`, `hw_idx` if it was recorded, `entries`, and `counters` if there are some.
impl Serialize for Branches<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entries = self.entries().iter().map(|entry| {
            Map([("from", entry.from), ("to", entry.to), ("info", entry.info.bits())]
                .map(|(name, word)| (name, Value::Hex(word))))
        });
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("nr", &entries.len())?;
        if let Some(index) = self.hw_index() {
            map.serialize_entry("hw_idx", &index)?;
        }
        map.serialize_entry("entries", &List(entries))?;
        if !self.counters().is_empty() {
            map.serialize_entry("counters", &Value::Words(self.counters()))?;
        }
        map.end()
    }
}

/// Serializes the times and the count of one event as an object; the counts of a group as a list in
/// `values`.
impl Serialize for ReadValues<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let times = [("time_enabled", self.time_enabled()), ("time_running", self.time_running())];
        let times = times.into_iter().filter_map(present);
        if !self.format().contains(ReadFormat::GROUP) {
            return serializer.collect_map(times.chain(self.iter().flat_map(numbers)));
        }
        let mut map = serializer.serialize_map(None)?;
        for (name, time) in times {
            map.serialize_entry(name, &time)?;
        }
        map.serialize_entry("values", &List(self.iter().map(|entry| Map(numbers(entry)))))?;
        map.end()
    }
}

fn numbers(entry: ReadEntry) -> impl Iterator<Item = (&'static str, u64)> + Clone {
    [("value", Some(entry.value)), ("id", entry.id), ("lost", entry.lost)].into_iter().filter_map(present)
}

fn present((name, number): (&'static str, Option<u64>)) -> Option<(&'static str, u64)> {
    number.map(|number| (name, number))
}

/// An iterator as an object.
struct Map<I>(I);

impl<K: Serialize, V: Serialize, I: IntoIterator<Item = (K, V)> + Clone> Serialize for Map<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.clone())
    }
}

/// An iterator as a list.
struct List<I>(I);

impl<T: Serialize, I: IntoIterator<Item = T> + Clone> Serialize for List<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone())
    }
}

/// A value that serializes as the text that it prints.
struct Text<T>(T);

impl<T: fmt::Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// A name; bytes that are not UTF-8 become U+FFFD.
struct Lossy<'a>(&'a [u8]);

impl fmt::Display for Lossy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.utf8_chunks().try_for_each(|chunk| {
            f.write_str(chunk.valid())?;
            if chunk.invalid().is_empty() { Ok(()) } else { f.write_char(char::REPLACEMENT_CHARACTER) }
        })
    }
}
