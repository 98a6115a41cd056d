//! The plan of a sweep, in TOML.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::PathBuf;

use serde::Deserialize;
use toml::{Spanned, Value};

use crate::input::error::{InputError, Problem};
use crate::input::site::file::parse_as;
use crate::input::site::place::Text;
use crate::input::site::{read_text, value};

/// The most points of a plan.
const MOST_POINTS: usize = 100_000;

/// The plan of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The log of jobs, as it is written: relative to the folder of the plan.
    pub log: PathBuf,
    /// The site, likewise; `None`: a pool of processors.
    pub site: Option<PathBuf>,
    /// Seeds: each point runs once with each.
    pub seeds: Vec<u64>,
    /// Fair starts to compute in each run at most.
    pub fair_starts: usize,
    /// The points, each once, in the order of the grid, or in which they were drawn.
    pub points: Vec<Point>,
}

/// A point: settings by name, as `scheduler`, `set.PriorityWeightAge`, `shares.physics`, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point(pub BTreeMap<String, String>);

impl Point {
    /// The value of a setting.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

/// `scheduler=slurm shares.physics=40`.
impl std::fmt::Display for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, (name, value)) in self.0.iter().enumerate() {
            let blank = if at == 0 { "" } else { " " };
            write!(f, "{blank}{name}={value}")?;
        }
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    log: Spanned<String>,
    site: Option<Spanned<String>>,
    seeds: Option<Spanned<Value>>,
    samples: Option<Spanned<Value>>,
    draw_seed: Option<Spanned<Value>>,
    fair_starts: Option<Spanned<Value>>,
    #[serde(default)]
    fixed: Settings,
    #[serde(default)]
    vary: Settings,
}

type Table = BTreeMap<Spanned<String>, Spanned<Value>>;

/// The settings of a point: words of options, and tables of what is named in an option.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Settings {
    scheduler: Option<Spanned<Value>>,
    procs: Option<Spanned<Value>>,
    slurm_conf: Option<Spanned<Value>>,
    policy: Option<Spanned<Value>>,
    set: Table,
    partition_factor: Table,
    qos_priority: Table,
    usage_factor: Table,
    parent: Table,
    shares: Table,
    assoc_priority: Table,
    nodes: Table,
}

impl Settings {
    /// All of them by name.
    fn named(&self) -> Vec<(String, &Spanned<Value>)> {
        let words = [
            ("policy", &self.policy),
            ("procs", &self.procs),
            ("scheduler", &self.scheduler),
            ("slurm_conf", &self.slurm_conf),
        ];
        let words = words.into_iter();
        let words = words.filter_map(|(name, value)| Some((name.to_owned(), value.as_ref()?)));
        let tables = [
            ("assoc_priority", &self.assoc_priority),
            ("nodes", &self.nodes),
            ("parent", &self.parent),
            ("partition_factor", &self.partition_factor),
            ("qos_priority", &self.qos_priority),
            ("set", &self.set),
            ("shares", &self.shares),
            ("usage_factor", &self.usage_factor),
        ];
        let tables = tables.into_iter().flat_map(|(table, own)| {
            own.iter()
                .map(move |(name, value)| (format!("{table}.{}", name.get_ref()), value))
        });
        words.chain(tables).collect()
    }
}

/// The values of a setting that varies.
enum Values {
    List(Vec<String>),
    /// From, to; whole numbers; evenly on a logarithmic scale.
    Range(f64, f64, bool, bool),
}

impl Plan {
    /// Reads a plan. `file` names the stream in messages.
    ///
    /// # Errors
    /// A stream that breaks or is no TOML; keys that the format does not know; values out of range;
    /// ranges without `samples`; too many points.
    pub fn read(file: &str, input: impl Read) -> Result<Plan, InputError> {
        let text = read_text(file, input)?;
        let text = Text::new(file, &text);
        let parsed: File =
            parse_as(&text).map_err(|error| error.hint("docs/sweep.md shows the format"))?;
        let whole = |value: &Option<Spanned<Value>>, what: &str, otherwise: u64, most: i64| {
            let Some(value) = value else {
                return Ok(otherwise);
            };
            value::whole::<i64>(&text, value, what, 0..=most).map(i64::unsigned_abs)
        };
        let samples = whole(&parsed.samples, "samples", 0, MOST_POINTS as i64)?;
        let draw_seed = whole(&parsed.draw_seed, "draw_seed", 1, i64::MAX)?;
        let fair_starts = whole(&parsed.fair_starts, "fair_starts", 0, i64::from(i32::MAX))?;
        let mut fixed = BTreeMap::new();
        for (name, value) in parsed.fixed.named() {
            let one = single(value.get_ref());
            let one = one.ok_or_else(|| text.value(&value.span(), &name, "a word or a number"))?;
            fixed.insert(name, one);
        }
        let mut axes: Vec<(String, Values)> = Vec::new();
        for (name, value) in parsed.vary.named() {
            let values = values(value.get_ref()).ok_or_else(|| {
                let allowed = "a list of words or numbers, or { from = 1, to = 9 } with samples";
                text.value(&value.span(), &name, allowed)
            })?;
            if let Values::List(list) = &values {
                let mut seen = BTreeSet::new();
                if let Some(twice) = list.iter().find(|value| !seen.insert(*value)) {
                    let allowed = format!("each value once; {twice} is there twice");
                    return Err(text.value(&value.span(), &name, &allowed));
                }
            }
            if samples == 0 && matches!(values, Values::Range(..)) {
                let allowed = "a list; a range needs samples = NUMBER";
                return Err(text.value(&value.span(), &name, allowed));
            }
            if fixed.contains_key(&name) {
                let allowed = "either in [fixed] or in [vary]";
                return Err(text.value(&value.span(), &name, allowed));
            }
            axes.push((name, values));
        }
        let points = match samples {
            0 => grid(file, &axes)?,
            count => draw(&axes, count, draw_seed),
        };
        let mut known = BTreeSet::new();
        let points = points.into_iter().filter_map(|varied| {
            let mut all = fixed.clone();
            all.extend(varied);
            let point = Point(all);
            known.insert(point.clone()).then_some(point)
        });
        Ok(Plan {
            log: parsed.log.get_ref().into(),
            site: parsed.site.map(|site| site.get_ref().into()),
            seeds: seeds(&text, parsed.seeds.as_ref())?,
            fair_starts: usize::try_from(fair_starts).unwrap_or(usize::MAX),
            points: points.collect(),
        })
    }
}

/// `3`: seeds 1 to 3; `[4, 7]`: these.
fn seeds(text: &Text<'_>, value: Option<&Spanned<Value>>) -> Result<Vec<u64>, InputError> {
    let Some(value) = value else {
        return Ok(vec![1]);
    };
    let seed = |value: &Value| value.as_integer().and_then(|seed| u64::try_from(seed).ok());
    let found = match value.get_ref() {
        Value::Integer(count @ 1..=10_000) => Some((1..=count.unsigned_abs()).collect()),
        Value::Array(list) if !list.is_empty() => list.iter().map(seed).collect(),
        _ => None,
    };
    let found: Option<Vec<u64>> = found;
    let mut seeds = found.ok_or_else(|| {
        let allowed = "a number from 1 to 10000, or a list of whole numbers from 0 up";
        text.value(&value.span(), "seeds", allowed)
    })?;
    seeds.sort_unstable();
    if let Some(twice) = seeds.windows(2).find(|pair| pair[0] == pair[1]) {
        let allowed = format!("each seed once; {} is there twice", twice[0]);
        return Err(text.value(&value.span(), "seeds", &allowed));
    }
    Ok(seeds)
}

fn single(value: &Value) -> Option<String> {
    match value {
        Value::String(word) => Some(word.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) if number.is_finite() => Some(number.to_string()),
        _ => None,
    }
}

fn values(value: &Value) -> Option<Values> {
    match value {
        Value::Array(list) if !list.is_empty() => {
            let list: Option<Vec<String>> = list.iter().map(single).collect();
            list.map(Values::List)
        }
        Value::Table(range) => {
            let known = range
                .keys()
                .all(|key| matches!(key.as_str(), "from" | "to" | "log"));
            let (from, to) = (range.get("from")?, range.get("to")?);
            let number = |value: &Value| match value {
                Value::Integer(number) => Some(*number as f64),
                Value::Float(number) => Some(*number).filter(|number| number.is_finite()),
                _ => None,
            };
            let is_whole = from.is_integer() && to.is_integer();
            let is_log = match range.get("log") {
                None => false,
                Some(value) => value.as_bool()?,
            };
            let (from, to) = (number(from)?, number(to)?);
            let sound = known && from <= to && (!is_log || from > 0.0);
            sound.then_some(Values::Range(from, to, is_whole, is_log))
        }
        _ => None,
    }
}

/// All combinations; the last setting varies fastest.
fn grid(
    file: &str,
    axes: &[(String, Values)],
) -> Result<Vec<BTreeMap<String, String>>, InputError> {
    let mut points = vec![BTreeMap::new()];
    for (name, values) in axes {
        let Values::List(list) = values else { continue };
        if points.len().saturating_mul(list.len()) > MOST_POINTS {
            let why = format!("has more than {MOST_POINTS} points: samples = NUMBER draws some");
            return Err(InputError::new(file, Problem::Structure(why)));
        }
        let with = |point: &BTreeMap<String, String>, value: &String| {
            let mut point = point.clone();
            point.insert(name.clone(), value.clone());
            point
        };
        points = points
            .iter()
            .flat_map(|point| list.iter().map(move |value| with(point, value)))
            .collect();
    }
    Ok(points)
}

/// Points with each setting drawn by itself.
fn draw(axes: &[(String, Values)], count: u64, seed: u64) -> Vec<BTreeMap<String, String>> {
    let mut state = seed;
    // SplitMix64 (Steele, Lea, Flood, 2014): the same numbers on every machine, for ever.
    let mut next = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    // From 0 up, below 1.
    let mut part = move || (next() >> 11) as f64 / (1_u64 << 53) as f64;
    let points = (0..count).map(|_| {
        let settings = axes.iter().map(|(name, values)| {
            let value = match values {
                Values::List(list) => list[(part() * list.len() as f64) as usize].clone(),
                Values::Range(from, to, is_whole, is_log) => {
                    let above = if *is_whole { to + 1.0 } else { *to };
                    let drawn = match is_log {
                        true => from * (above / from).powf(part()),
                        false => from + (above - from) * part(),
                    };
                    match is_whole {
                        true => drawn.floor().clamp(*from, *to).to_string(),
                        // Six digits are enough to tell points apart, and are the same everywhere.
                        false => format!("{drawn:.6}"),
                    }
                }
            };
            (name.clone(), value)
        });
        settings.collect()
    });
    points.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Plan, InputError> {
        Plan::read("plan", text.as_bytes())
    }

    fn shown(plan: &Plan) -> Vec<String> {
        plan.points.iter().map(ToString::to_string).collect()
    }

    // By hand.
    #[test]
    fn a_grid_has_all_combinations_once() {
        let plan = read(
            "log = 'l'\nsite = 's'\nseeds = 2\n[fixed]\nscheduler = 'slurm'\n[vary.shares]\n\
             a = [1, 2]\n[vary.set]\nPriorityWeightAge = [5]\n",
        );
        let plan = plan.expect("a plan");
        assert_eq!(
            shown(&plan),
            [
                "scheduler=slurm set.PriorityWeightAge=5 shares.a=1",
                "scheduler=slurm set.PriorityWeightAge=5 shares.a=2"
            ]
        );
        assert_eq!(plan.seeds, [1, 2]);
        assert_eq!(shown(&read("log = 'l'\n").expect("a plan")), [""]);
    }

    #[test]
    fn samples_are_the_same_each_time_and_within_their_ranges() {
        let text = "log = 'l'\nsamples = 50\n[vary.shares]\na = { from = 3, to = 5 }\n\
                    [vary.set]\nw = { from = 1.0, to = 100.0, log = true }\n";
        let plan = read(text).expect("a plan");
        assert_eq!(plan, read(text).expect("a plan"));
        assert_eq!(plan.points.len(), 50);
        for point in &plan.points {
            assert!(
                matches!(point.get("shares.a"), Some("3" | "4" | "5")),
                "{point}"
            );
            let weight: f64 = point.get("set.w").and_then(|w| w.parse().ok()).expect("w");
            assert!((1.0..=100.0).contains(&weight));
        }
        let small = |point: &&Point| point.get("set.w").is_some_and(|w| w.len() < 9);
        // Half of a logarithmic scale lies below 10.
        let count = plan.points.iter().filter(small).count();
        assert!((15..=35).contains(&count), "{count}");
    }

    #[test]
    fn errors_have_places() {
        for (text, words) in [
            (
                "log = 'l'\n[vary]\nscheduler = 'easy'\n",
                "plan:3:13: scheduler",
            ),
            (
                "log = 'l'\n[vary.shares]\na = { from = 1, to = 2 }\n",
                "a range needs samples",
            ),
            ("log = 'l'\nseeds = 0\n", "plan:2:9: seeds"),
            ("log = 'l'\nseeds = [3, 1, 3]\n", "each seed once; 3 is"),
            (
                "log = 'l'\n[vary.shares]\na = [20, 40, 20]\n",
                "each value once; 20 is",
            ),
            ("log = 'l'\ncolour = 1\n", "unknown field"),
            (
                "log = 'l'\n[fixed]\nprocs = 1\n[vary]\nprocs = [2]\n",
                "either in [fixed]",
            ),
            ("seeds = 1\n", "missing field"),
        ] {
            let error = read(text).expect_err("an error").to_string();
            assert!(error.contains(words), "{words}: {error}");
        }
    }
}
