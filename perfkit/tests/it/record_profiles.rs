//! `perfkit record --every`: profiles in a folder and for a collector.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use flate2::read::GzDecoder;

use crate::support::recording::{Folder, perfkit, record};

/// Samples each 10 ms of CPU time.
const EVENTS: [&str; 5] = ["-e", "cpu-clock", "-c", "10000000", "-g"];

/// Burns CPU time for more than a second.
const BURN: &str = "timeout 1.2 sh -c 'while true; do true; done'; true";

/// Runs a recording of profiles; `None`, and the test is skipped, if the kernel permits no event.
fn profiles(arguments: &[&str]) -> Option<(Option<i32>, String)> {
    let command = ["--", "sh", "-c", BURN];
    let output = record(&[&EVENTS[..], arguments, &command].concat())?;
    Some((output.status.code(), String::from_utf8(output.stderr).unwrap()))
}

/// Returns the number at the start of the message with this text.
fn number(errors: &str, text: &str) -> u64 {
    let mut lines = errors.lines().filter(|line| line.contains(text));
    let number = lines.find_map(|line| line.split(' ').nth(1)?.parse().ok());
    number.unwrap_or_else(|| panic!("{errors}"))
}

/// Returns the sum of the first values of a profile's samples, by the wire format of Protocol
/// Buffers.
fn samples(profile: &[u8]) -> u64 {
    let mut bytes = Vec::new();
    GzDecoder::new(profile).read_to_end(&mut bytes).unwrap();
    let fields = |bytes: &[u8]| -> Vec<(u64, Vec<u8>)> {
        let mut rest = bytes;
        let mut fields = Vec::new();
        while !rest.is_empty() {
            let key = varint(&mut rest);
            let value = match key & 7 {
                0 => varint(&mut rest).to_le_bytes().to_vec(),
                2 => {
                    let len = varint(&mut rest) as usize;
                    let (value, after) = rest.split_at(len);
                    rest = after;
                    value.to_vec()
                }
                kind => panic!("wire type {kind}"),
            };
            fields.push((key >> 3, value));
        }
        fields
    };
    // Profile.sample = 2, Sample.value = 2, packed.
    let of_sample = |sample: &[u8]| {
        let values = fields(sample).into_iter().find(|(field, _)| *field == 2).unwrap().1;
        varint(&mut &values[..])
    };
    fields(&bytes).iter().filter(|(field, _)| *field == 2).map(|(_, sample)| of_sample(sample)).sum()
}

fn varint(rest: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, after) = rest.split_first().unwrap();
        *rest = after;
        value |= u64::from(first & 127) << shift;
        if first & 128 == 0 {
            break;
        }
    }
    value
}

/// Returns the samples of all profiles of a folder, which has no other file.
fn samples_in(folder: &Path) -> (u64, u64) {
    let mut sums = (0, 0);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        assert!(path.to_str().unwrap().ends_with("Z.pb.gz"), "{}", path.display());
        sums = (sums.0 + 1, sums.1 + samples(&fs::read(path).unwrap()));
    }
    sums
}

/// A collector that reads requests, and responds to each with the bytes that `answer` writes. The
/// receiver gets the bodies.
fn collector(
    answer: impl Fn(usize, &mut TcpStream) + Send + 'static,
) -> (String, Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/ingest?name=node", listener.local_addr().unwrap());
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut requests = 0;
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            // Requests of one connection, until it is closed.
            while let Some((head, len)) = head(&mut stream) {
                let mut body = vec![0; len];
                if stream.read_exact(&mut body).is_err() {
                    break;
                }
                let _ = sender.send((head, body));
                answer(requests, stream.get_mut());
                requests += 1;
            }
        }
    });
    (url, receiver)
}

/// Reads the head of a request. Returns it and the length of the body.
fn head(stream: &mut BufReader<TcpStream>) -> Option<(String, usize)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let lower = head.to_ascii_lowercase();
    let len = lower.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    Some((head, len.unwrap()))
}

fn respond(stream: &mut TcpStream, status: &str) {
    let _ = write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
}

#[test]
fn profiles_of_a_folder_sum_to_all_samples() {
    let folder = Folder::new();
    let path = folder.path("");
    let arguments = ["--every", "300ms", "-f", "pprof", "-o", path.to_str().unwrap()];
    let Some((code, errors)) = profiles(&arguments) else { return };
    assert_eq!(code, Some(0), "{errors}");
    let (files, samples) = samples_in(&path);
    assert!(files >= 3 && samples > 0, "{errors}");
    assert_eq!(
        (number(&errors, " in "), errors.contains(&format!("in {files} profiles"))),
        (samples, true),
        "{errors}"
    );
}

#[test]
fn collector_gets_the_profiles_in_order() {
    let (url, received) = collector(|_, stream| respond(stream, "200 OK"));
    let folder = Folder::new();
    let path = folder.path("");
    let arguments = ["--every", "300ms", "-f", "pprof", "-o", path.to_str().unwrap(), "--push", &url];
    let Some((code, errors)) = profiles(&arguments) else { return };
    assert_eq!(code, Some(0), "{errors}");
    let (files, samples_of_files) = samples_in(&path);
    let received: Vec<_> = received.try_iter().collect();
    assert_eq!(received.len() as u64, files, "{errors}");
    assert_eq!(number(&errors, "sent to"), files, "{errors}");
    assert_eq!(received.iter().map(|(_, body)| samples(body)).sum::<u64>(), samples_of_files);
    for (head, _) in &received {
        assert!(head.starts_with("POST /ingest?name=node&from=") && head.contains("&until="), "{head}");
        assert!(head.to_ascii_lowercase().contains("content-type: application/octet-stream"), "{head}");
    }
}

#[test]
fn profile_is_sent_again_after_a_failure_of_the_collector() {
    let (url, received) = collector(|request, stream| {
        respond(stream, if request == 0 { "503 Service Unavailable" } else { "204 No Content" });
    });
    let Some((_, errors)) = profiles(&["--every", "400ms", "--push", &url]) else { return };
    let bodies: Vec<Vec<u8>> = received.try_iter().map(|(_, body)| body).collect();
    assert_eq!(bodies[0], bodies[1]);
    assert_eq!(number(&errors, "sent to") + 1, bodies.len() as u64, "{errors}");
    assert!(errors.contains("none lost\n"), "{errors}");
}

#[test]
fn refused_profiles_are_counted_and_not_sent_again() {
    let (url, received) = collector(|_, stream| respond(stream, "400 Bad Request"));
    let Some((code, errors)) = profiles(&["--every", "300ms", "--push", &url]) else { return };
    let requests = received.try_iter().count();
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains(&format!("{requests} lost: status 400 Bad Request")), "{errors}");
    assert!(errors.contains("perfkit: 0 profiles sent to"), "{errors}");
    // The first at once, and the others not each.
    assert_eq!(errors.matches("a profile was not sent").count(), 1, "{errors}");
}

#[test]
fn collector_that_is_down_or_silent_does_not_stop_the_recording() {
    // Nothing listens there after the drop.
    let down = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (silent, _received) = collector(|_, _| thread::sleep(Duration::from_secs(1000)));
    for url in [format!("http://{down}/"), silent] {
        let folder = Folder::new();
        let path = folder.path("");
        let arguments = ["--every", "200ms", "-f", "pprof", "-o", path.to_str().unwrap(), "--push", &url];
        let Some((code, errors)) = profiles(&arguments) else { return };
        assert_eq!(code, Some(1), "{errors}");
        let (files, samples) = samples_in(&path);
        assert_eq!(number(&errors, " in "), samples, "{errors}");
        assert!(errors.contains("0 profiles sent to") && !errors.contains("io: "), "{errors}");
        assert!(errors.contains(&format!(", {files} lost: ")), "{files}: {errors}");
    }
}

#[test]
fn profiles_that_do_not_fit_on_the_disk_are_counted() {
    let folder = Folder::new();
    let path = folder.path("");
    let mount = |arguments: &[&str]| Command::new("mount").args(arguments).arg(&path).output().unwrap();
    if !mount(&["-t", "tmpfs", "-o", "size=4k", "tmpfs"]).status.success() {
        return eprintln!("skipped: this user must not mount a file system");
    }
    let arguments = ["--every", "300ms", "-f", "pprof", "-o", path.to_str().unwrap()];
    let result = profiles(&arguments);
    let (files, samples) = samples_in(&path);
    assert!(Command::new("umount").arg(&path).status().unwrap().success());
    let Some((code, errors)) = result else { return };
    assert_eq!(code, Some(1), "{errors}");
    // The first and the last are short, and may fit.
    assert!(files <= 2 && (files == 0 || number(&errors, " in ") == samples), "{errors}");
    assert!(errors.contains(" not written\n") && !errors.contains("nothing was sampled"), "{errors}");
    assert!(errors.contains("No space left") && errors.contains("not written, see above"), "{errors}");
    assert_eq!(errors.matches("a profile was not written").count(), 1, "{errors}");
}

#[test]
fn outputs_that_cannot_be_used_are_one_line() {
    let folder = Folder::new();
    fs::write(folder.path("file"), "").unwrap();
    let file = folder.path("file").display().to_string();
    for (arguments, message) in [
        (&["--every", "1s", "-f", "pprof", "-o", "/no/such/folder"][..], "/no/such/folder: No such file"),
        (&["--every", "1s", "-f", "pprof", "-o", &file], "expected a folder"),
        (&["--every", "1s", "-f", "pprof", "-o", "/proc"], "/proc: "),
        (&["--every", "1s", "-f", "pprof"], "needs a folder: -o DIR"),
        (&["-f", "pprof", "-o", "/tmp"], "--every 60s"),
        (&["--every", "1s", "--push", "https://localhost/"], "https is not supported"),
        (&["--every", "1s", "--push", "localhost:4040"], "expected a URL as http://"),
        (&["--every", "0s"], "expected a time as 60s"),
    ] {
        let output = perfkit()
            .args(["record", "-q", "-e", "task-clock"])
            .args(arguments)
            .args(["--", "true"])
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && errors.contains(message), "{arguments:?}: {errors}");
    }
}

#[test]
fn password_in_the_address_of_a_collector_is_not_repeated() {
    for url in [
        "http://user:secret@host/",
        "https://user:secret@host/",
        "http://user:secret@",
        "user:secret@host",
        "http://us er:secret@host/",
    ] {
        for arguments in [&["--push", url][..], &[&format!("--push={url}")], &[&format!("--psh={url}")]] {
            let output =
                perfkit().args(["record", "--every", "1s"]).args(arguments).arg("true").output().unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{errors}");
            assert!(
                !errors.contains("secret") && errors.contains(arguments[0].get(..5).unwrap()),
                "{errors}"
            );
        }
    }
}
