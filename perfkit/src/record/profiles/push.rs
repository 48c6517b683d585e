//! Profiles that are sent to a collector.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use ureq::http::Uri;
use ureq::http::uri::Authority;
use ureq::{Agent, Timeout};

use super::rarely::Rarely;
use crate::out::interrupt::wait_patiently;
use crate::out::message::{count, shown};
use crate::out::thread;

/// Profiles that wait at most. With more, the oldest is dropped.
const MAX_WAITING: usize = 16;

/// Timeout of each phase of an attempt after the connection: sending, and waiting for the response.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Timeout of a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// The times after which a profile is sent again. It is dropped after the last attempt.
const BACKOFF: [Duration; 5] = [
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(4),
    Duration::from_secs(15),
    Duration::from_secs(30),
];

/// Time to send the waiting profiles at the end of the recording.
const LAST: Duration = Duration::from_secs(5);

/// Minimum part of [`LAST`] after an interrupt, even if naming the last profile took longer.
const LEAST: Duration = Duration::from_millis(500);

/// The address of a collector: plain HTTP.
#[derive(Clone, Debug)]
pub(super) struct Url(Uri);

impl Url {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let uri: Uri = text
            .parse()
            .map_err(|_| "expected a URL as http://localhost:4040/ingest?name=NAME".to_owned())?;
        match uri.scheme_str() {
            _ if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) => {
                Err("a password is not supported: other users can read the command line".to_owned())
            }
            Some("http") if uri.authority().is_some_and(is_host_with_port) => Ok(Self(uri)),
            Some("https") => Err("https is not supported: push to a collector on this machine by http, \
                which sends the profiles on"
                .to_owned()),
            _ => Err("expected a URL as http://localhost:4040/ingest?name=NAME".to_owned()),
        }
    }

    /// Returns the URL with the times of a profile, in seconds since 1970, by which Pyroscope knows
    /// it.
    fn of(&self, start: SystemTime, end: SystemTime) -> String {
        let seconds =
            |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let separator = if self.0.query().is_some() { '&' } else { '?' };
        format!("{}{separator}from={}&until={}", self.0, seconds(start), seconds(end))
    }
}

/// Returns whether it is a host, or a host and a number: a password with a slash looks like a port.
fn is_host_with_port(authority: &Authority) -> bool {
    let (host, port) = (authority.host(), authority.port_u16());
    !host.is_empty() && (port.is_some() || authority.as_str() == host)
}

/// Host and path, without the query.
impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let port = self.0.port_u16().map(|port| format!(":{port}")).unwrap_or_default();
        f.write_str(&shown(format!("{}{port}{}", self.0.host().unwrap_or_default(), self.0.path())))
    }
}

/// A thread that sends profiles.
pub(super) struct Push {
    url: Url,
    queue: Arc<Queue>,
}

/// The waiting profiles, and the counts of the others.
#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Message>,
    /// Whether the thread is sending a profile, which is no longer in `waiting`.
    is_sending: bool,
    sent: u64,
    /// Refused by the collector, or dropped after the last attempt.
    failed: u64,
    last_error: Option<String>,
    /// Profiles that were dropped before an attempt, because there were too many.
    overflowed: u64,
    overflows: Rarely,
    /// Deadline for the remaining profiles, set when the last profile was queued.
    end: Option<Instant>,
}

#[derive(Debug)]
struct Message {
    url: String,
    body: Vec<u8>,
}

/// The result of sending.
#[derive(Debug)]
pub(super) struct Pushed {
    url: String,
    sent: u64,
    lost: u64,
    last_error: Option<String>,
}

impl fmt::Display for Pushed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} sent to {}", count(self.sent, "profile"), self.url)?;
        match self.lost {
            0 => f.write_str(", none lost"),
            lost => {
                let error = self.last_error.as_deref().unwrap_or("the collector was too slow");
                write!(f, ", {lost} lost: {error}")
            }
        }
    }
}

impl Pushed {
    /// Returns the number of profiles that were not sent.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }
}

/// The failure of an attempt.
struct Failed {
    error: String,
    is_final: bool,
}

impl Push {
    /// Starts the thread.
    pub(super) fn start(url: Url) -> io::Result<Self> {
        let queue = Arc::new(Queue::default());
        let sender = Sender::new(&url, Arc::clone(&queue));
        thread::start("perfkit-push", move || sender.run())?;
        Ok(Self { url, queue })
    }

    /// Sends a profile in the thread. It never waits.
    pub(super) fn send(&self, start: SystemTime, end: SystemTime, body: Vec<u8>) {
        let mut state = self.queue.lock();
        if state.waiting.len() >= MAX_WAITING {
            state.waiting.pop_front();
            state.overflowed += 1;
            state.overflows.note(format_args!("a profile was dropped: {MAX_WAITING} wait for {}", self.url));
        }
        state.waiting.push_back(Message { url: self.url.of(start, end), body });
        self.queue.changed.notify_all();
    }

    /// Sends the waiting profiles, for at most 5 s, or less after an interrupt.
    pub(super) fn finish(self) -> Pushed {
        let (end, least) = (Instant::now() + LAST, Instant::now() + LEAST);
        self.queue.lock().end = Some(end);
        self.queue.changed.notify_all();
        // The thread ends its attempts in time, unless it panicked or waits for the address of a
        // host.
        let is_over = || Instant::now() > end + CONNECT_TIMEOUT;
        wait_patiently(|until| self.queue.wait_until_sent(until.max(least)) || is_over());
        // An attempt in progress ends with the program.
        let state = self.queue.lock();
        let unsent = state.waiting.len() as u64 + u64::from(state.is_sending);
        Pushed {
            url: self.url.to_string(),
            sent: state.sent,
            lost: state.failed + state.overflowed + unsent,
            last_error: state.last_error.clone(),
        }
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next profile. Returns `None` after the last.
    fn next(&self) -> Option<Message> {
        let mut state = self.lock();
        loop {
            if let Some(message) = state.waiting.pop_front() {
                state.is_sending = true;
                return Some(message);
            }
            if state.end.is_some() {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Counts a profile. The error is `None` if no time was left for an attempt.
    fn end(&self, result: Result<(), Option<String>>) {
        let mut state = self.lock();
        state.is_sending = false;
        match result {
            Ok(()) => state.sent += 1,
            Err(error) => {
                state.failed += 1;
                state.last_error = error.or(state.last_error.take());
            }
        }
        self.changed.notify_all();
    }

    /// Waits until all profiles are sent or dropped, or until this moment. Returns whether they
    /// are.
    fn wait_until_sent(&self, until: Instant) -> bool {
        let mut state = self.lock();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if state.waiting.is_empty() && !state.is_sending {
                return true;
            }
            if left.is_zero() {
                return false;
            }
            (state, _) = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits before the next attempt. Returns whether there is time for one.
    fn wait(&self, backoff: Duration) -> bool {
        let start = Instant::now();
        let mut state = self.lock();
        loop {
            // At the end, the deadline limits the backoff.
            let until = state.end.map_or(start + backoff, |end| end.min(start + backoff));
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return state.end.is_none_or(|end| end > Instant::now());
            }
            (state, _) = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns the time for an attempt.
    fn timeout(&self) -> Duration {
        let end = self.lock().end;
        end.map_or(TIMEOUT, |end| end.saturating_duration_since(Instant::now()).min(TIMEOUT))
    }
}

/// The thread's part.
struct Sender {
    agent: Agent,
    queue: Arc<Queue>,
    /// Host and path of the collector.
    place: String,
    rarely: Rarely,
}

impl Sender {
    fn new(url: &Url, queue: Arc<Queue>) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            // The collector is on this machine.
            .proxy(None)
            .user_agent(concat!("perfkit/", env!("CARGO_PKG_VERSION")))
            .build()
            .into();
        Self { agent, queue, place: url.to_string(), rarely: Rarely::default() }
    }

    fn run(mut self) {
        while let Some(message) = self.queue.next() {
            let result = self.deliver(&message);
            self.queue.end(result);
        }
    }

    /// Sends a profile, several times if the collector fails. Returns the error of the last
    /// attempt, `None` if no time was left for one.
    fn deliver(&mut self, message: &Message) -> Result<(), Option<String>> {
        let mut backoff = BACKOFF.into_iter();
        let mut error = None;
        loop {
            let timeout = self.queue.timeout();
            if timeout.is_zero() {
                return Err(error);
            }
            let Err(failed) = self.attempt(message, timeout) else { return Ok(()) };
            let pause = backoff.next().filter(|_| !failed.is_final);
            let next = if pause.is_some() { "; trying again" } else { "" };
            self.rarely
                .note(format_args!("a profile was not sent to {}: {}{next}", self.place, failed.error));
            error = Some(failed.error);
            if !pause.is_some_and(|pause| self.queue.wait(pause)) {
                return Err(error);
            }
        }
    }

    fn attempt(&self, message: &Message, timeout: Duration) -> Result<(), Failed> {
        let request = self.agent.post(&message.url).header("Content-Type", "application/octet-stream");
        // One for each phase. With one for all, the library resolves the name in a new thread, and
        // panics if none can be started.
        let request = request
            .config()
            .timeout_connect(Some(timeout.min(CONNECT_TIMEOUT)))
            .timeout_send_request(Some(timeout))
            .timeout_send_body(Some(timeout))
            .timeout_recv_response(Some(timeout))
            .build();
        match request.send(&message.body[..]) {
            Ok(response) if response.status().is_success() => Ok(()),
            Ok(response) => {
                let status = response.status();
                // Another attempt would not help with other status codes.
                let is_final = !(status.is_server_error() || matches!(status.as_u16(), 408 | 429));
                Err(Failed { error: format!("status {status}"), is_final })
            }
            Err(error) => Err(Failed { error: text(error), is_final: false }),
        }
    }
}

/// Returns the text of an error without the library's word for its kind.
fn text(error: ureq::Error) -> String {
    match error {
        ureq::Error::Io(error) => error.to_string(),
        ureq::Error::Timeout(Timeout::Connect) => "no connection in time".to_owned(),
        ureq::Error::Timeout(_) => "no answer in time".to_owned(),
        ureq::Error::HostNotFound => "the host is unknown".to_owned(),
        ureq::Error::Protocol(error) => format!("expected an answer of HTTP: {error}"),
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collector_is_reached_by_plain_http() {
        assert!(Url::parse("http://localhost:4040/ingest?name=a").is_ok());
        assert!(Url::parse("https://localhost/").unwrap_err().contains("https is not supported"));
        assert!(Url::parse("http://a:b@host/").unwrap_err().contains("password"));
        assert!(Url::parse("http://[::1]:4040/").is_ok() && Url::parse("http://[::1]/").is_ok());
        // The last two have a password, whose slash ends the host, and a port that is too large.
        for text in [
            "http://user:pass/word@host/",
            "http://host:/",
            "http://host:65536/",
            "",
            "localhost:4040",
            "/ingest",
            "http://",
            "ftp://host/",
            "http://a b/",
            "unix:/run/x",
        ] {
            assert!(Url::parse(text).unwrap_err().contains("http://localhost:4040"), "{text}");
        }
    }

    #[test]
    fn times_are_added_to_the_query() {
        let (start, end) = (SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH + Duration::from_secs(60));
        let url = Url::parse("http://host:1/ingest?name=a").unwrap();
        assert_eq!(url.to_string(), "host:1/ingest");
        assert_eq!(url.of(start, end), "http://host:1/ingest?name=a&from=0&until=60");
        assert_eq!(Url::parse("http://host").unwrap().of(start, end), "http://host/?from=0&until=60");
    }
}
