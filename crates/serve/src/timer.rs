//! The timer: the only thing that asks Slurm, however many people look.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fairtree::config::Config;
use fairtree_model::input::capture::{
    RecordError, Recording, has_history_of_today, latest_history, list,
};
use fairtree_model::input::slurm::snapshot::Source;

use crate::app::Shared;
use crate::earlier;
use crate::health::lint;
use crate::outside::follow;
use crate::pages;
use crate::picture::{Picture, PictureError};
use crate::settings::Capture;

/// The longest pause after failures.
const LONGEST: Duration = Duration::from_secs(3600);

/// The shortest time between two questions for them, whether or not they are answered.
const HISTORY_PAUSE: Duration = Duration::from_secs(3600);

/// The longest policy file that is kept, in bytes.
const MAX_POLICY: u64 = 1 << 20;

/// Reason why there is no new picture.
#[derive(Debug, thiserror::Error)]
pub enum TakeError {
    /// A command of Slurm, or the folder.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The folder of captures.
    #[error("{0}: {1}")]
    Folder(String, std::io::Error),
    /// The capture cannot be shown.
    #[error(transparent)]
    Picture(#[from] PictureError),
}

/// Takes a picture again and again, for ever. `user_days`: of [`Retention`](crate::settings::Retention).
pub async fn run(settings: Capture, every: Duration, user_days: u32, shared: Arc<Shared>) {
    let settings = Arc::new(settings);
    let mut failures = 0;
    let mut asked: Option<Instant> = None;
    loop {
        let (of, to, began) = (settings.clone(), shared.clone(), Instant::now());
        let now = u64::try_from(pages::now()).unwrap_or(0);
        let with_history = settings.history
            && asked.is_none_or(|asked| asked.elapsed() >= HISTORY_PAUSE)
            && !has_history_of_today(&settings.folder, now);
        if with_history {
            asked = Some(began);
        }
        let taken = tokio::task::spawn_blocking(move || {
            let (before, picture) = (to.picture(), take(&of, with_history)?);
            to.counters.taken(began.elapsed(), &picture);
            if let Err(error) = earlier::keep(&to.store, &picture) {
                log_line!("fairtree-serve: warning: no courses from sacct: {error}");
            }
            if let Err(error) = to.store.keep_course(&picture, user_days) {
                log_line!("fairtree-serve: warning: courses over time: {error}");
            }
            // Before anybody waits for it.
            let before = before.as_deref();
            match picture.past_after(before) {
                Ok(past) if before.is_some_and(|before| before.has_past(past)) => {}
                Ok(past) => {
                    if let Err(error) = past.keep(&to.store, &picture) {
                        log_line!("fairtree-serve: warning: waits over time: {error}");
                    }
                }
                Err(why) => log_line!("fairtree-serve: warning: no waits over time: {why}"),
            }
            let followed = follow(&to.store, before, &picture, of.time_limit());
            to.replace(picture);
            if let Err(why) = &followed {
                log_line!("fairtree-serve: warning: changes from outside are not known: {why}");
            }
            to.set_no_transactions(followed.err());
            Ok::<(), TakeError>(())
        });
        let result = match taken.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(first_line(&error.to_string())),
            Err(_) => Err("the picture could not be computed".to_owned()),
        };
        match result {
            Ok(()) => failures = 0,
            Err(why) => {
                failures += 1;
                shared.counters.failed();
                log_line!("fairtree-serve: warning: no new picture: {why}");
                shared.no_news(why);
            }
        }
        tokio::time::sleep(pause(every, failures, jitter())).await;
    }
}

/// One capture, published, read and ranked; older ones beyond the number to keep are removed. `with_history`: with
/// past jobs, where Slurm lists them.
///
/// # Errors
/// [`TakeError`]; captures of before stay as they are.
pub fn take(settings: &Capture, with_history: bool) -> Result<Picture, TakeError> {
    let sources = match with_history {
        true => &Source::FILES[..],
        false => &Source::KEPT[..],
    };
    let mut recording = Recording::new(&settings.folder, sources, settings.time_limit())?;
    let config = recording.settings().map(|settings| settings.config);
    let failed = |error| TakeError::Folder(settings.folder.display().to_string(), error);
    if let Some(text) = config.as_ref().and_then(policy) {
        recording.keep_policy(&text).map_err(failed)?;
    }
    let folder = recording.publish().map_err(failed)?;
    let mut picture = Picture::read(&folder)?;
    picture.linted = Some(lint(&picture.config_text));
    forget(&settings.folder, settings.keep);
    Ok(picture)
}

/// The text of the policy file that settings name; none where this host cannot read it, and the note of
/// the picture says so.
fn policy(config: &Config) -> Option<String> {
    let path = config.policy_file().map(Path::new)?;
    let about = fs::metadata(path).ok()?;
    let fits = path.is_absolute() && about.is_file() && about.len() <= MAX_POLICY;
    fits.then(|| fs::read_to_string(path).ok()).flatten()
}

/// Removes the oldest captures beyond the `keep` latest; the latest past jobs stay.
fn forget(folder: &Path, keep: usize) {
    let Ok(captures) = list(folder) else { return };
    let old = captures.len().saturating_sub(keep);
    let past = latest_history(folder, u64::MAX).ok().flatten();
    let past = past.map(|stored| stored.folder);
    let old = captures[..old].iter();
    for capture in old.filter(|capture| past.as_ref() != Some(*capture)) {
        if let Err(error) = fs::remove_dir_all(capture) {
            log_line!("fairtree-serve: warning: {}: {error}", capture.display());
        }
    }
}

/// The pause before the next capture: doubled by each failure in a row up to an hour, and up to a tenth
/// longer by `jitter` (0..=1), so that hosts do not ask at the same moment.
fn pause(every: Duration, failures: u32, jitter: f64) -> Duration {
    let doubled = every.saturating_mul(1 << failures.min(10));
    let longest = LONGEST.max(every);
    doubled.min(longest).mul_f64(1.0 + jitter / 10.0)
}

/// A number in 0..=1 that differs from host to host and from time to time.
fn jitter() -> f64 {
    let nanos = jiff::Timestamp::now().subsec_nanosecond();
    f64::from(nanos % 1_000_000) / 1e6
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_an_hour() {
        let every = Duration::from_secs(300);
        assert_eq!(pause(every, 0, 0.0), every);
        assert_eq!(pause(every, 0, 1.0), Duration::from_secs(330));
        assert_eq!(pause(every, 1, 0.0), Duration::from_secs(600));
        assert_eq!(pause(every, 50, 0.0), LONGEST);
        let day = Duration::from_secs(86_400);
        assert_eq!(pause(day, 3, 0.0), day);
    }
}
