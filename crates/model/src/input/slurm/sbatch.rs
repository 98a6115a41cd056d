//! The options of an `sbatch` command line.
//!
//! Source: sbatch(1) of 22.05. Options that change neither where nor when a job runs are passed
//! over; those that do and are not understood are in [`Request::ignored`].

use fairtree::config::time::{Time, parse_time};

use super::count::count;
use super::hostlist::expand;
use super::time::moment;
use crate::machine::{Dependency, Features, GresRequest, Memory, Request, Until};

/// Short options and their long names; the second part of a name says that it takes a value.
const SHORT: [(char, &str); 24] = [
    ('A', "account="),
    ('a', "array="),
    ('b', "begin="),
    ('C', "constraint="),
    ('c', "cpus-per-task="),
    ('D', "chdir="),
    ('d', "dependency="),
    ('e', "error="),
    ('F', "nodefile="),
    ('G', "gpus="),
    ('H', "hold"),
    ('i', "input="),
    ('J', "job-name="),
    ('L', "licenses="),
    ('M', "clusters="),
    ('N', "nodes="),
    ('n', "ntasks="),
    ('o', "output="),
    ('p', "partition="),
    ('q', "qos="),
    ('t', "time="),
    ('u', "uid="),
    ('w', "nodelist="),
    ('x', "exclude="),
];

/// Long options with a value that may be the next word.
const WITH_VALUE: [&str; 29] = [
    "account",
    "array",
    "begin",
    "constraint",
    "cpus-per-task",
    "chdir",
    "dependency",
    "error",
    "exclude",
    "gid",
    "gpus",
    "gpus-per-node",
    "gpus-per-task",
    "gres",
    "input",
    "job-name",
    "licenses",
    "mem",
    "mem-per-cpu",
    "mem-per-gpu",
    "nodelist",
    "nodes",
    "ntasks",
    "ntasks-per-node",
    "output",
    "partition",
    "qos",
    "time",
    "uid",
];

/// The request of a command line, word by word; words that are no options end it, unless options
/// follow them.
pub fn request<'a>(words: impl IntoIterator<Item = &'a str>) -> Request {
    let mut request = Request::default();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        let word = word.trim_matches(['"', '\'']);
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None if WITH_VALUE.contains(&long) => (long, words.next().map(str::to_owned)),
                None => (long, None),
            };
            take(&mut request, name, value.as_deref(), word);
        } else if let Some(letter) = word.strip_prefix('-').and_then(|rest| rest.chars().next()) {
            let rest = &word[1 + letter.len_utf8()..];
            let Some((_, name)) = SHORT.iter().find(|(known, _)| *known == letter) else {
                continue;
            };
            match name.strip_suffix('=') {
                Some(name) if rest.is_empty() => take(&mut request, name, words.next(), word),
                Some(name) => take(&mut request, name, Some(rest), word),
                None => take(&mut request, name, None, word),
            }
        }
    }
    request
}

/// Takes one option.
fn take(request: &mut Request, name: &str, value: Option<&str>, word: &str) {
    let value = value.unwrap_or("").trim_matches(['"', '\'']);
    let whole = || value.parse::<u32>().ok();
    let text = || Some(value.to_owned()).filter(|text| !text.is_empty());
    let understood = match name {
        "account" => set(&mut request.account, text()),
        "uid" => set(&mut request.user, text()),
        "qos" => set(&mut request.qos, text()),
        "job-name" => set(&mut request.name, text()),
        "partition" => {
            let names = value.split(',').filter(|name| !name.is_empty());
            request.partitions = names.map(str::to_owned).collect();
            true
        }
        "ntasks" => set(&mut request.tasks, whole()),
        "cpus-per-task" => set(&mut request.cpus_per_task, whole()),
        "ntasks-per-node" => set(&mut request.tasks_per_node, whole()),
        "nodes" => set(&mut request.nodes, range(value)),
        "time" => match parse_time(value) {
            Ok(Time::Secs(secs)) => set(&mut request.limit_mins, Some(secs.div_ceil(60))),
            Ok(Time::Infinite) => true,
            Err(_) => false,
        },
        "time-min" => match parse_time(value) {
            Ok(Time::Secs(secs)) => set(&mut request.least_mins, Some(secs.div_ceil(60))),
            _ => false,
        },
        "mem" => set(&mut request.memory, megabytes(value).map(Memory::Node)),
        "mem-per-cpu" => set(&mut request.memory, megabytes(value).map(Memory::Cpu)),
        "gres" => value.split(',').all(|term| add_gres(request, term, false)),
        "gpus-per-node" => add_gres(request, &format!("gpu:{value}"), false),
        "gpus" => add_gres(request, &format!("gpu:{value}"), true),
        "constraint" => set(&mut request.features, features(value)),
        "exclusive" => {
            request.exclusive = value.is_empty();
            request.exclusive
        }
        "nodelist" => list(&mut request.node_list, value),
        "exclude" => list(&mut request.excluded, value),
        "array" => match array(value) {
            Some((tasks, running)) => {
                request.array = Some(tasks);
                request.array_running = running;
                true
            }
            None => false,
        },
        "dependency" => add_dependencies(request, value),
        "begin" => set(&mut request.begin, begin(value)),
        "hold" => {
            request.held = true;
            true
        }
        "nice" => {
            request.nice = if value.is_empty() {
                100
            } else {
                value.parse().unwrap_or(0)
            };
            true
        }
        "reservation" => set(&mut request.reservation, text()),
        "contiguous" => {
            request.contiguous = true;
            true
        }
        "licenses" | "gpus-per-task" | "mem-per-gpu" | "gpus-per-socket" | "ntasks-per-gpu"
        | "ntasks-per-socket" | "ntasks-per-core" | "threads-per-core" | "core-spec"
        | "switches" | "overcommit" | "oversubscribe" | "spread-job" | "deadline" | "prefer"
        | "bb" | "bbf" | "cores-per-socket" | "sockets-per-node" | "mincpus" | "priority"
        | "use-min-nodes" => false,
        // Where output goes, mail, environment and the like.
        _ => true,
    };
    if !understood {
        let whole = if word.contains(value) {
            word.to_owned()
        } else {
            format!("{word} {value}")
        };
        request.ignored.push(whole);
    }
}

fn set<T>(to: &mut Option<T>, value: Option<T>) -> bool {
    let understood = value.is_some();
    if understood {
        *to = value;
    }
    understood
}

fn list(to: &mut Vec<String>, value: &str) -> bool {
    match expand(value) {
        Some(names) => {
            *to = names;
            true
        }
        None => false,
    }
}

/// `2`, `2-4`: the least and the most; a single number is both.
fn range(text: &str) -> Option<(u32, u32)> {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| u32::try_from(count(&text.to_ascii_uppercase())?).ok();
    Some((number(least)?, number(most)?))
}

/// Memory as sbatch takes it: megabytes unless a unit follows.
fn megabytes(text: &str) -> Option<u64> {
    let text = text.to_ascii_uppercase();
    let text = text.trim_end_matches('B');
    let (digits, unit) = match text.char_indices().last()? {
        (at, unit) if unit.is_ascii_alphabetic() => (&text[..at], unit),
        _ => (text, 'M'),
    };
    let number: u64 = digits.parse().ok()?;
    match unit {
        'K' => Some(number.div_ceil(1024)),
        'M' => Some(number),
        'G' => number.checked_mul(1024),
        'T' => number.checked_mul(1024 * 1024),
        _ => None,
    }
}

/// Adds `gpu:2`, `gpu:a100:2` or `gpu`; a prefix `gres:` is passed over, `none` is nothing.
fn add_gres(request: &mut Request, term: &str, in_all: bool) -> bool {
    let term = term
        .strip_prefix("gres:")
        .or(term.strip_prefix("gres/"))
        .unwrap_or(term);
    if term.is_empty() || term.eq_ignore_ascii_case("none") {
        return true;
    }
    let term = term.replace('=', ":");
    let parts: Vec<&str> = term.split(':').collect();
    let (name, kind, number) = match parts[..] {
        [name] => (name, "", "1"),
        [name, second] if second.starts_with(|c: char| c.is_ascii_digit()) => (name, "", second),
        [name, kind] => (name, kind, "1"),
        [name, kind, number] => (name, kind, number),
        _ => return false,
    };
    let Some(count) = count(number).and_then(|count| u32::try_from(count).ok()) else {
        return false;
    };
    let gres = GresRequest {
        name: name.to_owned(),
        kind: kind.to_owned(),
        count,
        in_all,
    };
    // The same request written twice counts once.
    if count > 0 && !request.gres.contains(&gres) {
        request.gres.push(gres);
    }
    true
}

/// `a&b`, `a|b`, `[a|b]`; counts after `*` are not understood.
fn features(text: &str) -> Option<Features> {
    let text = text.trim();
    if text.contains('*') {
        return None;
    }
    let mut found = Features::default();
    if let Some(inner) = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
    {
        found.same = inner
            .split('|')
            .map(|name| name.trim().to_owned())
            .collect();
        return Some(found);
    }
    if text.contains(['[', ']']) {
        return None;
    }
    let text = text.replace(['(', ')'], "");
    let mut and = true;
    let mut name = String::new();
    for letter in text.chars().chain(['&']) {
        match letter {
            '&' | ',' | '|' => {
                if name.is_empty() {
                    return None;
                }
                found.terms.push((std::mem::take(&mut name), and));
                and = letter != '|';
            }
            letter => name.push(letter),
        }
    }
    Some(found)
}

/// `0-9%3`, `1,3,5-9:2`: the numbers, and how many may run at a time.
fn array(text: &str) -> Option<(Vec<u32>, Option<u32>)> {
    /// Slurm's own bound is `MaxArraySize`, at most 4,000,001.
    const MOST: usize = 4_000_001;
    let (list, running) = match text.split_once('%') {
        Some((list, running)) => (list, Some(running.parse().ok()?)),
        None => (text, None),
    };
    let list = list.trim_matches(['[', ']']);
    let mut tasks = Vec::new();
    for part in list.split(',') {
        let (range, step) = part.split_once(':').unwrap_or((part, "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        let step: u32 = step.parse().ok().filter(|step| *step > 0)?;
        if (last.saturating_sub(first) / step) as usize + tasks.len() > MOST {
            return None;
        }
        tasks.extend((first..=last).step_by(step as usize));
    }
    Some((tasks, running.filter(|running| *running > 0)))
}

/// `afterok:12:13,afterany:14`, `singleton`; with `?` between them one is enough.
fn add_dependencies(request: &mut Request, text: &str) -> bool {
    request.any_dependency = text.contains('?');
    text.split([',', '?']).all(|part| {
        let mut words = part.split(':');
        let until = match words.next().unwrap_or("").to_ascii_lowercase().as_str() {
            "after" => Until::Start,
            "afterany" => Until::End,
            "afterok" => Until::Success,
            "afternotok" => Until::Failure,
            "aftercorr" => Until::SameTask,
            "singleton" => {
                request.dependencies.push(Dependency {
                    until: Until::Singleton,
                    job: 0,
                    delay_mins: 0,
                });
                return true;
            }
            _ => return false,
        };
        words.all(|word| {
            let (job, delay) = word.split_once('+').unwrap_or((word, "0"));
            let digits = job.split(['_', '.']).next().unwrap_or(job);
            let both = digits.parse().ok().zip(delay.parse().ok());
            let Some((job, delay_mins)) = both else {
                return false;
            };
            request.dependencies.push(Dependency {
                until,
                job,
                delay_mins,
            });
            true
        })
    })
}

/// `now+60`, `now+2minutes`: seconds after submission; a date and time: seconds since 1970.
fn begin(text: &str) -> Option<i64> {
    let Some(after) = text.strip_prefix("now") else {
        return moment(text).filter(|time| *time > 0);
    };
    let after = after.strip_prefix('+').unwrap_or("0");
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    let number: i64 = after[..digits].parse().ok()?;
    let unit = match after[digits..].trim_end_matches('s') {
        "" | "second" => 1,
        "minute" => 60,
        "hour" => 3600,
        "day" => 86_400,
        "week" => 604_800,
        _ => return None,
    };
    number.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Request {
        request(line.split_whitespace())
    }

    // Source: sbatch(1).
    #[test]
    fn short_and_long_options() {
        let request = of(
            "-u anna -Aphysics -n8 -N2-3 -t 1:30:00 -p a,b --qos=high --mem-per-cpu=2G \
             -c 2 --nice=5 -Hx job.sh",
        );
        assert_eq!(request.user.as_deref(), Some("anna"));
        assert_eq!(request.account.as_deref(), Some("physics"));
        assert_eq!((request.cpus(), request.nodes), (16, Some((2, 3))));
        assert_eq!(request.limit_mins, Some(90));
        assert_eq!(request.partitions, ["a", "b"]);
        assert_eq!(request.memory, Some(Memory::Cpu(2048)));
        assert!(request.held && request.nice == 5);
        assert_eq!(of("-N 3").cpus(), 3);
        assert_eq!(of("-N 3 --ntasks-per-node 4").cpus(), 12);
    }

    #[test]
    fn resources_and_conditions() {
        let request = of(
            "--gres=gpu:a100:2 --gres=gpu:a100:2 -C big&fast --exclusive -a 0-8:2%3 \
             -d afterok:12:13,afterany:14 --begin=now+2minutes -x n[1-2] -L foo:1",
        );
        assert_eq!(request.gres.len(), 1);
        assert_eq!(
            (request.gres[0].kind.as_str(), request.gres[0].count),
            ("a100", 2)
        );
        let has = ["fast".to_owned(), "big".to_owned()];
        assert!(request.features.unwrap().hold(&has));
        assert!(request.exclusive);
        assert_eq!(request.array, Some(vec![0, 2, 4, 6, 8]));
        assert_eq!(request.array_running, Some(3));
        let jobs: Vec<u32> = request.dependencies.iter().map(|one| one.job).collect();
        assert_eq!(jobs, [12, 13, 14]);
        assert_eq!(request.begin, Some(120));
        assert_eq!(request.excluded, ["n1", "n2"]);
        assert_eq!(request.ignored, ["-L foo:1"]);
        assert_eq!(of("-C [a|b]").features.unwrap().same, ["a", "b"]);
    }
}
