//! Charts over time that were drawn for a picture: many people look at the same ones, and the database gets no more
//! moments before the next picture.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The most text that is kept, in bytes; more is drawn each time.
const MOST: usize = 64 << 20;

/// Charts by what they show.
#[derive(Debug, Default)]
pub struct Drawn {
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    charts: HashMap<Key, Arc<str>>,
    bytes: usize,
}

/// Associations that are drawn, by position in the order of the page, and the number of those that are not.
pub type Key = (Vec<usize>, usize);

impl Drawn {
    /// The chart of a key, which `draw` draws where it was not drawn before. An error is not kept.
    ///
    /// # Errors
    /// Those of `draw`.
    pub fn get<E>(
        &self,
        key: Key,
        draw: impl FnOnce(&Key) -> Result<String, E>,
    ) -> Result<Arc<str>, E> {
        let held = || self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(chart) = held().charts.get(&key) {
            return Ok(chart.clone());
        }
        // Others do not wait: a chart may be drawn twice.
        let chart: Arc<str> = draw(&key)?.into();
        let mut held = held();
        if held.bytes + chart.len() <= MOST {
            held.bytes += chart.len();
            if let Some(twice) = held.charts.insert(key, chart.clone()) {
                held.bytes -= twice.len();
            }
        }
        Ok(chart)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_is_drawn_once() {
        let drawn = Drawn::default();
        let get = |key: Key, text: Result<&str, &'static str>| {
            drawn.get(key, |_| text.map(str::to_owned))
        };
        let (a, b) = ((vec![1, 2], 0), (vec![1, 2], 7));
        assert_eq!(get(a.clone(), Err("refused")), Err("refused"));
        assert_eq!(get(a.clone(), Ok("one")).as_deref(), Ok("one"));
        assert_eq!(get(a.clone(), Ok("two")).as_deref(), Ok("one"));
        assert_eq!(get(b.clone(), Ok("three")).as_deref(), Ok("three"));
        // What does not fit is drawn each time.
        let long = "x".repeat(MOST);
        let c = (vec![3], 0);
        assert_eq!(get(c.clone(), Ok(&long)).as_deref(), Ok(&*long));
        assert_eq!(get(c, Ok("four")).as_deref(), Ok("four"));
        assert_eq!(get(b, Ok("five")).as_deref(), Ok("three"));
    }
}
