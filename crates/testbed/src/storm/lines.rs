//! The shapes of slurmctld's error lines: a log line without the parts that differ from one time to
//! the next.

use std::collections::BTreeSet;

/// Shapes that stock logged in long storms; a storm of a minute does not produce all of them.
const KNOWN: &str = include_str!("stock-lines.txt");

/// Shapes of all errors, warnings and worse.
pub fn shapes(log: &str) -> BTreeSet<String> {
    log.lines().filter_map(shape).collect()
}

/// Shapes that stock is known to log.
pub fn known_of_stock() -> BTreeSet<&'static str> {
    let lines = KNOWN.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

/// A line of our plugin for an error that stock also logs, in different words.
///
/// `scontrol reconfigure` recomputes run-seconds, and notifies the plugin later. A pass in between
/// may subtract its seconds: then they are subtracted twice, and at the end of a job too few are
/// left. Stock's words: `grp_used_tres_run_secs underflow, tried to remove ... seconds when only
/// ... remained`, one line for each counter.
const SAID_BY_STOCK: &str = "GrpTRESRunMins underflow in";

/// Returns true for a line of our plugin without a counterpart in stock.
pub fn is_ours(shape: &str) -> bool {
    shape.contains("priority/fairtree") && !shape.contains(SAID_BY_STOCK)
}

/// Returns true if a line is not about a priority plugin.
pub fn is_harmless(shape: &str) -> bool {
    is_of_the_network(shape)
        || is_of_the_machine(shape)
        || shape.contains(STATE_OF_NOWHERE)
        || shape == ORPHAN
        || shape == JOBS_ARE_SAVED
        || shape == RELEASED_WHILE_SUSPENDED
        || shape.starts_with(NOTHING_SAVED)
        || shape.contains(SAID_BY_STOCK)
}

/// slurmctld 22.05 reads its saved jobs without the lock of slurm.conf: while slurm.conf is read
/// again, it does not know where they are.
const STATE_OF_NOWHERE: &str = "Could not open job state file (null)/job_state";

/// An account was removed while a user was added to it: slurmdbd has the user without the account.
/// slurmctld logs this when it reads them at its start, before it loads a priority plugin.
const ORPHAN: &str = "error: Can't find parent id # for assoc #, this should never happen.";

/// slurmctld is shutting down while its own thread saves the jobs (`dump_all_job_state`), with read
/// locks of slurm.conf and of jobs. No priority plugin holds exactly these two locks.
const JOBS_ARE_SAVED: &str =
    "error: Locks ACCOUNT set config:R, job:R, node:, partition:, federation:";

/// The storm released a job that it had suspended, so its priority is not 0. A reconfigure then
/// assumes that gang scheduling suspended the job, and counts its CPUs in addition to those of the
/// job that runs on them now (`select_p_reconfigure`, `job_res_add_job`).
const RELEASED_WHILE_SUSPENDED: &str =
    "error: job overflow: could not find idle resources for JobId=#";

/// The line after it, for any locks; the locks in the line before decide.
const NOTHING_SAVED: &str = "error: Semaphores still set after flushing RPCs";

/// Returns true for lines about a slow clock, or about messages still on their way when slurmctld
/// stops. They depend on the load of the machine.
fn is_of_the_machine(shape: &str) -> bool {
    shape.contains("calls to gettimeofday()") || shape.starts_with("error: agent_fini:")
}

/// Returns true for lines about lost messages: clients give up, slurmctld waits for munged, or
/// slurmdbd is slow. They depend on the machine, and no priority plugin sends messages.
fn is_of_the_network(shape: &str) -> bool {
    let words = [
        "unge",
        "auth_g_",
        "uthentication",
        "slurm_receive_msg",
        "slurm_msg_sendto",
        "slurm_send_node_msg",
        "persist",
        "Persist",
        "_conn_readable",
        "Connection refused",
        "DBD_",
        "MaxDBDMsgs",
    ];
    words.iter().any(|word| shape.contains(word))
}

fn shape(line: &str) -> Option<String> {
    let message = line.split_once("] ")?.1;
    let bad = ["error:", "fatal:", "warning:", "internal error"];
    if !bad.iter().any(|word| message.contains(word)) {
        return None;
    }
    let mut shape = String::new();
    for word in message.split(' ') {
        if !shape.is_empty() {
            shape.push(' ');
        }
        let mut digits = false;
        for letter in word.chars() {
            match (letter.is_ascii_digit(), digits) {
                (true, true) => {}
                (true, false) => shape.push('#'),
                (false, _) => shape.push(letter),
            }
            digits = letter.is_ascii_digit();
        }
    }
    // The clusters of a run differ in the prefix of their users: ft-, ft2-.
    let shape = shape.replace("ft#-", "ft-");
    Some(without_names(&shape))
}

/// Replaces each kind of names of the storm's site by one word.
fn without_names(shape: &str) -> String {
    const NAMES: [(&[&str], &str); 4] = [
        (&["ft-ann", "ft-bob", "ft-cyd", "ft-dan", "ft-eve"], "USER"),
        (&["upper", "left", "right", "lower", "guests#"], "ACCOUNT"),
        (&["normal", "high", "low"], "QOS"),
        (&["main,debug", "debug,main", "main", "debug"], "PARTITION"),
    ];
    let is_word = |letter: char| letter.is_alphanumeric() || "#_-".contains(letter);
    let mut out = String::new();
    let mut rest = shape;
    'words: while !rest.is_empty() {
        let begins = !out.ends_with(is_word);
        for (names, word) in NAMES {
            let name = names.iter().find(|name| {
                begins
                    && rest
                        .strip_prefix(**name)
                        .is_some_and(|after| !after.starts_with(is_word))
            });
            if let Some(name) = name {
                out.push_str(word);
                rest = &rest[name.len()..];
                continue 'words;
            }
        }
        let first = rest.chars().next().map_or(0, char::len_utf8);
        out.push_str(&rest[..first]);
        rest = &rest[first..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_time_to_time_goes() {
        let log = "[2026-01-02T03:04:05.678] error: job 12_7 of ft2-ann in account left: 3.5 s\n\
                   [2026-01-02T03:04:05.678] sched: Allocate JobId=7\n\
                   [2026-01-02T03:04:06.678] error: job 9_12 of ft-eve in account lower: 0.25 s\n";
        let expected = "error: job #_# of USER in account ACCOUNT: #.# s";
        assert_eq!(shapes(log).into_iter().collect::<Vec<_>>(), [expected]);
    }

    // Lines from a storm on 25.11.7, and from one that ended during a pass.
    #[test]
    fn locks_of_slurmctlds_own_save_are_told_from_those_of_a_pass() {
        let log = |locks: &str| {
            format!("[2026-11-26T12:22:49.432] error: Locks left set {locks}, federation:\n")
        };
        let is_harmless = |locks: &str| shapes(&log(locks)).iter().all(|line| is_harmless(line));
        assert!(is_harmless("config:R, job:R, node:, partition:"));
        assert!(!is_harmless("config:, job:R, node:R, partition:R"));
        assert!(!is_harmless("config:, job:R, node:, partition:"));
    }

    #[test]
    fn names_inside_words_stay() {
        assert_eq!(without_names("main: allowed low"), "PARTITION: allowed QOS");
    }
}
