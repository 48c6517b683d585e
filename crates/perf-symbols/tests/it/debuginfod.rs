//! Downloads from a debuginfod server that runs in a thread of the test.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use perf_symbols::{
    BuildId, Debuginfod, Evidence, FileFinder, MappedObject, Mapping, NotFoundKind, ObjectFile,
};

use crate::programs::Programs;

/// Serves the given files by path, and 404 for others. Returns the server's address, and the list
/// of requested paths.
fn server(files: Vec<(String, Vec<u8>)>) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}/", listener.local_addr().expect("an address"));
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = asked.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let _ = answer(stream.expect("a client"), &files, &log);
        }
    });
    (address, asked)
}

fn answer(
    mut stream: TcpStream,
    files: &[(String, Vec<u8>)],
    log: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().expect("a request")?;
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    let path = request.split(' ').nth(1).expect("a path").to_owned();
    let found = files.iter().find(|(name, _)| *name == path);
    log.lock().expect("no panic").push(path);
    match found {
        Some((_, bytes)) => {
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
                bytes.len()
            )?;
            stream.write_all(bytes)
        }
        None => stream.write_all(b"HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
    }
}

/// Returns a mapping of a file that does not exist.
fn mapping() -> Mapping {
    Mapping::new(0x1000..0x2000, 0x1000, MappedObject::new(b"/no/such/program"))
}

fn id_of(path: &Path) -> BuildId {
    ObjectFile::open(path).expect("a program").build_id().expect("a build id")
}

#[test]
fn missing_file_is_fetched_once_and_kept_in_the_cache() {
    let Some(programs) = Programs::new("debuginfod") else { return };
    let (path, cache) = (programs.path("history"), programs.path("cache"));
    let id = id_of(&path);
    let bytes = std::fs::read(&path).expect("the program");
    let (url, asked) = server(vec![(format!("/buildid/{id}/executable"), bytes)]);
    let servers = Debuginfod::new(["http://127.0.0.1:1/".to_owned(), url]).with_cache(&cache);
    let finder = FileFinder::remote().with_debuginfod(servers.with_timeout(Duration::from_secs(20)));
    for _ in 0..2 {
        let found = finder.find(1, &mapping(), Some(id)).expect("the program");
        assert_eq!(found.evidence(), Evidence::BuildId);
        assert_eq!(found.object().path(), cache.join(id.to_string()).join("executable"));
    }
    // The program, once, and its debug information, which the server does not have.
    let expected = ["executable", "debuginfo"].map(|kind| format!("/buildid/{id}/{kind}"));
    assert_eq!(*asked.lock().expect("no panic"), expected);
    // Without a build id, no request is sent.
    assert!(finder.find(1, &mapping(), None).is_err());
    assert_eq!(asked.lock().expect("no panic").len(), 2);
}

#[test]
fn file_that_is_too_large_or_another_one_is_rejected() {
    let Some(programs) = Programs::new("debuginfod-limits") else { return };
    let (path, other) = (programs.path("history"), programs.path("first.so"));
    let (id, other_id) = (id_of(&path), id_of(&other));
    let bytes = std::fs::read(&path).expect("the program");
    let (url, _) = server(vec![
        (format!("/buildid/{id}/executable"), bytes.clone()),
        (format!("/buildid/{other_id}/executable"), bytes),
    ]);
    let servers = Debuginfod::new([url]).with_cache(programs.path("cache"));
    let small = FileFinder::remote().with_debuginfod(servers.clone().with_max_bytes(100));
    let error = small.find(1, &mapping(), Some(id)).expect_err("a file that is too large");
    assert_eq!(error.kind(), NotFoundKind::Missing);
    assert!(error.to_string().contains("expected at most 100 bytes"), "{error}");
    let finder = FileFinder::remote().with_debuginfod(servers);
    let error = finder.find(1, &mapping(), Some(other_id)).expect_err("a file of another build id");
    assert_eq!(error.kind(), NotFoundKind::Replaced);
    assert_eq!(std::fs::read_dir(programs.path("cache")).expect("the cache").count(), 1);
}
