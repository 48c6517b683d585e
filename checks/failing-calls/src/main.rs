//! Runs commands of perfkit again and again, each time with another system call failing, and checks
//! that a readable file or none is left, that the counts are true, and that the failure is
//! reported.

mod calls;
mod cases;
mod judge;
mod tracer;

use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use calls::{Fault, Kind};
use cases::{CALLS, CASES, Case, Product};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tracer::{Outcome, Target};

/// How it is called.
const USAGE: &str = "\
Usage: failing-calls [OPTIONS] PERFKIT [CASE...]

Runs the perfkit of this path as root, with one call failing each time.

  --sample N   at most N runs of each case, evenly spread over all
  --all        each call, also those of loops, which otherwise fail the first and the last time
  --only CALL,...  calls of these names
  --skip CALL,...  calls of other names
  --verbose    print each run
  --list       print the cases
";

struct Options {
    perfkit: PathBuf,
    cases: Vec<String>,
    sample: Option<usize>,
    all: bool,
    verbose: bool,
    only: Vec<String>,
    skip: Vec<String>,
}

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    if env::args().nth(1).as_deref() == Some("calls") {
        return workload(&env::args().skip(2).collect::<Vec<_>>());
    }
    let mut options = Options {
        perfkit: PathBuf::new(),
        cases: Vec::new(),
        sample: None,
        all: false,
        verbose: false,
        only: Vec::new(),
        skip: Vec::new(),
    };
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy().into_owned();
        let mut value = || arguments.next().unwrap_or_default().to_string_lossy().into_owned();
        match text.as_str() {
            "--sample" => options.sample = value().parse().ok(),
            "--only" => options.only = value().split(',').map(Into::into).collect(),
            "--skip" => options.skip = value().split(',').map(Into::into).collect(),
            "--all" => options.all = true,
            "--verbose" => options.verbose = true,
            "--list" => {
                CASES.iter().for_each(|case| println!("{}", case.name));
                return ExitCode::SUCCESS;
            }
            _ if text.starts_with('-') => {
                eprint!("{USAGE}");
                return ExitCode::from(2);
            }
            _ if options.perfkit.as_os_str().is_empty() => options.perfkit = argument.into(),
            _ => options.cases.push(text),
        }
    }
    if options.perfkit.as_os_str().is_empty() {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    }
    // The commands run in another folder.
    match fs::canonicalize(&options.perfkit).and_then(|perfkit| all_cases(&Options { perfkit, ..options })) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(faults) => {
            println!("{faults} faults");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("failing-calls: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Makes the calls that are counted: how many (until it is killed if this is no number), the pause
/// after each in ms, and the process that they ask for.
fn workload(arguments: &[String]) -> ExitCode {
    let number = |index: usize| arguments.get(index).and_then(|argument| argument.parse().ok());
    let pause = Duration::from_millis(number(1).unwrap_or(0));
    let process = number(2).and_then(|pid| i32::try_from(pid).ok()).map(Pid::from_raw);
    for _ in 0..number(0).unwrap_or(u64::MAX) {
        let _ = nix::unistd::getsid(process);
        if !pause.is_zero() {
            thread::sleep(pause);
        }
    }
    ExitCode::SUCCESS
}

/// Runs the chosen cases, prints each fault, and returns the number of faults.
fn all_cases(options: &Options) -> io::Result<usize> {
    // What perfkit leaves becomes a child of this process.
    nix::sys::prctl::set_child_subreaper(true)?;
    let port = collector()?;
    let folder = env::temp_dir().join(format!("failing-calls-{}", std::process::id()));
    let mut faults = 0;
    for case in CASES {
        if options.cases.is_empty() || options.cases.iter().any(|name| name == case.name) {
            let bench = Bench { case, perfkit: &options.perfkit, folder: &folder, port };
            faults += bench.run_all(options)?;
        }
    }
    fs::remove_dir_all(&folder)?;
    Ok(faults)
}

/// Starts an HTTP server that accepts everything, and returns its port.
fn collector() -> io::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // A request that is cut must not hold up the next one.
            let _ = stream.set_read_timeout(Some(Duration::from_secs(2)));
            thread::spawn(move || {
                if read_request(&mut stream).is_some() {
                    let _ = stream
                        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                }
            });
        }
    });
    Ok(port)
}

/// Reads a request with its body, or returns nothing if it is cut.
fn read_request(stream: &mut impl Read) -> Option<()> {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&request).to_lowercase();
        if let Some(head) = text.find("\r\n\r\n") {
            let length = text
                .split("content-length:")
                .nth(1)
                .and_then(|rest| rest.lines().next()?.trim().parse().ok());
            // The head is ASCII, so its length is the same in the bytes.
            if request.len() >= head + 4 + length.unwrap_or(0) {
                return Some(());
            }
        }
        match stream.read(&mut buffer) {
            Ok(read) if read > 0 => request.extend_from_slice(buffer.get(..read)?),
            _ => return None,
        }
    }
}

/// One command and where it runs.
struct Bench<'a> {
    case: &'a Case,
    perfkit: &'a Path,
    folder: &'a Path,
    port: u16,
}

impl Bench<'_> {
    fn run_all(&self, options: &Options) -> io::Result<usize> {
        let (outcome, good) = self.run(None)?;
        let broken = judge::faults(self.case, None, &judge::Result::default(), &outcome, &good);
        if !broken.is_empty() || outcome.end != tracer::End::Exit(0) {
            println!(
                "{}: fails without a fault: {:?} {broken:?}\n{}",
                self.case.name, outcome.end, good.stderr
            );
            return Ok(1);
        }
        let mut targets = targets(&outcome.calls, options);
        let all = targets.len();
        if let Some(sample) = options.sample {
            let step = all.div_ceil(sample.max(1)).max(1);
            targets = targets.into_iter().step_by(step).collect();
        }
        println!("{}: {} calls, {} of {all} runs", self.case.name, outcome.calls.len(), targets.len());
        let mut faults = 0;
        let mut reached = 0;
        for (kind, target) in targets {
            let (outcome, result) = self.run(Some(target))?;
            // The threads of a program do not make their calls in the same order each time.
            let Some((_, place)) = &outcome.failed else { continue };
            reached += 1;
            let found = judge::faults(self.case, Some(target.fault), &good, &outcome, &result);
            if options.verbose || !found.is_empty() {
                println!(
                    "{}: {} {} {} {place}: {:?}",
                    self.case.name, kind.name, target.nth, target.fault, outcome.end
                );
                for line in result.stderr.lines().take(4) {
                    println!("    | {line}");
                }
            }
            for fault in &found {
                println!("    FAULT {fault}");
            }
            faults += usize::from(!found.is_empty());
        }
        println!("{}: {reached} runs with a failed call, {faults} with faults", self.case.name);
        Ok(faults)
    }

    fn run(&self, target: Option<Target>) -> io::Result<(Outcome, judge::Result)> {
        let _ = fs::remove_dir_all(self.folder);
        let (out, log) = (self.folder.join("out"), self.folder.join("log"));
        fs::create_dir_all(&out)?;
        fs::create_dir_all(&log)?;
        let own = OsString::from(env::current_exe()?);
        let workload = [
            own.clone(),
            "calls".into(),
            CALLS.to_string().into(),
            self.case.pause.into(),
            std::process::id().to_string().into(),
        ];
        let is_top = self.case.product == Product::Tables;
        let endless = if is_top {
            Some(Command::new(&own).args(["calls", "endless", self.case.pause]).spawn()?)
        } else {
            None
        };
        let pid = endless.as_ref().map_or(0, std::process::Child::id);
        let mut command = Command::new(self.perfkit);
        command
            .args(self.case.arguments(&out, self.port, pid, &workload))
            .current_dir(&out)
            .stdin(Stdio::null())
            .stdout(File::create(log.join("stdout"))?)
            .stderr(File::create(log.join("stderr"))?);
        let has_ended = Arc::new(AtomicBool::new(false));
        let stopper = endless.map(|_| {
            let stdout = log.join("stdout");
            let has_ended = Arc::clone(&has_ended);
            thread::spawn(move || stop_after_a_table(&stdout, pid, &has_ended))
        });
        let outcome = tracer::run(&mut command, target, &has_ended)?;
        if let Some(stopper) = stopper {
            let _ = stopper.join();
        }
        Ok((outcome, judge::read(self.case, self.perfkit, &out, &log)))
    }
}

/// Ends the process that `top` looks at when a table was printed, when `top` has ended, or after a
/// time.
fn stop_after_a_table(stdout: &Path, pid: u32, has_ended: &AtomicBool) {
    for _ in 0..500 {
        if has_ended.load(Ordering::Relaxed)
            || fs::read_to_string(stdout).is_ok_and(|text| text.contains("perfkit top"))
        {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    let _ = kill(Pid::from_raw(pid.cast_signed()), Signal::SIGKILL);
}

/// Calls of one place above which they are a loop, of which the first and the last call fail.
const LOOP: usize = 8;

/// Returns the calls that are made to fail.
fn targets(calls: &[(&'static Kind, String)], options: &Options) -> Vec<(&'static Kind, Target)> {
    let mut places: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
    let mut counts: HashMap<i64, usize> = HashMap::new();
    for (kind, place) in calls {
        let count = counts.entry(kind.number).or_default();
        *count += 1;
        places.entry((kind.name, place)).or_default().push(*count);
    }
    let mut chosen = Vec::new();
    let mut counts: HashMap<i64, usize> = HashMap::new();
    for (kind, place) in calls {
        let nth = counts.entry(kind.number).or_default();
        *nth += 1;
        let is_in = |names: &[String]| names.iter().any(|name| name == kind.name);
        if !options.only.is_empty() && !is_in(&options.only) || is_in(&options.skip) {
            continue;
        }
        let of_place = places.get(&(kind.name, place.as_str())).map_or(&[][..], Vec::as_slice);
        let is_loop = of_place.len() > LOOP;
        if options.all || !is_loop || of_place.first() == Some(nth) || of_place.last() == Some(nth) {
            let faults = kind
                .faults
                .iter()
                .map(|&fault: &Fault| (*kind, Target { number: kind.number, nth: *nth, fault }));
            chosen.extend(faults);
        }
    }
    chosen
}
