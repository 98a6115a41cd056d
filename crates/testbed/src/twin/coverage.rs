//! Coverage of random lives, counted over many of them.

use super::life::Life;
use super::{Size, generate};

/// Number of lives to draw.
const LIVES: u64 = 500;

/// Least number of lives that must contain each item.
const LEAST: usize = 5;

/// The lines of a life, as words.
struct Drawn<'a> {
    lines: Vec<Vec<&'a str>>,
    /// Position of `boot`.
    boot: usize,
}

impl<'a> Drawn<'a> {
    fn new(life: &'a Life) -> Drawn<'a> {
        let lines: Vec<Vec<&str>> = life.lines.iter().map(|l| l.split(' ').collect()).collect();
        let boot = lines.iter().position(|line| line == &["boot"]);
        Drawn {
            boot: boot.expect("every life boots"),
            lines,
        }
    }

    /// The lines of a verb.
    fn of(&self, verb: &str) -> impl Iterator<Item = &Vec<&'a str>> {
        self.lines.iter().filter(move |line| line[0] == verb)
    }

    fn has(&self, verb: &str) -> bool {
        self.of(verb).next().is_some()
    }

    /// Returns true if a line of the verb has the key with such a value.
    fn any(&self, verb: &str, key: &str, fits: impl Fn(&str) -> bool) -> bool {
        let value = |line: &Vec<&'a str>| value_of(line, key);
        self.of(verb).filter_map(value).any(fits)
    }

    /// A setting at start: if a key is given twice, the last value counts.
    fn conf(&self, key: &str) -> Option<&'a str> {
        let conf = self.lines[..self.boot]
            .iter()
            .filter(|line| line[0] == "conf");
        conf.filter_map(|line| value_of(line, key)).next_back()
    }

    fn has_flag(&self, flag: &str) -> bool {
        let flags = self.conf("PriorityFlags").unwrap_or_default();
        flags.split(',').any(|each| each == flag)
    }

    /// Returns true if an association with `shares=parent` has a parent with `shares=parent`.
    fn parent_twice(&self) -> bool {
        let on_parent = |line: &&Vec<&'a str>| value_of(line, "shares") == Some("parent");
        let ids: Vec<&str> = self
            .of("assoc")
            .filter(on_parent)
            .map(|line| line[1])
            .collect();
        let mut below = self.of("assoc").filter(on_parent);
        below.any(|line| value_of(line, "parent").is_some_and(|up| ids.contains(&up)))
    }
}

fn value_of<'a>(line: &[&'a str], key: &str) -> Option<&'a str> {
    let mut values = line.iter().filter_map(|word| word.split_once('='));
    values.find_map(|(name, value)| (name == key).then_some(value))
}

fn number(value: &str) -> f64 {
    value.parse().unwrap_or(f64::NAN)
}

/// The name of an item, and a function that returns true if a life has it.
type Item = (String, Box<dyn Fn(&Drawn) -> bool>);

fn item(name: impl Into<String>, has: impl Fn(&Drawn) -> bool + 'static) -> Item {
    (name.into(), Box::new(has))
}

fn settings() -> Vec<Item> {
    let mut items = vec![
        item("TRES weighed", |life| {
            life.conf("PriorityWeightTRES").is_some()
        }),
        item("TRES not weighed", |life| {
            life.conf("PriorityWeightTRES").is_none()
        }),
        item("FavorSmall", |life| {
            life.conf("PriorityFavorSmall") == Some("YES")
        }),
        item("MaxAge 0", |life| life.conf("PriorityMaxAge") == Some("0")),
        item("MaxAge large", |life| {
            life.conf("PriorityMaxAge") == Some("365-0")
        }),
        item("dampening", |life| {
            let factor = life.conf("FairShareDampeningFactor");
            factor.is_some_and(|factor| factor != "1")
        }),
        item("limits enforced", |life| enforces(life, true)),
        item("limits not enforced", |life| enforces(life, false)),
    ];
    for flag in [
        "ACCRUE_ALWAYS",
        "CALCULATE_RUNNING",
        "DEPTH_OBLIVIOUS",
        "FAIR_TREE",
        "INCR_ONLY",
        "MAX_TRES",
        "NO_FAIR_TREE",
        "NO_NORMAL_ALL",
        "NO_NORMAL_ASSOC",
        "NO_NORMAL_PART",
        "NO_NORMAL_QOS",
        "NO_NORMAL_TRES",
        "SMALL_RELATIVE_TO_TIME",
    ] {
        items.push(item(flag, move |life| life.has_flag(flag)));
    }
    for weight in ["Age", "Assoc", "Fairshare", "JobSize", "Partition", "QOS"] {
        let key = format!("PriorityWeight{weight}");
        let same = key.clone();
        items.push(item(format!("{key}=0"), move |life| {
            life.conf(&key) == Some("0")
        }));
        items.push(item(format!("{same}>0"), move |life| {
            life.conf(&same) != Some("0")
        }));
    }
    for period in ["NOW", "DAILY", "WEEKLY", "MONTHLY", "QUARTERLY", "YEARLY"] {
        items.push(item(format!("no half-life, {period}"), move |life| {
            life.conf("PriorityDecayHalfLife") == Some("0")
                && life.conf("PriorityUsageResetPeriod") == Some(period)
        }));
    }
    items
}

fn enforces(life: &Drawn, limits: bool) -> bool {
    let enforce = life.conf("AccountingStorageEnforce").unwrap_or_default();
    (enforce.contains("limits") || enforce == "safe") == limits
}

fn records() -> Vec<Item> {
    vec![
        item("QOS factor 0", |life| {
            life.any("qos", "factor", |factor| factor == "0")
        }),
        item("QOS factor below 1", |life| {
            life.any("qos", "factor", |factor| {
                number(factor) > 0.0 && number(factor) < 1.0
            })
        }),
        item("QOS factor above 1", |life| {
            life.any("qos", "factor", |factor| number(factor) > 1.0)
        }),
        item("NO_DECAY QOS", |life| {
            life.any("qos", "nodecay", |decay| decay == "1")
        }),
        item("partition QOS", |life| {
            life.any("part", "qos", |qos| qos != "0")
        }),
        item("shares parent on two levels", |life| life.parent_twice()),
        item("job in several partitions", |life| {
            life.any("submit", "part", |parts| parts.contains(','))
        }),
        item("job with several QOS", |life| {
            life.any("submit", "qoslist", |list| list.contains(','))
        }),
        item("job array", |life| life.has("split")),
        item("held job", |life| life.has("hold")),
        item("direct-set priority", |life| life.has("setprio")),
        item("direct-set at submission", |life| {
            life.any("submit", "direct", |_| true)
        }),
        item("job without association", |life| {
            life.any("submit", "assoc", |id| id == "0")
        }),
        item("negative nice", |life| {
            life.any("submit", "nice", |nice| number(nice) < 0.0)
        }),
        item("extreme nice", |life| {
            life.any("submit", "nice", |nice| number(nice).abs() > 2e9)
        }),
        item("site factor", |life| {
            life.any("submit", "site", |site| site != "0")
        }),
    ]
}

fn events() -> Vec<Item> {
    let mut items = vec![
        item("account moved", |life| {
            life.any("assoc_set", "parent", |_| true)
        }),
        item("clock back", |life| {
            let mut steps = life.of("step").chain(life.of("pass"));
            steps.any(|line| line[1].starts_with('-'))
        }),
        item("other account", |life| {
            life.any("update", "assoc", |_| true)
        }),
        item("other QOS", |life| life.any("update", "qos", |_| true)),
        item("other partition", |life| {
            life.any("update", "part", |_| true)
        }),
        item("other list of QOS", |life| {
            life.any("update", "qoslist", |list| list.contains(','))
        }),
        item("shorter list of QOS", |life| {
            life.any("update", "qoslist", |list| !list.contains(','))
        }),
    ];
    for verb in [
        "submit",
        "start",
        "pass",
        "requeue",
        "resize",
        "hold",
        "release",
        "end",
        "limit",
        "reconfig",
        "restart",
        "crash",
        "crash_in_pass",
        "elapse",
        "preempt",
        "plan",
        "suspend",
        "resume",
        "cancel",
        "clean",
        "purge",
        "pretend",
        "assoc_add",
        "assoc_del",
        "assoc_zero",
        "qos_set",
        "save",
        "debugflags",
        "dampening",
        "sprio",
        "sshare",
    ] {
        items.push(item(verb, move |life| life.has(verb)));
    }
    items
}

#[test]
fn random_lives_meet_everything() {
    let lives: Vec<Life> = (1..=LIVES)
        .map(|seed| generate(seed, Size::USUAL))
        .collect();
    let drawn: Vec<Drawn> = lives.iter().map(Drawn::new).collect();
    let items = settings().into_iter().chain(records()).chain(events());
    let rare: Vec<String> = items
        .map(|(name, has)| (name, drawn.iter().filter(|life| has(life)).count()))
        .filter(|(_, count)| *count < LEAST)
        .map(|(name, count)| format!("{name}: in {count} of {LIVES} lives"))
        .collect();
    assert!(rare.is_empty(), "{}", rare.join("\n"));
}
