//! Ring files made by hand.

/// A file of one snapshot: a forward ring of 4 KiB.
#[derive(Debug)]
pub(crate) struct Ring {
    file: Vec<u8>,
    data: Vec<u8>,
    events: u32,
}

impl Ring {
    /// Events by id and `sample_type`, all with `sample_id_all`.
    pub(crate) fn new(events: &[(u64, u64)]) -> Self {
        let count = events.len() as u32;
        let mut file = b"PERFRNG1".to_vec();
        u32s(&mut file, &[1, 4096, 1, 0, count, 1, 0, 0]);
        for (id, sample_type) in events {
            u64s(&mut file, &[*id]);
            u32s(&mut file, &[0, 0, 0, 0, 64, 0]);
            // Type and size, config, period, sample_type, read_format, flags, wakeup, config1.
            u64s(&mut file, &[1, 9, 0, *sample_type, 0, 1 << 18, 0, 0]);
        }
        Self { file, data: Vec::new(), events: count }
    }

    /// Appends a record of this type.
    pub(crate) fn record(&mut self, kind: u64, body: &[u64]) {
        let size = (body.len() as u64 + 1) * 8;
        u64s(&mut self.data, &[kind | size << 48]);
        u64s(&mut self.data, body);
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        u32s(&mut self.file, &[0, 0]);
        u64s(&mut self.file, &[self.data.len() as u64, 0, 4096, 4096]);
        self.data.resize(4096, 0);
        self.file.extend(self.data);
        for event in 0..self.events {
            u32s(&mut self.file, &[8, event, 0, 0]);
        }
        self.file
    }
}

fn u32s(file: &mut Vec<u8>, numbers: &[u32]) {
    file.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

fn u64s(file: &mut Vec<u8>, numbers: &[u64]) {
    file.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}
