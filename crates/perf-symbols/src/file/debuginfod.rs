//! Downloads files by their build id from debuginfod servers.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ureq::Agent;

use crate::BuildId;

/// Downloads files that are not on this machine from debuginfod servers, into the cache that other
/// clients use, too.
///
/// Requests only what a [`FileFinder`](crate::FileFinder) needs: the program of a mapping, and the
/// debug information of a program without any. Each file is requested once. Protocol:
/// `debuginfod(8)`.
///
/// ```no_run
/// use perf_symbols::{Debuginfod, FileFinder};
///
/// // The servers in DEBUGINFOD_URLS, if the user has set any.
/// let mut finder = FileFinder::local();
/// if let Some(servers) = Debuginfod::from_env() {
///     finder = finder.with_debuginfod(servers.with_max_bytes(100 << 20));
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Debuginfod {
    urls: Vec<String>,
    cache: Option<PathBuf>,
    max_bytes: u64,
    timeout: Duration,
    /// Names of files that were already requested.
    asked: Arc<Mutex<HashSet<String>>>,
}

impl Debuginfod {
    /// Uses the servers in the environment variable `DEBUGINFOD_URLS`, separated by spaces. Returns
    /// `None` if it names none.
    pub fn from_env() -> Option<Self> {
        let urls = std::env::var("DEBUGINFOD_URLS").ok()?;
        let urls: Vec<_> = urls.split_whitespace().map(str::to_owned).collect();
        (!urls.is_empty()).then(|| Self::new(urls))
    }

    /// Uses these servers in order, such as `https://host/`.
    pub fn new(urls: impl IntoIterator<Item = String>) -> Self {
        Self {
            urls: urls.into_iter().collect(),
            cache: None,
            max_bytes: 512 << 20,
            timeout: Duration::from_secs(90),
            asked: Arc::default(),
        }
    }

    /// Stores files in this folder; by default in the cache of other clients.
    #[must_use]
    pub fn with_cache(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache = Some(folder.into());
        self
    }

    /// Rejects larger files. The limit is 512 MiB by default.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets the timeout for a file, 90 s by default.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    pub(super) fn cache(&self) -> Option<&Path> {
        self.cache.as_deref()
    }

    /// Downloads a file of a kind, `executable` or `debuginfo`, into the first cache. Returns its
    /// path, or the servers that failed with their reasons. Servers that lack the file are not
    /// failures.
    pub(super) fn fetch(
        &self,
        id: BuildId,
        kind: &str,
        caches: &[PathBuf],
    ) -> Result<PathBuf, Vec<(PathBuf, String)>> {
        let name = format!("buildid/{id}/{kind}");
        let Some(cache) = caches.first() else { return Err(Vec::new()) };
        if !self.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone()) {
            return Err(Vec::new());
        }
        let config = Agent::config_builder().timeout_global(Some(self.timeout)).build();
        let agent = Agent::new_with_config(config);
        let mut failures = Vec::new();
        for server in &self.urls {
            let url = format!("{}/{name}", server.trim_end_matches('/'));
            let path = cache.join(id.to_string()).join(kind);
            match self.download(&agent, &url, &path) {
                Ok(()) => return Ok(path),
                Err(ureq::Error::StatusCode(404)) => {}
                Err(error) => failures.push((PathBuf::from(url), error.to_string())),
            }
        }
        Err(failures)
    }

    /// Writes a temporary file and renames it when it is complete.
    fn download(&self, agent: &Agent, url: &str, path: &Path) -> Result<(), ureq::Error> {
        let mut response = agent.get(url).call()?;
        let len = response.body().content_length().unwrap_or(0);
        let too_large = || io::Error::other(format!("expected at most {} bytes", self.max_bytes));
        if len > self.max_bytes {
            return Err(too_large().into());
        }
        let folder = path.parent().unwrap_or(path);
        fs::create_dir_all(folder)?;
        let part = path.with_extension(format!("{}.part", std::process::id()));
        let mut file = File::create(&part)?;
        let mut body = response.body_mut().with_config().limit(u64::MAX).reader().take(self.max_bytes + 1);
        let copied = io::copy(&mut body, &mut file).and_then(|len| {
            file.flush()?;
            if len > self.max_bytes { Err(too_large()) } else { fs::rename(&part, path) }
        });
        if copied.is_err() {
            let _ = fs::remove_file(&part);
        }
        Ok(copied?)
    }
}
