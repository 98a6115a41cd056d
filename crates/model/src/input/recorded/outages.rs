//! Times in which nodes are not for jobs: those that slurmdbd recorded as down or drained, and
//! reservations.
//!
//! | file | output of |
//! |---|---|
//! | `node_events*` | `sacctmgr -P list event start=...`: `NodeName`, `TimeStart`, `TimeEnd`, `State` |
//! | `slurmctld.log` | states that slurmctld logs: slurmdbd is not told of a node that is drained while jobs run on it and resumed before they end |
//! | `reservations*` | `sacctmgr -P list reservation start=... format=name,starttime,endtime,nodenames`, or `scontrol -o show reservation` |

use std::collections::HashMap;

use crate::input::error::{InputError, Problem};
use crate::input::slurm::controller_log::{LogEvent, Logged};
use crate::input::slurm::hostlist::expand;
use crate::input::slurm::time::moment;
use crate::machine::{Machine, Outage, OutageKind};

/// A row of a listing with `|` between its cells, by name of its column.
struct Row<'a> {
    file: &'a str,
    number: usize,
    text: &'a str,
    header: &'a [&'a str],
    cells: Vec<&'a str>,
}

impl<'a> Row<'a> {
    /// The cell of the first of these columns that is there.
    fn get(&self, names: &[&str]) -> Option<&'a str> {
        let mut columns = self.header.iter().zip(&self.cells);
        let found = columns.find(|(name, _)| {
            let mut names = names.iter();
            names.any(|known| name.eq_ignore_ascii_case(known))
        });
        found.map(|(_, cell)| *cell)
    }

    fn value(&self, what: &str, found: &str, allowed: &str) -> InputError {
        let problem = Problem::Value {
            what: what.to_owned(),
            found: found.to_owned(),
            allowed: allowed.to_owned(),
        };
        InputError::new(self.file, problem).at_line(self.number, self.text)
    }

    /// A moment; `None` for `Unknown`, `None` and the like.
    fn moment(&self, names: &[&str]) -> Result<Option<i64>, InputError> {
        let text = self.get(names).unwrap_or("Unknown");
        let found = moment(text);
        let found = found.ok_or_else(|| {
            self.value(
                names[0],
                text,
                "a time such as 2026-03-01T12:00:00, or Unknown",
            )
        })?;
        Ok(Some(found).filter(|secs| *secs > 0))
    }

    /// Positions of the nodes; those that the machine does not have are left out.
    fn nodes(&self, machine: &Machine, names: &[&str]) -> Result<Vec<usize>, InputError> {
        let text = self.get(names).unwrap_or("");
        let list = expand(text)
            .ok_or_else(|| self.value(names[0], text, "a list of names as n[1-4],login"))?;
        let mut nodes: Vec<usize> = list.iter().filter_map(|name| machine.node(name)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        Ok(nodes)
    }
}

/// Rows of a listing, each with its header.
fn rows<'a>(file: &'a str, text: &'a str, header: &'a [&'a str]) -> impl Iterator<Item = Row<'a>> {
    let lines = text.lines().enumerate().skip(1);
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    lines.map(move |(at, line)| Row {
        file,
        number: at + 1,
        text: line,
        header,
        cells: line.split('|').collect(),
    })
}

fn header(text: &str) -> Vec<&str> {
    text.lines().next().unwrap_or("").split('|').collect()
}

/// Nodes that were down or drained. `file` names the listing in messages.
///
/// # Errors
/// A row with a time or a list of nodes that cannot be read; a listing without these columns.
pub(super) fn events(file: &str, text: &str, machine: &Machine) -> Result<Vec<Outage>, InputError> {
    let header = header(text);
    for wanted in ["NodeName", "TimeStart"] {
        needs(file, &header, wanted)?;
    }
    let mut found = Vec::new();
    for row in rows(file, text, &header) {
        let nodes = row.nodes(machine, &["NodeName"])?;
        let state = row.get(&["State"]).unwrap_or("DOWN").to_ascii_uppercase();
        // Events of the whole cluster have no node; others, as planned and maintenance, do not count.
        let away = [
            "DOWN",
            "DRAIN",
            "FAIL",
            "ERROR",
            "NOT_RESPONDING",
            "POWERED_DOWN",
        ];
        let is_away = away.iter().any(|word| state.contains(word));
        let Some(from) = row.moment(&["TimeStart", "Start"])?.filter(|_| is_away) else {
            continue;
        };
        let to = row.moment(&["TimeEnd", "End"])?.unwrap_or(i64::MAX);
        if !nodes.is_empty() && to > from {
            found.push(Outage {
                nodes,
                from,
                to,
                kind: OutageKind::Down,
            });
        }
    }
    Ok(found)
}

/// Nodes that were down or drained by the log of slurmctld; those that the machine does not have are left
/// out. A node comes back where the log says so, or where a job starts on it.
pub(super) fn logged(log: &[Logged], machine: &Machine) -> Vec<Outage> {
    let mut away: HashMap<usize, i64> = HashMap::new();
    let mut found = Vec::new();
    let outage = |node: usize, from: i64, to: i64| Outage {
        nodes: vec![node],
        from,
        to,
        kind: OutageKind::Down,
    };
    for line in log {
        let at = line.at_ms.div_euclid(1000);
        let back = match &line.event {
            LogEvent::NodesAway(names) => {
                let nodes = names.iter().filter_map(|name| machine.node(name));
                nodes.for_each(|node| _ = away.entry(node).or_insert(at));
                continue;
            }
            LogEvent::NodeBack(name) => std::slice::from_ref(name),
            LogEvent::MainStart(_, names) | LogEvent::BackfillStart(_, names) => names,
            _ => continue,
        };
        for node in back.iter().filter_map(|name| machine.node(name)) {
            if let Some(from) = away.remove(&node).filter(|from| *from < at) {
                found.push(outage(node, from, at));
            }
        }
    }
    let mut open: Vec<(usize, i64)> = away.into_iter().collect();
    open.sort_unstable();
    found.extend(
        open.iter()
            .map(|(node, from)| outage(*node, *from, i64::MAX)),
    );
    found
}

/// Reservations, as both commands list them. `file` names the listing in messages.
///
/// # Errors
/// As [`events`].
pub(super) fn reservations(
    file: &str,
    text: &str,
    machine: &Machine,
) -> Result<Vec<Outage>, InputError> {
    let mut found = Vec::new();
    if text.trim_start().starts_with("ReservationName=") {
        for (at, line) in text.lines().enumerate() {
            let words: Vec<(&str, &str)> = line
                .split_whitespace()
                .filter_map(|word| word.split_once('='))
                .collect();
            if words.is_empty() {
                continue;
            }
            let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
            let row = Row {
                file,
                number: at + 1,
                text: line,
                header: &names,
                cells: words.iter().map(|(_, value)| *value).collect(),
            };
            found.extend(reservation(&row, machine)?);
        }
        return Ok(found);
    }
    let header = header(text);
    for row in rows(file, text, &header) {
        found.extend(reservation(&row, machine)?);
    }
    Ok(found)
}

fn reservation(row: &Row<'_>, machine: &Machine) -> Result<Option<Outage>, InputError> {
    let from = row.moment(&["StartTime", "Start", "TimeStart"])?;
    let to = row.moment(&["EndTime", "End", "TimeEnd"])?;
    let nodes = row.nodes(machine, &["Nodes", "NodeNames", "NodeName"])?;
    let (Some(from), Some(to), false) = (from, to, nodes.is_empty()) else {
        return Ok(None);
    };
    Ok((to > from).then_some(Outage {
        nodes,
        from,
        to,
        kind: OutageKind::Reserved,
    }))
}

fn needs(file: &str, header: &[&str], name: &str) -> Result<(), InputError> {
    if header.iter().any(|known| known.eq_ignore_ascii_case(name)) {
        return Ok(());
    }
    let why = format!("has no column {name} in its first line");
    Err(InputError::new(file, Problem::Structure(why)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::slurm::controller_log::JobRef;
    use crate::machine::Node;

    fn machine() -> Machine {
        let node = |name: &str| Node {
            name: name.to_owned(),
            ..Node::default()
        };
        Machine {
            nodes: ["n1", "n2", "n3"].map(node).to_vec(),
            ..Machine::default()
        }
    }

    // sacctmgr(1), scontrol(1).
    #[test]
    fn nodes_that_were_away_are_read() {
        let text = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n\
                    c||2026-03-01T00:00:00|2026-03-01T01:00:00||Cluster registered TRES|\n\
                    c|n2|2026-03-01T00:00:10|2026-03-01T00:01:00|DOWN*|fan|root\n\
                    c|n[1-2]|2026-03-01T00:00:10|Unknown|DRAIN|disk|root\n\
                    c|n3|2026-03-01T00:00:10|Unknown|PLANNED||root\n";
        let found = events("e", text, &machine()).expect("events");
        let begin = 1_772_323_210;
        let shown: Vec<(Vec<usize>, i64, i64)> = found
            .iter()
            .map(|one| (one.nodes.clone(), one.from, one.to))
            .collect();
        assert_eq!(
            shown,
            [(vec![1], begin, begin + 50), (vec![0, 1], begin, i64::MAX)]
        );
        let error = events("e", "NodeName|TimeStart\nn1|soon\n", &machine()).expect_err("an error");
        assert_eq!(error.line, Some(2));
        assert!(events("e", "State\nDOWN\n", &machine()).is_err());
    }

    #[test]
    fn reservations_of_both_commands_are_read() {
        let scontrol = "ReservationName=m StartTime=2026-03-01T00:00:10 EndTime=2026-03-01T00:01:00 \
                        Duration=00:00:50 Nodes=n[2-3] Flags=MAINT\n";
        let sacctmgr =
            "Name|Start|End|NodeNames\nm|2026-03-01T00:00:10|2026-03-01T00:01:00|n[2-3]\n";
        for text in [scontrol, sacctmgr] {
            let found = reservations("r", text, &machine()).expect("reservations");
            assert_eq!(found.len(), 1);
            assert_eq!(
                (found[0].nodes.as_slice(), found[0].kind),
                (&[1, 2][..], OutageKind::Reserved)
            );
        }
    }

    // By hand: n2 comes back when it is resumed, n1 when a job starts on it, n3 never; n9 is not there.
    #[test]
    fn the_log_says_when_nodes_were_away() {
        let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect();
        let job = JobRef { id: 1, task: None };
        let log = [
            (10_500, LogEvent::NodesAway(names(&["n2", "n9"]))),
            (11_000, LogEvent::NodesAway(names(&["n1"]))),
            (12_000, LogEvent::NodesAway(names(&["n2", "n3"]))),
            (20_900, LogEvent::NodeBack("n2".to_owned())),
            (30_000, LogEvent::MainStart(job, names(&["n1", "n2"]))),
            (31_000, LogEvent::NodeBack("n2".to_owned())),
        ];
        let log = log.map(|(at_ms, event)| Logged { at_ms, event });
        let found = logged(&log, &machine());
        let shown: Vec<(usize, i64, i64)> = found
            .iter()
            .map(|outage| (outage.nodes[0], outage.from, outage.to))
            .collect();
        assert_eq!(shown, [(1, 10, 20), (0, 11, 30), (2, 12, i64::MAX)]);
    }
}
