//! Each person and each account of a tree of four levels: the form, plans and `apply` on the page allow what
//! slurmdbd allows that person. Expected: sacctmgr(1), "Coordinator", and slurmdbd 22.05.8 as it answered each kind of
//! person: a coordinator sets the shares of what is below the account, whatever the depth, never those of the
//! account itself; an operator sets all; others none; with `DisableCoordDBD` coordinators none.

mod running;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use running::{Place, Running, token};
use serde_json::Value;

/// The user, empty for an account, the account, and the one above: four levels below root.
const TREE: [(&str, &str, &str); 13] = [
    ("", "hub_a", "root"),
    ("", "grp_1", "hub_a"),
    ("", "prj_1", "grp_1"),
    ("ann", "prj_1", "prj_1"),
    ("", "prj_2", "grp_1"),
    ("ben", "prj_2", "prj_2"),
    ("", "grp_2", "hub_a"),
    ("", "prj_3", "grp_2"),
    ("cat", "prj_3", "prj_3"),
    ("", "hub_b", "root"),
    ("", "grp_3", "hub_b"),
    ("", "prj_4", "grp_3"),
    ("dan", "prj_4", "prj_4"),
];

/// Who coordinates what; `oscar` is an operator, `ann` a user.
const COORDINATORS: [(&str, &str); 5] = [
    ("hub_a", "alma"),
    ("grp_1", "greg"),
    ("prj_1", "paul"),
    ("hub_b", "bela"),
    ("prj_3", "greg"),
];

/// Each person, and for each row of the tree if slurmdbd lets that person set its shares (x) or not (.).
const ALLOWED: [(&str, &str); 6] = [
    ("oscar", "xxxxxxxxxxxxx"),
    ("alma", ".xxxxxxxx...."),
    ("greg", "..xxxx..x...."),
    ("paul", "...x........."),
    ("bela", "..........xxx"),
    ("ann", "............."),
];

#[test]
fn what_slurmdbd_allows() {
    let place = Place::new(answers);
    fs::write(place.answers().join("allowed"), allowed()).expect("written");
    let service = place.start();
    service.await_picture(&place, 0);
    let kept = ["assocs.txt", "sshare.txt"].map(|file| (file, read(&place, file)));
    for (person, row) in ALLOWED {
        for (one, allows) in TREE.into_iter().zip(row.chars()) {
            tried(&service, person, one, allows == 'x');
            let set = read(&place, "assocs.txt");
            assert_eq!(set != kept[0].1, allows == 'x', "{person} {one:?}: {set}");
            for (file, text) in &kept {
                fs::write(place.answers().join(file), text).expect("written");
            }
        }
    }
    // A coordinator who was removed since the picture: Slurm decides, not the service.
    fs::write(place.answers().join("allowed"), "").expect("written");
    let plan = plan(&service, "alma", TREE[1]).expect("the picture knows her");
    assert_eq!(apply(&service, "alma", &plan), 303);
    assert_eq!(outcome(&service, &plan), "failed");
    assert_eq!(read(&place, "assocs.txt"), kept[0].1);
}

#[test]
fn coordinators_without_rights() {
    let place = Place::new(answers);
    let file = place.answers().join("database.txt");
    fs::write(file, "SLURMDBD configuration\nDisableCoordDBD = Yes\n").expect("written");
    let service = place.start();
    service.await_picture(&place, 0);
    for (person, _) in ALLOWED {
        for one in TREE {
            assert_eq!(
                form(&service, person, one),
                person == "oscar",
                "{person} {one:?}"
            );
        }
    }
}

/// Tries the form, a plan, and to apply one.
fn tried(service: &Running, person: &str, one: (&str, &str, &str), allows: bool) {
    let what = format!("{person} {one:?}");
    assert_eq!(form(service, person, one), allows, "{what}");
    let own = plan(service, person, one);
    assert_eq!(own.is_some(), allows, "{what}");
    // A plan that somebody else has made is nothing that this person may apply or take back.
    let plan = own
        .or_else(|| plan(service, "oscar", one))
        .expect("an operator's plan");
    assert_eq!(
        apply(service, person, &plan),
        if allows { 303 } else { 404 },
        "{what}"
    );
    let undo = service
        .post(&format!("{plan}/undo"), person, "")
        .expect("an answer");
    assert_eq!(undo.status, if allows { 303 } else { 404 }, "{what}");
    assert_eq!(
        outcome(service, &plan),
        if allows { "applied" } else { "" },
        "{what}"
    );
}

/// Returns true if the person sees the form of the level that has this row.
fn form(service: &Running, person: &str, (_, _, parent): (&str, &str, &str)) -> bool {
    let path = format!("/account/{parent}/shares");
    let answer = service.get(&path, person).expect("an answer");
    assert!([200, 404].contains(&answer.status), "{}", answer.text);
    answer.status == 200
}

/// The path of a plan that gives 7 shares; `None`: the person may not.
fn plan(
    service: &Running,
    person: &str,
    (user, account, parent): (&str, &str, &str),
) -> Option<String> {
    let name = match user {
        "" => account.to_owned(),
        user => format!("{user}%40{account}"),
    };
    let fields = format!("account={parent}&shares%3A{name}=7");
    let answer = service.post("/plan", person, &fields).expect("an answer");
    match answer.status {
        303 => Some(answer.location),
        404 => None,
        status => panic!("{status}: {}", answer.text),
    }
}

/// The status of the page that applies a plan with the person's own token.
fn apply(service: &Running, person: &str, plan: &str) -> u16 {
    let fields = format!("jwt={}", token(person));
    let answer = service.post(&format!("{plan}/apply"), person, &fields);
    answer.expect("an answer").status
}

/// The outcome of a plan; empty: it was not tried.
fn outcome(service: &Running, plan: &str) -> String {
    let answer = service
        .get(&format!("/api/v1{plan}"), "oscar")
        .expect("an answer");
    let document: Value = serde_json::from_str(&answer.text).expect("JSON");
    let state = document["outcome"]["state"].as_str();
    state.unwrap_or_default().to_owned()
}

/// The rows that slurmdbd lets each person set, as the commands of the test read them.
fn allowed() -> String {
    let mut text = String::new();
    for (person, row) in ALLOWED {
        for ((user, account, _), allows) in TREE.into_iter().zip(row.chars()) {
            match (allows, user) {
                ('x', "") => writeln!(text, "{person} {account}").expect("a text"),
                ('x', user) => writeln!(text, "{person} {user}@{account}").expect("a text"),
                _ => {}
            }
        }
    }
    text
}

fn read(place: &Place, file: &str) -> String {
    fs::read_to_string(place.answers().join(file)).expect("text")
}

/// The output of Slurm's commands on this site: one share each, no use, no job.
fn answers(to: &Path) {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures/cluster");
    let put = |file: &str, text: &str| fs::write(to.join(file), text).expect("written");
    for file in [
        "config.txt",
        "partitions.txt",
        "nodes.txt",
        "qos.txt",
        "database.txt",
    ] {
        let text = fs::read_to_string(recorded.join(file)).expect("text");
        put(file, &text);
    }
    let first = |file: &str| {
        let text = fs::read_to_string(recorded.join(file)).expect("text");
        text.lines().next().expect("a header").to_owned() + "\n"
    };
    put("jobs.txt", "No jobs in the system\n");
    put("names.txt", "");
    put("sprio.txt", &first("sprio.txt"));
    let tres = "cpu=0,mem=0,energy=0,node=0,billing=0,fs/disk=0,vmem=0,pages=0";
    let mut sshare = first("sshare.txt");
    let mut assocs = first("assocs.txt");
    writeln!(sshare, "root|||1||0.000000|0||1.000000||||{tres}|{tres}").expect("a text");
    writeln!(assocs, "fairtree|root|||1||").expect("a text");
    for (at, (user, account, parent)) in TREE.into_iter().enumerate() {
        let siblings = TREE.iter().filter(|(_, _, other)| *other == parent).count();
        let (part, indent) = (1.0 / siblings as f64, depth(at));
        writeln!(
            sshare,
            "{:indent$}{account}|{user}||{}|1|{part:.6}|0|0.000000|0.000000||inf||{tres}|{tres}",
            "",
            at + 2
        )
        .expect("a text");
        let above = if user.is_empty() { parent } else { "" };
        writeln!(assocs, "fairtree|{account}|{user}||1||{above}").expect("a text");
    }
    put("sshare.txt", &sshare);
    put("assocs.txt", &assocs);
    let mut accounts = String::from("Account|Coord Accounts\n");
    for (account, coordinator) in COORDINATORS {
        writeln!(accounts, "{account}|{coordinator}").expect("a text");
    }
    put("accounts.txt", &accounts);
    put("users.txt", "User|Admin\noscar|Operator\nann|None\n");
}

/// Levels below the root.
fn depth(at: usize) -> usize {
    let (user, account, parent) = TREE[at];
    let above = TREE.iter().position(|(other, name, _)| {
        let is_above = *name == if user.is_empty() { parent } else { account };
        other.is_empty() && is_above
    });
    above.map_or(1, |above| depth(above) + 1)
}
