//! Sessions: a cookie for each person that signed in, and the tokens of forms.
//!
//! An id has 256 random bits; only its hash is stored. Sessions are in memory: a restart of the
//! service ends them.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

/// Name of the cookie: browsers take it only over TLS or on this host, for one host and all its paths.
pub const COOKIE: &str = "__Host-fairtree";

/// A session ends this long after its last request, seconds.
const IDLE_SECS: i64 = 3600;

/// A session ends this long after sign-in, seconds.
const LONGEST_SECS: i64 = 12 * 3600;

/// At most this many at a time; the one that was idle for the longest time ends.
const MOST: usize = 100_000;

type Hash = [u8; 32];

/// The sessions.
#[derive(Debug, Default)]
pub struct Sessions {
    open: Mutex<HashMap<Hash, Session>>,
}

#[derive(Clone, Debug)]
struct Session {
    user: String,
    since: i64,
    last: i64,
}

impl Sessions {
    /// Begins a session, and returns its id.
    ///
    /// # Errors
    /// No random bits.
    pub fn begin(&self, user: &str, now: i64) -> io::Result<String> {
        let mut bytes = [0; 32];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        let id = hex(&bytes);
        let mut open = self.open();
        open.retain(|_, session| session.lasts(now));
        if open.len() >= MOST {
            let oldest = open.iter().min_by_key(|(_, session)| session.last);
            if let Some(oldest) = oldest.map(|(hash, _)| *hash) {
                open.remove(&oldest);
            }
        }
        let session = Session {
            user: user.to_owned(),
            since: now,
            last: now,
        };
        open.insert(hash(&id), session);
        Ok(id)
    }

    /// The user of a session that has not ended.
    pub fn user(&self, id: &str, now: i64) -> Option<String> {
        let mut open = self.open();
        let session = open.get_mut(&hash(id))?;
        if !session.lasts(now) {
            open.remove(&hash(id));
            return None;
        }
        session.last = session.last.max(now);
        Some(session.user.clone())
    }

    /// Ends a session.
    pub fn end(&self, id: &str) {
        self.open().remove(&hash(id));
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Hash, Session>> {
        // Each change is one step: a panic elsewhere leaves whole sessions.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// A clock that was stepped back ends no session early, and lengthens none beyond its end.
    fn lasts(&self, now: i64) -> bool {
        now.saturating_sub(self.since) < LONGEST_SECS && now.saturating_sub(self.last) < IDLE_SECS
    }
}

/// The token of the forms of a session, which a page of another site cannot know.
pub fn form_token(id: &str) -> String {
    hex(&Sha256::digest(format!("fairtree form {id}")))
}

/// The cookie of a session, as `Set-Cookie` has it.
pub fn cookie(id: &str) -> String {
    format!("{COOKIE}={id}; Path=/; Secure; HttpOnly; SameSite=Lax")
}

/// Takes the cookie away.
pub fn no_cookie() -> String {
    format!("{COOKIE}=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0")
}

/// The id in the value of a `Cookie` header.
pub fn id_of(header: &str) -> Option<&str> {
    let mut pairs = header.split(';').map(str::trim);
    pairs.find_map(|pair| pair.strip_prefix(COOKIE)?.strip_prefix('='))
}

fn hash(id: &str) -> Hash {
    Sha256::digest(id).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_ends_by_idleness_by_age_and_by_itself() {
        let sessions = Sessions::default();
        let id = sessions.begin("ann", 1000).unwrap();
        assert_eq!(id.len(), 64);
        assert_eq!(sessions.user(&id, 1000 + 3599).as_deref(), Some("ann"));
        assert_eq!(sessions.user("x", 1000), None);
        assert_eq!(sessions.user(&id, 1000 + 3599 + 3600), None);
        let id = sessions.begin("ann", 0).unwrap();
        let mut now = 0;
        while sessions.user(&id, now).is_some() {
            now += 3000;
        }
        assert!((43_200..=43_200 + 3000).contains(&now), "{now}");
        let id = sessions.begin("ann", 0).unwrap();
        sessions.end(&id);
        assert_eq!(sessions.user(&id, 0), None);
    }

    #[test]
    fn cookies() {
        assert_eq!(id_of("a=b; __Host-fairtree=12; c=d"), Some("12"));
        assert_eq!(id_of("fairtree=12"), None);
        assert_ne!(form_token("1"), form_token("2"));
    }
}
