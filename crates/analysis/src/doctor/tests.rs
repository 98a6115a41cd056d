//! Each check with facts as they should be, and with one that is not. Expected levels: what Slurm
//! does (slurm.conf(5), `src/common/plugin.c`, `src/common/read_config.c`), and `docs/reliability.md`.

use std::path::PathBuf;

use fairtree::compat::Release;
use fairtree_model::input::package::Package;
use fairtree_model::input::slurm::last_pass::LastPass;
use fairtree_model::input::slurm::plugin::PluginFile;

use super::*;

const NOW: i64 = 1_800_000_000;

fn plugin(path: &str, release: Release) -> PluginFile {
    PluginFile {
        path: PathBuf::from(path),
        built_for: Ok(release),
    }
}

/// A site in which all is well.
fn well() -> Facts {
    Facts {
        now: NOW,
        offline: false,
        synchronised: Some(true),
        daemon: Ok(Daemon {
            program: "slurmctld",
            release: Release::V22_05_8,
            package: Some(Package {
                name: "slurmctld".to_owned(),
                installed: Some("22.05.8-4".to_owned()),
                candidate: Some("22.05.8-4".to_owned()),
            }),
            packager: Packager::Debian,
        }),
        next: Ok(Next::Nothing),
        settings: Ok(Settings {
            priority_type: Some("priority/fairtree".to_owned()),
            cluster: Some("c".to_owned()),
            storage: Some("accounting_storage/slurmdbd".to_owned()),
            enforce: Some("associations".to_owned()),
            period_secs: 300,
            half_life_secs: 604_800,
            weighs_fair_share: true,
        }),
        absent_folders: Vec::new(),
        plugins: vec![plugin("/p/22.05.8/x.so", Release::V22_05_8)],
        packaged: Vec::new(),
        live: Ok(Live {
            release: Some(Release::V22_05_8),
            ahead_secs: Some(0),
        }),
        state: Ok(State {
            folder: Folder {
                path: PathBuf::from("/s"),
                writable: Ok(()),
                free_bytes: 1 << 30,
            },
            user: "slurm".to_owned(),
        }),
        last_pass: Ok(LastPass {
            pass: NOW - 100,
            reset: 0,
        }),
        clusters: Ok(vec!["c".to_owned()]),
        numbers: Ok(Numbers {
            shares: 8,
            priorities: 9,
            ..Numbers::default()
        }),
        in_force: Ok(InForce {
            file: "/etc/slurm/slurm.conf".to_owned(),
            refused: None,
            apart: Ok(Vec::new()),
        }),
        linted: Ok((0, 0, "/etc/slurm/slurm.conf".to_owned())),
    }
}

fn settings(facts: &mut Facts) -> &mut Settings {
    facts.settings.as_mut().expect("settings")
}

/// The findings of a check, as `level: text | remedy`.
fn of(check: &str, change: impl FnOnce(&mut Facts)) -> Vec<(Level, String)> {
    let mut facts = well();
    change(&mut facts);
    let findings = examine(&facts).findings.into_iter();
    let mine = findings.filter(|finding| finding.check == check);
    let mine = mine.map(|finding| {
        let remedy = finding.remedy.unwrap_or_default();
        (finding.level, format!("{} | {remedy}", finding.text))
    });
    mine.collect()
}

/// The only finding of a check.
fn one(check: &str, change: impl FnOnce(&mut Facts)) -> (Level, String) {
    let mut found = of(check, change);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn next(release: Release) -> Known<Next> {
    Ok(Next::Version {
        release,
        version: format!("{release}-4"),
    })
}

#[test]
fn a_site_that_is_well_has_one_finding_per_check_and_all_are_ok() {
    let diagnosis = examine(&well());
    assert!(diagnosis.is_healthy());
    assert_eq!(diagnosis.count(Level::Ok), 12, "{diagnosis:#?}");
    assert_eq!(diagnosis.findings.len(), 12);
}

#[test]
fn an_upgrade_that_would_leave_slurmctld_without_its_plugin_is_an_error_before_it() {
    let (level, text) = one("upgrade", |facts| facts.next = next(Release::V24_11_5));
    assert_eq!(level, Level::Error);
    for words in [
        "the next upgrade, to slurmctld 24.11.5-4, finds no plugin for Slurm 24.11.5",
        "would not start",
        "install slurm-wlm-fairtree-plugin-24.11.5",
        "hold back slurmctld",
    ] {
        assert!(text.contains(words), "{text}");
    }
    // Beside the one for the release that is installed.
    let both = |facts: &mut Facts| {
        facts.next = next(Release::V24_11_5);
        facts
            .plugins
            .push(plugin("/p/24.11.5/x.so", Release::V24_11_5));
    };
    assert_eq!(one("upgrade", both).0, Level::Ok);
    assert_eq!(one("plugin", both).0, Level::Ok);
    // Installed, but in a folder that PluginDir does not name.
    let (level, text) = one("upgrade", |facts| {
        facts.next = next(Release::V24_11_5);
        facts.packaged.push(plugin(
            "/usr/lib/fairtree/slurm/24.11.5/x.so",
            Release::V24_11_5,
        ));
    });
    assert_eq!(level, Level::Error);
    assert!(
        text.contains("add /usr/lib/fairtree/slurm/24.11.5 to PluginDir"),
        "{text}"
    );
    // Other packages of Slurm have other packages of the plugin; a Slurm without packages has none.
    let packager = |packager| {
        one("upgrade", |facts| {
            facts.next = next(Release::V24_11_5);
            facts.daemon.as_mut().expect("a daemon").packager = packager;
        })
        .1
    };
    assert!(packager(Packager::Schedmd).contains("slurm-smd-fairtree-plugin-24.11.5"));
    assert!(packager(Packager::Other).contains("make plugin"));
    // A site that does not use the plugin needs none.
    let (level, _) = one("upgrade", |facts| {
        facts.next = next(Release::V24_11_5);
        settings(facts).priority_type = Some("priority/multifactor".to_owned());
    });
    assert_eq!(level, Level::Note);
    // A new revision of the same release.
    let (level, text) = one("upgrade", |facts| facts.next = next(Release::V22_05_8));
    assert_eq!(level, Level::Ok);
    assert!(text.contains("new revision"), "{text}");
}

#[test]
fn a_slurmctld_without_its_plugin_is_an_error() {
    let (level, text) = one("plugin", |facts| {
        facts.plugins = vec![plugin("/p/x.so", Release::V24_11_5)];
    });
    assert_eq!(level, Level::Error);
    for words in ["does not start", "found: /p/x.so for 24.11.5"] {
        assert!(text.contains(words), "{text}");
    }
    let (level, _) = one("plugin", |facts| {
        facts.plugins.clear();
        settings(facts).priority_type = None;
    });
    assert_eq!(level, Level::Note);
    let (level, text) = one("plugin", |facts| {
        facts.plugins.clear();
        facts.daemon.as_mut().expect("a daemon").program = "sshare";
    });
    assert!(
        level == Level::Error && text.contains("sshare fails"),
        "{text}"
    );
}

#[test]
fn folders_that_are_absent_and_files_that_are_no_plugins_are_found() {
    let found = of("plugin-dir", |facts| {
        facts.absent_folders.push(PathBuf::from("/p/absent"));
        facts.plugins.push(PluginFile {
            path: PathBuf::from("/p/text/x.so"),
            built_for: Err(fairtree_model::input::slurm::plugin::PluginError::NoPlugin),
        });
    });
    let levels: Vec<Level> = found.iter().map(|(level, _)| *level).collect();
    assert_eq!(levels, [Level::Error, Level::Warning]);
    assert!(found[0].1.contains("/p/absent") && found[1].1.contains("/p/text/x.so"));
}

#[test]
fn what_runs_and_what_is_installed_may_differ() {
    let (level, text) = one("slurmctld", |facts| {
        facts.live.as_mut().expect("alive").release = Some(Release::V24_11_5);
    });
    assert!(
        level == Level::Warning && text.contains("24.11.5"),
        "{text}"
    );
    let down = |facts: &mut Facts| facts.live = Err("it is down".to_owned());
    assert_eq!(one("slurmctld", down).0, Level::Error);
    let (level, text) = one("slurmctld", |facts| {
        facts.daemon.as_mut().expect("a daemon").program = "sshare";
        down(facts);
    });
    assert!(
        level == Level::Error && text.contains("slurmctld does not answer"),
        "{text}"
    );
    let (level, _) = one("slurmctld", |facts| {
        facts.daemon.as_mut().expect("a daemon").program = "sshare";
    });
    assert_eq!(level, Level::Note);
}

#[test]
fn a_state_folder_must_be_writable_and_have_space() {
    fn folder(facts: &mut Facts) -> &mut Folder {
        &mut facts.state.as_mut().expect("a state").folder
    }
    let (level, text) = one("state-folder", |facts| {
        folder(facts).writable = Err("it belongs to user 0".to_owned());
    });
    assert!(
        level == Level::Error && text.contains("chown slurm /s"),
        "{text}"
    );
    let (level, text) = one("state-folder", |facts| folder(facts).free_bytes = 1 << 20);
    assert!(
        level == Level::Error && text.contains("1 MiB left"),
        "{text}"
    );
}

#[test]
fn the_last_pass_is_recent_up_to_two_periods_and_a_minute() {
    let at = |ago: i64| {
        one("last-pass", |facts| {
            facts.last_pass.as_mut().expect("times").pass = NOW - ago;
        })
    };
    for (ago, level) in [
        (0, Level::Ok),
        (660, Level::Ok),
        (661, Level::Warning),
        (-5, Level::Ok),
        (-6, Level::Warning),
    ] {
        assert_eq!(at(ago).0, level, "{ago}");
    }
    assert!(
        at(7200)
            .1
            .contains("2 hours ago, one is due every 5 minutes")
    );
    let (level, _) = one("last-pass", |facts| {
        facts.last_pass = Ok(LastPass { pass: 0, reset: 0 });
    });
    assert_eq!(level, Level::Note);
    let (level, text) = one("last-pass", |facts| {
        settings(facts).storage = None;
        facts.last_pass = Ok(LastPass { pass: 0, reset: 0 });
    });
    assert!(level == Level::Note && text.contains("without slurmdbd"));
    let (level, _) = one("last-pass", |facts| {
        facts.live = Err("it is down".to_owned());
        facts.last_pass.as_mut().expect("times").pass = NOW - 7200;
    });
    assert_eq!(level, Level::Note);
}

#[test]
fn numbers_that_differ_are_warnings_and_stocks_ties_are_notes() {
    let found = of("numbers", |facts| {
        facts.numbers = Ok(apart(true));
    });
    let levels: Vec<Level> = found.iter().map(|(level, _)| *level).collect();
    assert_eq!(levels, [Level::Warning, Level::Warning, Level::Note]);
    assert!(found[0].1.contains("fairtree share --check"));
    assert!(found[1].1.contains("3 of 9 numbers of sprio"));
    // Without a pass in between it may be a matter of moments.
    let found = of("numbers", |facts| facts.numbers = Ok(apart(false)));
    let levels: Vec<Level> = found.iter().map(|(level, _)| *level).collect();
    assert_eq!(levels, [Level::Note; 3]);
    // A user that was added since the last pass.
    let found = of("numbers", |facts| {
        facts.numbers = Ok(Numbers {
            unranked: 1,
            ..Numbers::default()
        });
    });
    assert_eq!(found.len(), 1);
    assert!(found[0].0 == Level::Note && found[0].1.contains("next pass ranks them"));
}

/// Differences in one number of sshare and three of sprio, beside two ties of stock.
fn apart(confirmed: bool) -> Numbers {
    let job = |id: u32| (format!("job {id}"), "AGE");
    Numbers {
        shares: 8,
        shares_apart: [("ann@lab".to_owned(), "FairShare")].into(),
        stock_ties: 2,
        priorities: 9,
        priorities_apart: [job(1), job(2), job(3)].into(),
        confirmed,
        ..Numbers::default()
    }
}

#[test]
fn a_difference_counts_that_is_there_before_a_pass_and_after_it() {
    let before = apart(false);
    let mut after = apart(false);
    after.shares_apart = [("bob@lab".to_owned(), "FairShare")].into();
    after.priorities_apart.remove(&("job 3".to_owned(), "AGE"));
    let found = after.confirming(&before);
    assert!(found.confirmed && !found.agree());
    assert_eq!(found.shares_apart.len(), 0);
    assert_eq!(found.priorities_apart.len(), 2);
}

#[test]
fn settings_in_force_are_those_of_the_file_and_a_restart_takes_them() {
    let beside = |facts: &mut Facts, refused: Option<&str>, apart: Known<Vec<SettingApart>>| {
        facts.in_force = Ok(InForce {
            file: "slurm.conf".to_owned(),
            refused: refused.map(str::to_owned),
            apart,
        });
    };
    let other = || SettingApart {
        key: "PriorityWeightAge".to_owned(),
        in_file: Some("2000".to_owned()),
        in_force: Some("1000".to_owned()),
    };
    let (level, text) = one("in-force", |facts| {
        beside(facts, None, Ok(vec![other()]));
    });
    assert!(
        level == Level::Warning
            && text.contains("PriorityWeightAge is 1000 in force, 2000 in the file"),
        "{text}"
    );
    let bad = Some("compat is sideways");
    let (level, text) = one("in-force", |facts| {
        beside(facts, bad, Err("not asked".to_owned()));
    });
    assert!(
        level == Level::Error && text.contains("its next start ends with this error"),
        "{text}"
    );
    let found = of("in-force", |facts| beside(facts, bad, Ok(vec![other()])));
    assert_eq!(found.len(), 2);
    let (level, _) = one("in-force", |facts| {
        beside(facts, None, Err("not asked".to_owned()));
    });
    assert_eq!(level, Level::Unknown);
}

#[test]
fn clocks_may_be_five_seconds_apart() {
    let ahead = |secs: i64| {
        one("clock", |facts| {
            facts.live.as_mut().expect("alive").ahead_secs = Some(secs);
        })
    };
    assert_eq!(ahead(-5).0, Level::Ok);
    assert!(ahead(-6).1.contains("6 seconds behind"));
    assert!(ahead(600).1.contains("10 minutes ahead of"));
    let free_running = |facts: &mut Facts| facts.synchronised = Some(false);
    assert_eq!(one("clock", free_running).0, Level::Note);
}

#[test]
fn slurmdbd_must_answer_and_know_the_cluster() {
    let down = |facts: &mut Facts| facts.clusters = Err("connection refused".to_owned());
    assert_eq!(one("slurmdbd", down).0, Level::Warning);
    let (level, text) = one("slurmdbd", |facts| facts.clusters = Ok(Vec::new()));
    assert!(level == Level::Error && text.contains("sacctmgr add cluster c"));
    let (level, _) = one("slurmdbd", |facts| settings(facts).storage = None);
    assert_eq!(level, Level::Warning);
    let (level, _) = one("slurmdbd", |facts| {
        settings(facts).storage = None;
        settings(facts).weighs_fair_share = false;
    });
    assert_eq!(level, Level::Note);
}

#[test]
fn associations_are_enforced_and_passes_are_close() {
    for words in ["limits", "Associations,nosteps", "safe,qos", "all"] {
        let (level, _) = one("limits", |facts| {
            settings(facts).enforce = Some(words.to_owned());
        });
        assert_eq!(level, Level::Ok, "{words}");
    }
    for enforce in [None, Some("none"), Some("nojobs,nosteps")] {
        let (level, _) = one("limits", |facts| {
            settings(facts).enforce = enforce.map(str::to_owned);
        });
        assert_eq!(level, Level::Warning, "{enforce:?}");
    }
    let (level, text) = one("limits", |facts| settings(facts).period_secs = 7200);
    assert!(level == Level::Warning && text.contains("120 minutes apart"));
    let (level, _) = one("limits", |facts| settings(facts).half_life_secs = 400);
    assert_eq!(level, Level::Warning);
}

#[test]
fn the_linter_counts() {
    let linted = |errors, warnings| {
        let change = |facts: &mut Facts| {
            facts.linted = Ok((errors, warnings, "slurm.conf".to_owned()));
        };
        one("settings", change).0
    };
    assert_eq!(linted(0, 0), Level::Ok);
    assert_eq!(linted(0, 2), Level::Warning);
    assert_eq!(linted(1, 0), Level::Error);
}

#[test]
fn a_host_of_which_nothing_is_known_is_not_well() {
    let diagnosis = examine(&Facts {
        daemon: Err("no Slurm".to_owned()),
        next: Err("no package".to_owned()),
        settings: Err("no slurm.conf".to_owned()),
        plugins: Vec::new(),
        live: Err("no slurmctld".to_owned()),
        state: Err("elsewhere".to_owned()),
        last_pass: Err("elsewhere".to_owned()),
        clusters: Err("no sacctmgr".to_owned()),
        numbers: Err("no sshare".to_owned()),
        in_force: Err("no slurm.conf".to_owned()),
        linted: Err("no slurm.conf".to_owned()),
        synchronised: None,
        ..well()
    });
    assert!(!diagnosis.is_healthy());
    assert_eq!(diagnosis.count(Level::Unknown), 12, "{diagnosis:#?}");
}

/// A host of users: what only slurmctld's host knows is missing, and no fault.
#[test]
fn what_is_not_known_is_told_and_is_no_fault() {
    let diagnosis = examine(&Facts {
        next: Err("no package".to_owned()),
        state: Err("elsewhere".to_owned()),
        last_pass: Err("elsewhere".to_owned()),
        linted: Err("no slurm.conf".to_owned()),
        ..well()
    });
    assert!(diagnosis.is_healthy(), "{diagnosis:#?}");
    assert_eq!(diagnosis.count(Level::Unknown), 4, "{diagnosis:#?}");
}

#[test]
fn daemons_that_were_not_asked_are_not_missed() {
    let diagnosis = examine(&Facts {
        offline: true,
        live: Err("not asked".to_owned()),
        clusters: Err("not asked".to_owned()),
        numbers: Err("not asked".to_owned()),
        last_pass: Ok(LastPass {
            pass: NOW - 7200,
            reset: 0,
        }),
        ..well()
    });
    assert!(diagnosis.is_healthy(), "{diagnosis:#?}");
    assert_eq!(diagnosis.count(Level::Ok), 9, "{diagnosis:#?}");
}

#[test]
fn texts_are_sentences_without_a_full_stop() {
    let facts = [well(), {
        let mut facts = well();
        facts.next = next(Release::V24_11_5);
        facts.plugins.clear();
        facts.clusters = Err("it is down".to_owned());
        facts
    }];
    for finding in facts.iter().flat_map(|facts| examine(facts).findings) {
        for words in [Some(&finding.text), finding.remedy.as_ref()] {
            let words = words.map_or("no remedy", String::as_str);
            assert!(!words.ends_with('.') && !words.contains("  "), "{words}");
        }
        assert_eq!(
            finding.remedy.is_some(),
            finding.level >= Level::Warning,
            "{finding:?}"
        );
    }
}
