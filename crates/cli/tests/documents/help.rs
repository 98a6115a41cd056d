//! The examples of each subcommand's help text, and the exit codes that it states.

use crate::command::fairtree;
use crate::sandbox::Sandbox;

/// The subcommands that `fairtree --help` lists.
fn subcommands() -> Vec<String> {
    let help = fairtree(&["--help"], b"").out;
    let (list, _) = help.split_once("\nOptions:\n").expect("options");
    // What is continued is deeper.
    let lines = list.lines();
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let name = |line: &str| line.split_whitespace().next().map(str::to_owned);
    let names: Vec<String> = names.filter_map(name).collect();
    // The service is a program of its own: its options are tested with it.
    let others = ["apply", "help", "login", "serve"];
    let tested = names
        .into_iter()
        .filter(|name| !others.contains(&name.as_str()));
    tested.chain(["completions".to_owned()]).collect()
}

/// The lines below a heading of a help text.
fn section<'a>(help: &'a str, heading: &str) -> Vec<&'a str> {
    let (_, after) = help
        .split_once(&format!("\n{heading}:\n"))
        .unwrap_or_else(|| panic!("{heading}: {help}"));
    let lines = after.lines();
    lines.take_while(|line| !line.trim().is_empty()).collect()
}

fn help(subcommand: &str) -> String {
    fairtree(&[subcommand, "--help"], b"").out
}

/// Each example, without the remark that may stand behind three blanks.
fn examples(help: &str) -> Vec<String> {
    let joined = section(help, "Examples").join("\n").replace("\\\n", " ");
    let commands = joined.lines().map(|line| {
        let line = line.trim();
        let commands = line.split("   ").filter(|part| !part.is_empty());
        let continued = |part: &&str| part.trim_start().starts_with("| ");
        let mut commands = commands.peekable();
        let mut command = commands.next().expect("a command").to_owned();
        while let Some(part) = commands.next_if(continued) {
            command.push_str(part);
        }
        command
    });
    commands.collect()
}

/// The codes that a help text states.
fn exit_codes(help: &str) -> Vec<i32> {
    let lines = section(help, "Exit codes");
    let code = |line: &&str| {
        line.split_whitespace()
            .next()
            .and_then(|word| word.parse().ok())
    };
    lines.iter().filter_map(code).collect()
}

#[test]
fn every_subcommand_has_examples_and_each_works() {
    let subcommands = subcommands();
    assert_eq!(subcommands.len(), 19, "{subcommands:?}");
    for subcommand in &subcommands {
        let help = help(subcommand);
        let codes = exit_codes(&help);
        let examples = examples(&help);
        assert!(examples.len() >= 4, "{subcommand}: {examples:?}");
        let sandbox = Sandbox::new();
        for example in &examples {
            let named = example.contains(&format!("fairtree {subcommand}"));
            assert!(named || subcommand == "capture", "{example}");
            let ran = sandbox.run(example, &[]);
            let code = ran.status.code().expect("no signal");
            let said = String::from_utf8_lossy(&ran.stderr);
            // 1 tells that there is something to find, where it is stated at all.
            assert!(
                code < 2 && codes.contains(&code),
                "{example}: {code}: {said}"
            );
            assert!(!said.contains("error"), "{example}: {said}");
        }
    }
}

/// A replay that takes long, ended by a signal as soon as it holds signals: as Ctrl-C would.
const STOPPED: &str = "seq 3000 | sed 's/.*/& 0 -1 9 1 -1 -1 1 &0 -1 1 1 1 -1 -1 -1 -1 -1/' > long.swf; \
     fairtree simulate --scheduler conservative --procs 2 long.swf & \
     until grep -q '^SigBlk:.*4003$' /proc/$!/status; do sleep 0.01; done; kill -INT $!; wait $!";

const STOPPED_FORECASTS: &str = "seq 3000 | sed 's/.*/& 0 -1 9 1 -1 -1 1 &0 -1 1 1 1 -1 -1 -1 -1 -1/' > long.swf; \
     fairtree forecast --scheduler conservative --procs 2 --score long.swf & \
     until grep -q '^SigBlk:.*4003$' /proc/$!/status; do sleep 0.01; done; kill -INT $!; wait $!";

const STOPPED_WHAT_IF: &str = "{ printf 'now = 2026-03-08T12:00:00Z\\n[[nodes]]\\nname = \"n1\"\\n\
     [partitions.p]\\nnodes = \"ALL\"\\n[accounts.a]\\nusers.u = {}\\n'; \
     seq 3000 | sed 's/.*/[[jobs]]\\nid = &\\nuser = \"u\"\\naccount = \"a\"\\ntime_limit = 90/'; } > long.toml; \
     fairtree what-if --after 365-0 long.toml & \
     until grep -q '^SigBlk:.*4003$' /proc/$!/status; do sleep 0.01; done; kill -INT $!; wait $!";

/// For each subcommand a call for each code that its help states: 0, 1 where it compares or checks,
/// 2 for input and for options.
#[test]
fn exit_codes_are_those_that_the_help_states() {
    let calls: [(&str, &[(i32, &str)]); 19] = [
        (
            "shares",
            &[
                (0, "shares examples/hubs.toml"),
                (0, "shares --shares physics=4 site.toml"),
                (2, "shares --below nobody site.toml"),
                (2, "shares --below physics --shares physics=4 site.toml"),
                (2, "shares site.toml > /dev/full"),
            ],
        ),
        (
            "share",
            &[
                (0, "share site.toml"),
                (0, "share --check week/20261121T103630Z/sshare-al.txt"),
                (1, "share --check monday.sshare"),
                (2, "share absent.toml"),
                (2, "share --colour"),
                (2, "share site.toml > /dev/full"),
            ],
        ),
        (
            "explain",
            &[
                (0, "explain 4711 --from week"),
                (0, "explain alice site.toml"),
                (2, "explain 99 --from week"),
                (2, "explain"),
                (2, "explain 4711 --from week > /dev/full"),
            ],
        ),
        (
            "what-if",
            &[
                (0, "what-if --shares physics=4 site.toml"),
                (1, STOPPED_WHAT_IF),
                (2, "what-if site.toml"),
                (2, "what-if --shares nobody=4 site.toml"),
                (2, "what-if --shares physics=4 site.toml > /dev/full"),
            ],
        ),
        (
            "cost",
            &[
                (0, "cost --job 4711 -t 60 site.toml"),
                (2, "cost --job 99 site.toml"),
                (2, "cost"),
                (2, "cost --job 4711 -t 60 site.toml > /dev/full"),
            ],
        ),
        (
            "lint",
            &[
                (0, "lint etc/slurm/slurm.conf"),
                (1, "lint slurm.conf"),
                (2, "lint absent.conf"),
                (2, "lint"),
                (2, "lint slurm.conf > /dev/full"),
            ],
        ),
        (
            "prio",
            &[
                (0, "prio earlier.sprio"),
                (0, "prio --from week --check"),
                (
                    1,
                    "sed '2s/ 63206 / 63306 /' earlier.sprio | fairtree prio --check",
                ),
                (2, "prio absent"),
                (2, "prio -S z earlier.sprio"),
                (2, "prio earlier.sprio > /dev/full"),
            ],
        ),
        (
            "capture",
            &[
                (0, "capture --list week"),
                (0, "capture new-week"),
                (2, "capture --list absent"),
                (2, "capture slurm.conf"),
                (2, "capture --list week > /dev/full"),
            ],
        ),
        (
            "compare",
            &[
                (0, "compare monday tuesday"),
                (
                    1,
                    "compare tests/compare/before.txt tests/compare/after.txt",
                ),
                (2, "compare monday absent"),
                (2, "compare monday"),
                (
                    2,
                    "compare tests/compare/before.txt tests/compare/after.txt > /dev/full",
                ),
            ],
        ),
        (
            "chart",
            &[
                (0, "chart --from week"),
                (2, "chart absent"),
                (2, "chart --format jpeg site.toml"),
                (2, "chart --from week > /dev/full"),
            ],
        ),
        (
            "simulate",
            &[
                (0, "simulate --procs 64 examples/week.swf"),
                (1, STOPPED),
                (2, "simulate examples/week.swf"),
                (2, "simulate --procs 0 examples/week.swf"),
                (2, "simulate --procs 64 absent.swf"),
                (2, "simulate --procs 64 site.toml"),
                (2, "simulate --procs 64 --phases 3 examples/week.swf"),
                (
                    2,
                    "simulate --site examples/cluster --against examples/day.sacct",
                ),
                (2, "simulate --procs 64 examples/week.swf > /dev/full"),
            ],
        ),
        (
            "sweep",
            &[
                (0, "sweep examples/sweep.toml"),
                (0, "sweep examples/sweep.toml --shard 1/2"),
                (
                    1,
                    "rm examples/*.runs; fairtree sweep examples/sweep.toml --merge",
                ),
                (2, "sweep absent.toml"),
                (2, "sweep site.toml"),
                (2, "sweep examples/sweep.toml --shard 3/2"),
                (2, "sweep examples/sweep.toml > /dev/full"),
            ],
        ),
        (
            "forecast",
            &[
                (0, "forecast --procs 64 --score examples/week.swf"),
                (1, STOPPED_FORECASTS),
                (0, "forecast 4711 --from week"),
                (2, "forecast 1 --from week"),
                (2, "forecast --score examples/week.swf"),
                (2, "forecast --procs 64 --score absent.swf"),
                (2, "forecast --procs 64 --draws 1 --score examples/week.swf"),
                (
                    2,
                    "forecast --procs 64 --score examples/week.swf > /dev/full",
                ),
            ],
        ),
        (
            "bill",
            &[
                (0, "bill -p examples/prices.toml sacct.txt"),
                (
                    1,
                    "printf 'JobID|User|Start|State|ElapsedRaw|NCPUS|AdminComment\\n\
                     7|ann|2026-01-01T00:00:00|COMPLETED|1|1|executed_us=3000000\\n' | \
                     fairtree bill -p <(printf 'execution_microsecond = 1\\n')",
                ),
                (2, "bill sacct.txt"),
                (2, "bill -p absent.toml sacct.txt"),
                (2, "bill -p examples/prices.toml site.toml"),
                (2, "bill -p examples/prices.toml sacct.txt > /dev/full"),
            ],
        ),
        (
            "doctor",
            &[
                (
                    0,
                    "export PATH=\"$PWD/well:$PATH\"; SLURM_CONF=well/slurm.conf fairtree doctor",
                ),
                (1, "doctor --next 24.11.5"),
                (2, "doctor --next soon"),
                (2, "doctor --time-limit 0"),
                (2, "doctor > /dev/full"),
            ],
        ),
        (
            "queue",
            &[
                (0, "queue examples/cloud.toml --events examples/cloud.jsonl"),
                (2, "queue absent.toml"),
                (2, "queue site.toml"),
                (2, "queue examples/cloud.toml --bill"),
                (
                    2,
                    "queue examples/cloud.toml --events examples/cloud.jsonl > /dev/full",
                ),
            ],
        ),
        (
            "metrics",
            &[
                (0, "metrics --from week"),
                (0, "metrics -o new.prom site.toml"),
                (2, "metrics absent.toml"),
                (2, "metrics --users many site.toml"),
                (2, "metrics --from week > /dev/full"),
            ],
        ),
        (
            "completions",
            &[
                (0, "completions bash"),
                (2, "completions csh"),
                (2, "completions bash > /dev/full"),
            ],
        ),
        (
            "ledger",
            &[
                (0, "ledger show --dir ledgers"),
                (0, "ledger check --dir ledgers --files"),
                (
                    1,
                    "mkdir d; echo x > d/priority_fairtree_ledger; fairtree ledger check --files --dir d",
                ),
                (2, "ledger show --dir absent"),
                (2, "ledger fill --dir ledgers --from accounting.txt"),
                (2, "ledger show --dir ledgers > /dev/full"),
            ],
        ),
    ];
    let known: Vec<&str> = calls.iter().map(|(name, _)| *name).collect();
    let mut listed = subcommands();
    listed.sort_by_key(|name| known.iter().position(|known| known == name));
    assert_eq!(listed, known);
    let sandbox = Sandbox::new();
    for (subcommand, calls) in calls {
        let stated = exit_codes(&help(subcommand));
        for code in &stated {
            assert!(
                calls.iter().any(|(known, _)| known == code),
                "{subcommand} {code}"
            );
        }
        for (code, call) in calls {
            let command = match call.contains("fairtree") {
                true => (*call).to_owned(),
                false => format!("fairtree {call}"),
            };
            let ran = sandbox.run(&command, &[]);
            let said = String::from_utf8_lossy(&ran.stderr);
            assert_eq!(ran.status.code(), Some(*code), "{call}: {said}");
            assert!(stated.contains(code), "{call}: the help states {stated:?}");
            if *code == 2 {
                assert!(said.contains("error: "), "{call}: {said}");
                assert!(ran.stdout.is_empty(), "{call}");
            }
        }
    }
}

/// A reader that closes the pipe early, as `head` does, is no error: nothing is said, and the code is that of the
/// whole answer.
#[test]
fn a_pipe_that_is_closed_early_is_no_error() {
    let sandbox = Sandbox::new();
    // More than a pipe holds.
    let mut site = String::from("now = 2026-03-08T12:00:00Z\n[accounts.a.users]\n");
    (0..1500).for_each(|user| site.push_str(&format!("user{user} = {{}}\n")));
    for job in 1..1500 {
        site.push_str(&format!(
            "[[jobs]]\nid = {job}\nuser = 'user{job}'\naccount = 'a'\n"
        ));
    }
    std::fs::write(sandbox.path("large.toml"), site).expect("written");
    let mut conf = String::from("PriorityType=priority/multifactor\n");
    (0..1000).for_each(|at| conf.push_str(&format!("PriorityWeigthAge{at}=1\n")));
    std::fs::write(sandbox.path("large.conf"), conf).expect("written");
    for call in [
        "share large.toml",
        "share --json large.toml",
        "share --tree large.toml",
        "share --html large.toml",
        "share --svg large.toml",
        "prio large.toml",
        "prio --json large.toml",
        "explain 7 --versus 8 large.toml",
        "what-if --after 1-0 --top 0 -a large.toml",
        "what-if --after 1-0 --json large.toml",
        "cost --job 7 -t 60 large.toml",
        "lint large.conf",
        "lint --json large.conf",
        "compare tests/compare/before.txt tests/compare/after.txt",
        "chart --format json large.toml",
        "capture --list week",
        "queue examples/cloud.toml --events examples/cloud.jsonl --table",
        "simulate --procs 64 --json examples/week.swf",
        "simulate examples/day.sacct --site examples/cluster --scheduler slurm --against --shares biology=80 --phases 2 --csv",
        "sweep examples/sweep.toml --json",
        "forecast --procs 64 --json --score examples/week.swf",
        "bill -p examples/prices.toml --json sacct.txt",
        "ledger show --dir ledgers --json",
        "doctor --json",
        "lint --rules",
        "--help",
        "share --help",
    ] {
        let whole = sandbox.run(&format!("fairtree -q {call} > whole"), &[]);
        let whole = whole.status.code();
        // The first byte is there, the rest is not wanted.
        let command = format!("fairtree -q {call} | head -c 1 > first; echo ${{PIPESTATUS[0]}}");
        let ran = sandbox.run(&command, &[]);
        let said = String::from_utf8_lossy(&ran.stderr);
        let code = String::from_utf8_lossy(&ran.stdout)
            .trim()
            .parse::<i32>()
            .ok();
        assert_eq!((code, said.as_ref()), (whole, ""), "{call}");
    }
}
