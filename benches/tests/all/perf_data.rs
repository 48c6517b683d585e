//! All readers of a `perf.data` file read the same samples.

use std::fs;

use perfkit_benches::consumers::perf_data::READERS;
use perfkit_benches::workloads::perf_data::write;
use zerocopy::IntoBytes;

#[test]
fn all_readers_of_a_file_read_the_same_samples() {
    let path = std::env::temp_dir().join(format!("perfkit-benches-{}.data", std::process::id()));
    let (_, samples) = write(fs::File::create(&path).unwrap(), 1 << 20).unwrap();
    let bytes = fs::read(&path).unwrap();
    let mut words = vec![0_u64; bytes.len() / 8];
    let whole = words.len() * 8;
    words.as_mut_bytes().copy_from_slice(&bytes[..whole]);
    let sums = READERS.map(|(name, read)| (name, read(&words, &path).unwrap()));
    fs::remove_file(&path).unwrap();
    for (name, sum) in sums {
        assert_eq!((sum.count, sum.value), (samples, sums[0].1.value), "{name}");
    }
}
