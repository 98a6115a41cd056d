//! Lines of JSON, one event each, as they come.

use std::fmt;
use std::io::BufRead;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::event::{Act, Ended, Event, Form, LimitedBy, Submission, ends, forms};
use super::site::MOST_PRICE;
use crate::input::error::{InputError, Problem};
use crate::input::lines::Lines;
use fairtree::config::MOST_MINUTES;
use fairtree::config::time::{Time, parse_time};
use fairtree::engine::queue::Micros;
use fairtree::tree::Shares;
use fairtree::usage::EndState;

/// The largest number of shares.
const MOST_SHARES: u32 = 2_147_483_646;

/// The most parts that a job can name.
const MAX_PARTS: usize = 4096;

const MOMENT: &str = "microseconds since 1970, or text as \"2026-03-01T12:00:00Z\", with up to six \
                      decimals of a second; without offset it is UTC";
const LENGTH: &str = "microseconds, or text in Slurm's form as \"1:30:00\" or \"2-0\"";

/// The events of a stream. Blank lines, and lines that begin with `#`, are passed over.
pub struct Events<'f, R> {
    file: &'f str,
    lines: Lines<'f, R>,
}

impl<'f, R: BufRead> Events<'f, R> {
    /// Those of `input`, which messages call `file`.
    pub fn new(file: &'f str, input: R) -> Events<'f, R> {
        Events {
            file,
            lines: Lines::new(file, input),
        }
    }

    /// The next event, as soon as its line is complete.
    ///
    /// # Errors
    /// A stream that breaks; a line that is too long, or no JSON object; an event that does not
    /// exist; keys that it does not have, has twice or lacks; values out of range.
    pub fn read_event(&mut self) -> Result<Option<Event>, InputError> {
        let (line, number) = loop {
            let Some(line) = self.lines.next()? else {
                return Ok(None);
            };
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                break (line.to_owned(), self.lines.number);
            }
        };
        let read = EventLine {
            file: self.file,
            text: &line,
            number,
        };
        let (time, act) = read.event()?;
        Ok(Some(Event {
            time,
            act,
            line: number,
            text: line,
        }))
    }
}

/// The keys of an object in their order, including a key that occurs twice.
struct Pairs(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pairs, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object as {\"event\": \"next\", \"machine\": \"m\"}")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// A line with an event.
struct EventLine<'a> {
    file: &'a str,
    text: &'a str,
    number: usize,
}

/// An event's keys and values.
struct Fields<'a> {
    line: &'a EventLine<'a>,
    pairs: Vec<(String, Value)>,
}

impl EventLine<'_> {
    fn error(&self, problem: Problem) -> InputError {
        InputError::new(self.file, problem).at_line(self.number, self.text)
    }

    fn structure(&self, why: String) -> InputError {
        self.error(Problem::Structure(why))
    }

    fn event(&self) -> Result<(Option<Micros>, Act), InputError> {
        let pairs: Pairs = serde_json::from_str(self.text).map_err(|error| {
            let why = error.to_string();
            // Each line is a document of its own.
            let why = why.split(" at line ").next().unwrap_or(&why);
            let error = self
                .structure(format!("no event: {why}"))
                .at_column(error.column());
            error.hint("docs/queue.md and `fairtree queue --help` show the format")
        })?;
        let fields = Fields {
            line: self,
            pairs: pairs.0,
        };
        fields.read()
    }
}

impl Fields<'_> {
    /// The column of a key; 1 where it is written with escapes.
    fn column(&self, key: &str) -> usize {
        let (text, quoted) = (self.line.text, format!("\"{key}\""));
        let is_key = |at: &usize| text[at + quoted.len()..].trim_start().starts_with(':');
        let mut places = text.match_indices(&quoted).map(|(at, _)| at);
        let at = places.find(is_key).unwrap_or(0);
        text[..at].chars().count() + 1
    }

    fn refused(&self, key: &str, allowed: impl Into<String>) -> InputError {
        let found = match self.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        };
        let error = self.line.error(Problem::Value {
            what: key.to_owned(),
            found: found.chars().take(80).collect(),
            allowed: allowed.into(),
        });
        error.at_column(self.column(key))
    }

    fn get(&self, key: &str) -> Option<&Value> {
        let found = self.pairs.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value)
    }

    /// The form that `event` names, once the keys are those that it has.
    fn form(&self) -> Result<Form, InputError> {
        let names = || {
            let names: Vec<&str> = forms().iter().map(|form| form.name).collect();
            format!("one of {}", names.join(", "))
        };
        let name = match self.get("event") {
            Some(Value::String(name)) => name,
            Some(_) => return Err(self.refused("event", names())),
            None => {
                let why = format!("the key \"event\" is missing: {}", names());
                return Err(self.line.structure(why));
            }
        };
        let form = forms().iter().find(|form| form.name == name);
        let form = *form.ok_or_else(|| self.refused("event", names()))?;
        let common = ["event", "time"];
        let known = || common.iter().chain(form.required).chain(form.optional);
        for (at, (key, _)) in self.pairs.iter().enumerate() {
            if !known().any(|known| known == key) {
                let known: Vec<&str> = known().copied().collect();
                let error = self.line.error(Problem::Value {
                    what: "key".to_owned(),
                    found: key.chars().take(80).collect(),
                    allowed: format!("one of {} for {name}", known.join(", ")),
                });
                return Err(error.at_column(self.column(key)));
            }
            if self.pairs[..at].iter().any(|(before, _)| before == key) {
                return Err(self
                    .line
                    .structure(format!("the key {key:?} is there twice")));
            }
        }
        match form.required.iter().find(|key| self.get(key).is_none()) {
            Some(key) => {
                let why = format!("{name} lacks the key \"{key}\"");
                Err(self.line.structure(why))
            }
            None => Ok(form),
        }
    }

    fn read(&self) -> Result<(Option<Micros>, Act), InputError> {
        let form = self.form()?;
        let act = match form.name {
            "submit" => Act::Submit(self.submission()?),
            "next" => Act::Next(self.name("machine")?),
            "start" => Act::Start(self.number("job")?),
            "finish" => Act::Finish(self.number("job")?, self.ended()?),
            "requeue" => Act::Requeue(self.number("job")?, self.ended()?),
            "halted" => Act::Halted(self.number("job")?),
            "cancel" => Act::Cancel(self.number("job")?),
            "pause" => Act::Pause(self.name("machine")?),
            "resume" => Act::Resume(self.name("machine")?),
            "reserve" => Act::Reserve {
                reservation: self.number("reservation")?,
                machine: self.name("machine")?,
                account: self.name("account")?,
                start: self.moment("start")?,
                end: self.moment("end")?,
            },
            "cancel_reservation" => Act::CancelReservation(self.number("reservation")?),
            "shares" => Act::Shares {
                account: self.name("account")?,
                user: self.maybe("user", Self::name)?,
                shares: self.shares("shares")?,
            },
            "minutes" => Act::Minutes {
                account: self.name("account")?,
                minutes: self.number_or_null("minutes", MOST_MINUTES)?,
            },
            "price" => self.price()?,
            "limit" => self.limit()?,
            "time" => Act::Time,
            "position" => Act::Position(self.number("job")?),
            "positions" => Act::Positions(self.maybe("machine", Self::name)?),
            "estimate" => Act::Estimate(self.maybe("machine", Self::name)?),
            "standing" => Act::Standing {
                account: self.name("account")?,
                user: self.maybe("user", Self::name)?,
            },
            _ => Act::Bill {
                from: self.maybe("from", Self::moment)?,
                to: self.maybe("to", Self::moment)?,
            },
        };
        Ok((self.maybe("time", Self::moment)?, act))
    }

    fn submission(&self) -> Result<Submission, InputError> {
        Ok(Submission {
            job: self.number("job")?,
            account: self.name("account")?,
            user: self.maybe("user", Self::name)?,
            machine: self.name("machine")?,
            expected: self.maybe("expected", Self::length)?,
            limit: self.maybe("limit", Self::length)?,
            rate: self.maybe("rate", Self::rate)?,
            nice: self.maybe("nice", Self::nice)?,
            parts: self.maybe("parts", Self::parts)?,
        })
    }

    fn price(&self) -> Result<Act, InputError> {
        let keys = ["execution_microsecond", "reserved_second"];
        if keys.iter().all(|key| self.get(key).is_none()) {
            let why = "price lacks a price: give the key \"execution_microsecond\" or \
                       \"reserved_second\"";
            return Err(self.line.structure(why.to_owned()));
        }
        let [execution_microsecond, reserved_second] = keys.map(|key| {
            self.maybe(key, |fields, key| {
                let found = fields.get(key).and_then(Value::as_u64);
                let found = found.filter(|price| *price <= MOST_PRICE);
                let allowed = || format!("a whole number from 0 to {MOST_PRICE}");
                found.ok_or_else(|| fields.refused(key, allowed()))
            })
        });
        Ok(Act::Price {
            machine: self.name("machine")?,
            execution_microsecond: execution_microsecond?,
            reserved_second: reserved_second?,
        })
    }

    fn limit(&self) -> Result<Act, InputError> {
        let account = self.maybe("account", Self::name)?;
        let machine = self.maybe("machine", Self::name)?;
        let limit = self.number_or_null("limit", u32::MAX.into())?;
        Ok(Act::Limit {
            of: match (account, machine) {
                (Some(_), Some(_)) => {
                    let why = "a limit is that of an account or of a machine, not of both";
                    return Err(self.line.structure(why.to_owned()));
                }
                (Some(account), None) => LimitedBy::Account(account),
                (None, Some(machine)) => LimitedBy::Machine(machine),
                (None, None) => LimitedBy::EachAccount,
            },
            limit: limit.map(|limit| limit as u32),
        })
    }

    fn ended(&self) -> Result<Ended, InputError> {
        let outcome = match self.get("outcome") {
            Some(Value::String(word)) if !word.contains(' ') => EndState::from_name(word),
            _ => None,
        };
        let allowed = || format!("one of {}", ends().join(", "));
        let executed = self.maybe("executed", Self::length)?;
        Ok(Ended {
            outcome: outcome.ok_or_else(|| self.refused("outcome", allowed()))?,
            exit_code: self.maybe("exit_code", Self::exit_code)?.unwrap_or(0),
            executed: executed.map(|length| length as Micros),
        })
    }

    /// A value that may be missing.
    fn maybe<T>(
        &self,
        key: &str,
        read: impl Fn(&Self, &str) -> Result<T, InputError>,
    ) -> Result<Option<T>, InputError> {
        self.get(key).map(|_| read(self, key)).transpose()
    }

    fn name(&self, key: &str) -> Result<String, InputError> {
        match self.get(key) {
            Some(Value::String(name)) if !name.is_empty() => Ok(name.clone()),
            _ => Err(self.refused(key, "a name in quotes")),
        }
    }

    fn number(&self, key: &str) -> Result<u64, InputError> {
        let found = self.get(key).and_then(Value::as_u64);
        found.ok_or_else(|| self.refused(key, format!("a whole number from 0 to {}", u64::MAX)))
    }

    fn number_or_null(&self, key: &str, most: u64) -> Result<Option<u64>, InputError> {
        match self.get(key) {
            Some(Value::Null) => Ok(None),
            Some(value) if value.as_u64().is_some_and(|number| number <= most) => {
                Ok(value.as_u64())
            }
            _ => Err(self.refused(key, format!("a whole number from 0 to {most}, or null"))),
        }
    }

    fn shares(&self, key: &str) -> Result<Shares, InputError> {
        let found = match self.get(key) {
            Some(Value::String(word)) if word == "parent" => Some(Shares::Parent),
            Some(value) => {
                let shares = value.as_u64().and_then(|shares| u32::try_from(shares).ok());
                shares
                    .filter(|shares| *shares <= MOST_SHARES)
                    .map(Shares::Raw)
            }
            None => None,
        };
        let allowed = || format!("a whole number from 0 to {MOST_SHARES}, or \"parent\"");
        found.ok_or_else(|| self.refused(key, allowed()))
    }

    fn rate(&self, key: &str) -> Result<u32, InputError> {
        let found = self.get(key).and_then(Value::as_u64);
        let found = found.and_then(|rate| u32::try_from(rate).ok());
        let found = found.filter(|rate| *rate > 0);
        found.ok_or_else(|| self.refused(key, format!("a whole number from 1 to {}", u32::MAX)))
    }

    fn exit_code(&self, key: &str) -> Result<u32, InputError> {
        let found = self.get(key).and_then(Value::as_u64);
        let found = found.and_then(|code| u32::try_from(code).ok());
        found.ok_or_else(|| self.refused(key, format!("a whole number from 0 to {}", u32::MAX)))
    }

    fn nice(&self, key: &str) -> Result<i64, InputError> {
        const RANGE: std::ops::RangeInclusive<i64> = -2_147_483_645..=2_147_483_645;
        let found = self.get(key).and_then(Value::as_i64);
        found
            .filter(|nice| RANGE.contains(nice))
            .ok_or_else(|| self.refused(key, "a whole number from -2147483645 to 2147483645"))
    }

    fn parts(&self, key: &str) -> Result<Vec<u32>, InputError> {
        let found = self.get(key).and_then(Value::as_array);
        let found = found.filter(|parts| parts.len() <= MAX_PARTS);
        let part = |part: &Value| part.as_u64().and_then(|part| u32::try_from(part).ok());
        let found = found.and_then(|parts| parts.iter().map(part).collect::<Option<Vec<u32>>>());
        found.ok_or_else(|| {
            let allowed = format!(
                "a list of at most {MAX_PARTS} whole numbers from 0 to {}",
                u32::MAX
            );
            self.refused(key, allowed)
        })
    }

    fn length(&self, key: &str) -> Result<u64, InputError> {
        let found = match self.get(key) {
            Some(Value::String(text)) => match parse_time(text) {
                Ok(Time::Secs(secs)) => Some(u64::from(secs) * 1_000_000),
                _ => None,
            },
            Some(value) => value.as_i64().and_then(|micros| u64::try_from(micros).ok()),
            None => None,
        };
        found.ok_or_else(|| self.refused(key, LENGTH))
    }

    fn moment(&self, key: &str) -> Result<Micros, InputError> {
        let found = match self.get(key) {
            Some(Value::String(text)) => {
                let utc = || {
                    let civil: DateTime = text.parse().ok()?;
                    Some(civil.to_zoned(TimeZone::UTC).ok()?.timestamp())
                };
                let time = text.parse::<Timestamp>().ok().or_else(utc);
                let whole = time.filter(|time| time.as_nanosecond() % 1000 == 0);
                whole.map(Timestamp::as_microsecond)
            }
            Some(value) => value.as_i64(),
            None => None,
        };
        // No later than the calendar goes.
        found
            .filter(|micros| (0..=MAX_MOMENT).contains(micros))
            .ok_or_else(|| self.refused(key, MOMENT))
    }
}

/// The end of the year 9999, which every text form of a time can name.
const MAX_MOMENT: Micros = 253_402_300_799_999_999;
