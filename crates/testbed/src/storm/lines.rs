//! The shapes of slurmctld's complaints: a line of the log without what differs from one time to
//! the next.

use std::collections::BTreeSet;

/// Shapes that stock logged in long storms; a storm of a minute does not meet all of them.
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

/// A line of our plugin that says what stock says in other words.
///
/// Between the moment at which `scontrol reconfigure` has recomputed run-seconds and the one at
/// which it tells the plugin of it, a pass may take its seconds from them: then they are taken
/// twice, and a job's end finds too few. Stock's words: `grp_used_tres_run_secs underflow, tried
/// to remove ... seconds when only ... remained`, one line for each counter.
const SAID_BY_STOCK: &str = "counters of GrpTRESRunMins held less than";

/// Is it a line of our plugin, one that stock has no counterpart of?
pub fn is_ours(shape: &str) -> bool {
    shape.contains("priority/fairtree") && !shape.contains(SAID_BY_STOCK)
}

/// Whether a line is not about a priority plugin.
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

/// slurmctld 22.05 looks at its saved jobs without the lock of slurm.conf: while that is read
/// again, it does not know where they are.
const STATE_OF_NOWHERE: &str = "Could not open job state file (null)/job_state";

/// An account was removed while a user was added to it: slurmdbd has the one without the other.
/// slurmctld says so when it reads them at its start, before it loads a priority plugin.
const ORPHAN: &str = "error: Can't find parent id # for assoc #, this should never happen.";

/// slurmctld has been told to end while its own thread saves the jobs (`dump_all_job_state`), under read
/// locks of slurm.conf and of jobs. No priority plugin holds these two, and no others.
const JOBS_ARE_SAVED: &str =
    "error: Locks ACCOUNT set config:R, job:R, node:, partition:, federation:";

/// The storm released a job that it had suspended, so that its priority is not 0. A reconfigure takes such
/// a job for one that gang scheduling suspended, and counts its CPUs beside those of the job that got them
/// meanwhile (`select_p_reconfigure`, `job_res_add_job`).
const RELEASED_WHILE_SUSPENDED: &str =
    "error: job overflow: could not find idle resources for JobId=#";

/// The next line, whatever the locks are: those decide.
const NOTHING_SAVED: &str = "error: Semaphores still set after flushing RPCs";

/// Is it about a clock that answers slowly, or messages still under way when slurmctld stops? That
/// depends on what else the machine has to do.
fn is_of_the_machine(shape: &str) -> bool {
    shape.contains("calls to gettimeofday()") || shape.starts_with("error: agent_fini:")
}

/// Is it about messages that do not come through? Clients give up, slurmctld waits for munged,
/// slurmdbd is slow: that depends on the machine, and no priority plugin sends messages.
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

/// Names of the storm's site, each as the same word.
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

    // A storm on 25.11.7, and one in which a pass was met.
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
