//! Compares two plugins on the same life: the first event after which a field differs, and how.

use std::collections::BTreeMap;

use anyhow::{Result, bail};

use super::documented;
use super::host::Dump;
use super::life::Life;
use super::outcome::{Difference, Field, Outcome, Pair};
use super::promise::Promise;

/// The owners of a field's two values.
const LABELS: [&str; 2] = ["stock", "ours"];

/// The host's ending if a plugin damaged memory.
const MEMORY_DAMAGED: &str = "exit 5";

/// Plays a life with both plugins.
///
/// # Errors
///
/// Fails if the host does not run or refuses the life.
pub fn compare(pair: &Pair<'_>, life: &Life) -> Result<Outcome> {
    if pair.promise == Promise::Documented {
        return documented::compare(pair, life);
    }
    let stock = pair.host.play(pair.stock, life, None)?;
    let refused = stock.ending.starts_with("exit") && !stock.ending.starts_with(MEMORY_DAMAGED);
    if refused && stock.ending != "exit 0" {
        bail!("stock does not play this life: {}", stock.ending);
    }
    let ours = pair.host.play(pair.ours, life, None)?;
    // A plugin that is compared with itself dies in both runs.
    if stock.ending != "exit 0" && (ours.ending == "exit 0" || pair.stock == pair.ours) {
        return Ok(Outcome::StockDies(stock.ending));
    }
    let endings = (stock.ending != "exit 0" || ours.ending != "exit 0")
        .then(|| (stock.ending.clone(), ours.ending.clone()));
    let Some(line) = first_line(&stock, &ours) else {
        return Ok(match endings {
            None => Outcome::Same,
            endings => Outcome::Differs(Box::new(Difference {
                line: 0,
                event: String::new(),
                endings,
                fields: vec![],
                labels: LABELS,
            })),
        });
    };
    let stock = fields_after(&pair.host.play(pair.stock, life, Some((line, line)))?);
    let ours = fields_after(&pair.host.play(pair.ours, life, Some((line, line)))?);
    Ok(Outcome::Differs(Box::new(Difference {
        line,
        event: life.lines[line - 1].clone(),
        endings,
        fields: differing(&stock, &ours),
        labels: LABELS,
    })))
}

/// The first line of the life after which the dumps differ: both have it and differ, or one has
/// ended.
fn first_line(stock: &Dump, ours: &Dump) -> Option<usize> {
    let length = stock.lines.len().max(ours.lines.len());
    let at = (0..length).find(|index| stock.lines.get(*index) != ours.lines.get(*index))?;
    let line = stock.lines.get(at).or_else(|| ours.lines.get(at))?;
    line.split(' ').nth(1)?.parse().ok()
}

/// `record id field` and value of a full dump.
fn fields_after(dump: &Dump) -> BTreeMap<String, String> {
    let lines = dump.lines.iter().filter(|line| !line.starts_with('='));
    fields(lines.map(String::as_str))
}

/// `record id field` and value of some lines of a full dump.
pub fn fields<'a>(lines: impl Iterator<Item = &'a str>) -> BTreeMap<String, String> {
    let mut fields = BTreeMap::new();
    for line in lines {
        let mut words = line.splitn(4, ' ');
        let name: Vec<&str> = words.by_ref().take(3).collect();
        let value = words.next().unwrap_or_default();
        let mut key = name.join(" ");
        // A field that appears twice in a record, such as the names of a list, is numbered.
        for copy in 2.. {
            if !fields.contains_key(&key) {
                break;
            }
            key = format!("{}[{copy}]", name.join(" "));
        }
        fields.insert(key, value.to_owned());
    }
    fields
}

fn differing(stock: &BTreeMap<String, String>, ours: &BTreeMap<String, String>) -> Vec<Field> {
    let absent = || "(absent)".to_owned();
    let mut names: Vec<&String> = stock.keys().chain(ours.keys()).collect();
    names.sort();
    names.dedup();
    names
        .into_iter()
        .filter(|name| stock.get(*name) != ours.get(*name))
        .map(|name| Field {
            name: name.clone(),
            stock: stock.get(name).cloned().unwrap_or_else(absent),
            ours: ours.get(name).cloned().unwrap_or_else(absent),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dump(lines: &[&str]) -> Dump {
        Dump {
            ending: "exit 0".to_owned(),
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        }
    }

    #[test]
    fn the_first_line_that_differs() {
        let stock = dump(&["= 4 boot aa", "= 5 pass bb", "= 6 pass cc"]);
        assert_eq!(first_line(&stock, &stock), None);
        let ours = dump(&["= 4 boot aa", "= 5 pass bc", "= 6 pass cd"]);
        assert_eq!(first_line(&stock, &ours), Some(5));
        let short = dump(&["= 4 boot aa", "= 5 pass bb"]);
        assert_eq!(first_line(&stock, &short), Some(6));
    }

    #[test]
    fn fields_by_name_and_copy() {
        let stock = fields_after(&dump(&[
            "job 3 part p1",
            "job 3 part p2",
            "job 3 array[1] 7",
        ]));
        let ours = fields_after(&dump(&["job 3 part p2", "job 3 part p2"]));
        let fields = differing(&stock, &ours);
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["job 3 array[1]", "job 3 part"]);
        assert_eq!(fields[0].ours, "(absent)");
        assert_eq!(fields[0].kind(), "job array");
    }
}
