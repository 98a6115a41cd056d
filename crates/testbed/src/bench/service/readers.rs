//! People who read pages, each on a connection of a proxy.

use std::io::{BufRead, BufReader, Read as _, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, ensure};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::bench::capture::Size;

/// The pages, in the order in which each person reads them; a person begins with any.
pub const PAGES: [&str; 8] = [
    "/me",
    "/job/ID",
    "/account/NAME",
    "/site",
    "/api/v1/me",
    "/api/v1/job/ID",
    "/api/v1/account/NAME",
    "/api/v1/site",
];

/// A page that was read.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    /// Its position in [`PAGES`].
    pub page: usize,
    /// From the question to the last byte, ms.
    pub ms: f64,
    /// When the last byte was there.
    pub ended: Instant,
    /// The service refused it, as after its own limit of 30 s.
    pub refused: bool,
}

/// People who read until they are stopped.
pub struct Readers {
    stopped: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Result<Vec<Read>>>>,
}

impl Readers {
    /// Starts `count` people: root, and users of the site.
    pub fn start(socket: &Path, count: u32, size: &Size) -> Readers {
        let stopped = Arc::new(AtomicBool::new(false));
        let threads = (0..count).map(|number| {
            let (stopped, socket, size) = (stopped.clone(), socket.to_owned(), *size);
            thread::spawn(move || {
                let mut person = Person::new(&socket, number, &size)?;
                let mut reads = Vec::new();
                for page in (0..PAGES.len()).cycle().skip(number as usize % PAGES.len()) {
                    if stopped.load(Ordering::Relaxed) {
                        break;
                    }
                    reads.push(person.read(page)?);
                }
                Ok(reads)
            })
        });
        Readers {
            threads: threads.collect(),
            stopped,
        }
    }

    /// Stops them after the page that each one reads.
    ///
    /// # Errors
    /// Fails if somebody got no answer.
    pub fn stop(self) -> Result<Vec<Read>> {
        self.stopped.store(true, Ordering::Relaxed);
        let mut all = Vec::new();
        for thread in self.threads {
            all.extend(thread.join().map_err(|_| anyhow!("a reader panicked"))??);
        }
        Ok(all)
    }
}

/// One of them.
struct Person {
    user: String,
    size: Size,
    random: ChaCha8Rng,
    stream: BufReader<UnixStream>,
}

impl Person {
    fn new(socket: &Path, number: u32, size: &Size) -> Result<Person> {
        let user = match number {
            0 => "root".to_owned(),
            _ => format!("u{}x{}", number % size.accounts, number % size.users),
        };
        Ok(Person {
            user,
            size: *size,
            random: ChaCha8Rng::seed_from_u64(number.into()),
            stream: BufReader::new(UnixStream::connect(socket).context("the proxy's socket")?),
        })
    }

    fn read(&mut self, page: usize) -> Result<Read> {
        let job = self
            .random
            .random_range(self.size.running + 1..=self.size.jobs);
        // One in ten looks at the whole site, whose level has the most accounts.
        let account = match self.random.random_range(0..10) {
            0 => "root".to_owned(),
            _ => format!("a{}", self.random.random_range(0..self.size.accounts)),
        };
        let path = PAGES[page]
            .replace("ID", &job.to_string())
            .replace("NAME", &account);
        let start = Instant::now();
        let status = get(&mut self.stream, &path, &self.user)
            .with_context(|| format!("{path} for {}", self.user))?;
        let ended = Instant::now();
        Ok(Read {
            page,
            ms: (ended - start).as_secs_f64() * 1000.0,
            ended,
            refused: !status.contains(" 200 "),
        })
    }
}

/// Asks for a page as a user, reads it, and returns the line with its status; the connection stays.
fn get(stream: &mut BufReader<UnixStream>, path: &str, user: &str) -> Result<String> {
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nX-Remote-User: {user}\r\n\r\n");
    stream.get_mut().write_all(request.as_bytes())?;
    let (mut line, mut length, mut status) = (String::new(), None, String::new());
    loop {
        line.clear();
        ensure!(
            stream.read_line(&mut line)? > 0,
            "the connection was closed"
        );
        let text = line.trim_end();
        if text.is_empty() {
            break;
        }
        if status.is_empty() {
            text.clone_into(&mut status);
        }
        if let Some(value) = text.strip_prefix("content-length: ") {
            length = Some(value.parse::<usize>()?);
        }
    }
    let mut body = vec![0; length.context("the answer has no length")?];
    stream.read_exact(&mut body)?;
    Ok(status)
}
