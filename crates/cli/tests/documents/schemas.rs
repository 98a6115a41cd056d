//! The JSON of each command against the page that describes it.

use std::collections::BTreeSet;

use fairtree_model::input::capture::{Entry, Manifest};
use fairtree_model::input::slurm::snapshot::Source;
use serde_json::Value;

use crate::console::document;
use crate::data::data;
use crate::sandbox::Sandbox;

/// A page, its schema, and calls whose answers together have every field of it.
const PAGES: [(&str, &str, &[&str]); 17] = [
    (
        "docs/json.md",
        "fairtree.shares/1",
        &[
            "shares --json --below hub_a --shares a_group2=2 examples/hubs.toml",
            "shares --json --policy examples/minutes.toml examples/instances.toml",
        ],
    ),
    (
        "docs/json.md",
        "fairtree.share/1",
        &[
            "share --json --from week",
            "share --json site.toml",
            "share --json --policy policy.toml site.toml",
            "share --json examples/hubs.toml",
            "sed '/^root/d' monday.sshare | fairtree share --json",
            "sshare -a -l | fairtree share --json",
        ],
    ),
    (
        "docs/json.md",
        "fairtree.prio/1",
        &[
            "prio --json --from week",
            "prio --json earlier.sprio",
            "sed '2s/ 63206 / 63306 /' earlier.sprio | fairtree prio --json",
            "printf 'JOBID|TRES|\\n7|cpu=1,gres/g|\\n' | fairtree prio --json",
        ],
    ),
    (
        "docs/json.md",
        "fairtree.explain/1",
        &[
            "explain 4711 --json --from week",
            "explain 312 --json --from week",
            "explain 4711 --versus 4712 --json --from week",
            "explain frank --versus carol --json --from week",
            "explain 4 --versus 5 --json earlier.sprio",
            "explain 101 --versus 102 --json examples/queue.toml",
            "printf 'ranking = \"least_used:1\"\\norder = \"interleaved\"\\n' > order.toml; \
             fairtree explain 101 --json --policy order.toml examples/queue.toml; \
             fairtree explain 101 --versus 102 --json --policy order.toml examples/queue.toml",
        ],
    ),
    (
        "docs/json.md",
        "fairtree.what-if/1",
        &[
            "what-if --shares physics=7 --hold 4711 --json --from week",
            "what-if --hold 4711 --after 2:00:00 --json --from week",
        ],
    ),
    (
        "docs/json.md",
        "fairtree.cost/1",
        &[
            "cost --job 4711 --json --from week",
            "cost --job 101 --json examples/queue.toml",
        ],
    ),
    (
        "docs/json.md",
        "fairtree.lint/1",
        &["lint --json slurm.conf", "lint --json etc/slurm/slurm.conf"],
    ),
    ("docs/json.md", "fairtree.doctor/1", &["doctor --json"]),
    (
        "docs/json.md",
        "fairtree.compare/1",
        &["compare --json tests/compare/before.txt tests/compare/after.txt"],
    ),
    (
        "docs/json.md",
        "fairtree.chart/1",
        &[
            "chart --format json --from week",
            "chart --format json log.swf.gz",
            "chart --format json site.toml",
        ],
    ),
    (
        "docs/queue.md",
        "fairtree.queue/1",
        &[
            "queue examples/cloud.toml --events examples/cloud.jsonl --positions --estimate",
            "queue examples/on_demand.toml --events examples/on_demand.jsonl --bill",
            "echo '{\"event\": \"standing\", \"account\": \"a\", \"user\": \"u\"}' | \
             fairtree queue <(printf 'now = 2026-01-01T00:00:00Z\n[machines.m]\n[accounts.a.users.u]\n')",
            // Ten runs in the past give an estimate a band.
            "(for i in 1 2 3 4 5 6 7 8 9 10; do \
             echo '{\"event\":\"submit\",\"job\":'$i',\"account\":\"gamma\",\"machine\":\"m2\",\"expected\":9}'; \
             echo '{\"event\":\"start\",\"job\":'$i'}'; \
             echo '{\"event\":\"finish\",\"job\":'$i',\"outcome\":\"COMPLETED\",\"time\":\"2026-03-02T08:01:'$((i+9))'Z\"}'; done; \
             echo '{\"event\":\"submit\",\"job\":11,\"account\":\"gamma\",\"machine\":\"m2\",\"expected\":9}'; \
             echo '{\"event\":\"estimate\"}'; \
             echo '{\"event\":\"limit\",\"limit\":5}'; \
             echo '{\"event\":\"price\",\"machine\":\"m1\",\"reserved_second\":2}') | \
             fairtree queue examples/on_demand.toml",
            "printf '{\"event\":\"shares\",\"account\":\"a\",\"shares\":2}\n\
             {\"event\":\"minutes\",\"account\":\"a\",\"minutes\":9}\n' | \
             fairtree queue <(printf 'now = 2026-01-01T00:00:00Z\n[machines.m]\n[accounts.a]\n')",
        ],
    ),
    (
        "docs/simulate.md",
        "fairtree.simulate/1",
        &[
            "simulate --procs 64 --json examples/week.swf",
            "simulate --check RECORDED --json",
            "simulate examples/day.sacct --site examples/cluster --scheduler slurm --against --shares biology=80 --phases 2 --json",
        ],
    ),
    (
        "docs/sweep.md",
        "fairtree.sweep/1",
        &["sweep examples/sweep.toml --json"],
    ),
    (
        "docs/forecast.md",
        "fairtree.forecast/1",
        &[
            "forecast --procs 64 --json --score examples/week.swf",
            "forecast 4711 --json --from week",
            "forecast 4711 --json",
        ],
    ),
    (
        "docs/bill.md",
        "fairtree.bill/1",
        &[
            "bill --prices examples/prices.toml --json sacct.txt",
            "sed -e '2s/COMPLETED/NODE_FAIL/' -e '4s/COMPLETED/CANCELLED/' sacct.txt | \
             fairtree bill --prices examples/prices.toml --counts COMPLETED --json",
            "printf 'JobID|User|Start|State|ElapsedRaw|NCPUS|AdminComment\\n\
             7|ann|2026-01-01T00:00:00|COMPLETED|1|1|executed_us=3000000\\n' | \
             fairtree bill --json -p <(printf 'execution_microsecond = 1\\n')",
        ],
    ),
    (
        "docs/ledger.md",
        "fairtree.ledger/1",
        &[
            "ledger show --dir ledgers --json",
            "ledger check --dir ledgers --from accounting.txt --json",
        ],
    ),
    ("docs/capture.md", "fairtree.capture/1", &[]),
];

/// The page of several schemas, a section for each.
const SECTIONS: &str = "docs/json.md";

/// The part of a document about a schema.
fn part(page: &str, schema: &str) -> String {
    let text = document(page);
    if page != SECTIONS {
        return text;
    }
    let mut sections = text.split("\n## ").skip(1);
    let named = format!("`schema` | `\"{schema}\"`");
    let plain = format!("`schema` | `{schema}`");
    let found = sections.find(|section| section.contains(&named) || section.contains(&plain));
    found
        .unwrap_or_else(|| panic!("{page}: {schema}"))
        .to_owned()
}

/// Every key of an object in a value, however deep.
fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                found.insert(key.clone());
                keys(value, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

/// What stands between backticks in a text.
fn code(text: &str) -> BTreeSet<String> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// The fields that the tables of a page explain: the first cells below a heading `field`.
fn fields(page: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut in_table = false;
    for line in page.lines() {
        match line.strip_prefix("| ") {
            Some(row) if row.starts_with("field") => in_table = true,
            Some(row) if in_table => found.extend(code(row.split(" | ").next().unwrap_or(""))),
            Some(_) => {}
            None => in_table = in_table && line.starts_with('|'),
        }
    }
    assert!(!found.is_empty(), "{page}");
    found
}

#[test]
fn json_has_the_fields_that_its_page_explains_and_no_others() {
    let sandbox = Sandbox::new();
    for (page, schema, calls) in PAGES {
        let text = part(page, schema);
        let whole = document(page);
        assert!(whole.contains(&format!("`{schema}`")), "{page}: {schema}");
        assert!(
            whole.contains("same schema version") || whole.contains("The number rises"),
            "{page}"
        );
        let mut found = BTreeSet::new();
        // A recorded run of a cluster is among the data, which may be absent.
        let recorded = match calls.iter().any(|call| call.contains("RECORDED")) {
            true => match data("slurm/ordinary") {
                Some(path) => path.display().to_string(),
                None => continue,
            },
            false => String::new(),
        };
        for call in calls {
            let call = call.replace("RECORDED", &recorded);
            // The checkout may have that name, too.
            let command = match call.split_whitespace().any(|word| word == "fairtree") {
                true => call.clone(),
                false => format!("fairtree {call}"),
            };
            let ran = sandbox.run(&command, &[]);
            let said = String::from_utf8_lossy(&ran.stderr);
            let documents = serde_json::Deserializer::from_slice(&ran.stdout).into_iter::<Value>();
            let documents: Result<Vec<Value>, _> = documents.collect();
            let documents = documents.unwrap_or_else(|error| panic!("{call}: {error}: {said}"));
            // Of several lines the first one tells the schema of all.
            let first = documents
                .first()
                .unwrap_or_else(|| panic!("{call}: {said}"));
            // A page may explain two documents of one command.
            let named = first["schema"].as_str().expect("a schema");
            let explained = named == schema || text.contains(&format!("`{named}`"));
            assert!(explained, "{call}: {named}");
            documents.iter().for_each(|json| keys(json, &mut found));
        }
        if calls.is_empty() {
            // Those of the sandbox are of earlier versions, with fewer fields.
            let mut manifest = Manifest::new(0);
            manifest.answers.push(Entry::answered(Source::Config, 0.0));
            let json = serde_json::to_value(manifest).expect("JSON");
            assert_eq!(json["schema"], schema);
            keys(&json, &mut found);
        }
        // A section may leave what another one explains to that.
        let linked = text.split("](#fairtree-").skip(1);
        let linked = linked.filter_map(|link| link.split(')').next());
        let mut known = code(&text);
        linked.for_each(|name| known.extend(code(&part(SECTIONS, &format!("fairtree.{name}/1")))));
        let unknown: Vec<&String> = found.iter().filter(|key| !known.contains(*key)).collect();
        assert!(unknown.is_empty(), "{page} does not explain {unknown:?}");
        let explained = fields(&text);
        let absent: Vec<&String> = explained
            .iter()
            .filter(|key| !found.contains(*key))
            .collect();
        assert!(
            absent.is_empty(),
            "{page} explains {absent:?}, which no answer has"
        );
    }
}

/// A program that reads JSON is told of every page by the help text.
#[test]
fn every_schema_is_named_in_the_help() {
    for (page, schema, _) in PAGES.iter().filter(|(.., calls)| !calls.is_empty()) {
        let subcommand = schema
            .trim_start_matches("fairtree.")
            .trim_end_matches("/1");
        let help = crate::command::fairtree(&[subcommand, "--help"], b"").out;
        assert!(
            help.contains(schema),
            "{page}: {schema} in fairtree {subcommand} --help"
        );
    }
}
