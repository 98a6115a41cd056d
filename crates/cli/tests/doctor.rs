//! `fairtree doctor` from outside. Slurm's commands, dpkg, apt, rpm and dnf are scripts that print
//! what these programs print; plugins are shared objects with the symbol that Slurm looks at.

#[path = "command/slurm.rs"]
mod slurm;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use slurm::{checkout, commands, fairtree, link_tools};

/// A host: Slurm's commands, a slurm.conf, a state folder, folders of plugins.
struct SlurmHost {
    folder: PathBuf,
    bin: PathBuf,
}

/// The release of the recorded answers, and the next one of Debian.
const NUMBERS: [(&str, &str); 2] = [("22.05.8", "0x160508"), ("24.11.5", "0x180b05")];

/// The priority settings of the recorded answer, as lines of slurm.conf.
fn settings_in_force() -> String {
    let recorded = checkout().join(slurm::CLUSTER).join("config.txt");
    let text = fs::read_to_string(recorded).expect("text");
    let lines = text.lines().filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        let (key, value) = (key.trim(), value.trim());
        let ours = key.starts_with("Priority") || key.starts_with("FairShare");
        let given = !value.is_empty() && value != "(null)" && key != "PriorityType";
        (ours && given).then(|| format!("{key}=\"{value}\"\n"))
    });
    lines.collect()
}

impl SlurmHost {
    /// A host of Debian's slurmctld 22.05.8 with PriorityType=priority/fairtree, all well.
    fn new(name: &str) -> SlurmHost {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("doctor-{name}"));
        if folder.exists() {
            fs::remove_dir_all(&folder).expect("it can be emptied");
        }
        fs::create_dir_all(folder.join("state")).expect("it can be made");
        let bin = commands(&folder, &[]);
        link_tools(&bin);
        let host = SlurmHost { folder, bin };
        host.plugin("22.05.8");
        host.script("slurmctld", "echo slurm-wlm 22.05.8");
        host.packages("22.05.8-4+deb12u3");
        host.conf("22.05.8");
        // The recorded answer, with this host's folders and the plugin in use.
        let recorded = checkout().join(slurm::CLUSTER);
        let config = fs::read_to_string(recorded.join("config.txt")).expect("text");
        let config = config
            .lines()
            .filter(|line| !line.starts_with("SLURM_CONF ") && !line.starts_with("Configuration"))
            .map(|line| format!("{line}\n").replace("priority/multifactor", "priority/fairtree"));
        let at = host.at("config.txt");
        fs::write(&at, config.collect::<String>()).expect("written");
        let others = format!(
            "case \"$*\" in *config) echo \"Configuration data as of $(date -u +%Y-%m-%dT%H:%M:%S)\"; \
             cat '{}'; exit;; *partition) f=partitions;; *node) f=nodes;; *job) f=jobs;; esac\n\
             cat '{}'/$f.txt",
            at.display(),
            recorded.display()
        );
        host.script("scontrol", &others);
        let sacctmgr = format!(
            "case \"$*\" in *cluster*) echo fairtree; exit;; *'show assoc '*) f=assocs;; \
             *'show qos '*) f=qos;; esac\ncat '{}'/$f.txt",
            recorded.display()
        );
        host.script("sacctmgr", &sacctmgr);
        std::os::unix::fs::symlink("/bin/date", host.bin.join("date")).expect("a link");
        host.passed(0);
        host
    }

    fn at(&self, below: &str) -> PathBuf {
        self.folder.join(below)
    }

    fn script(&self, name: &str, text: &str) {
        let path = self.bin.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    /// A plugin for a release, in a folder of its own.
    fn plugin(&self, release: &str) {
        let folder = self.at("plugins").join(release);
        fs::create_dir_all(&folder).expect("a folder");
        let known = NUMBERS.iter().find(|(known, _)| *known == release);
        let (_, number) = known.expect("a release");
        let source = self.at("plugin.c");
        fs::write(
            &source,
            format!("const unsigned plugin_version = {number};\n"),
        )
        .expect("C");
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-o"])
            .arg(folder.join("priority_fairtree.so"))
            .arg(&source)
            .status();
        assert!(built.expect("a C compiler").success());
    }

    /// dpkg knows slurmctld's package, and apt what an upgrade brings.
    fn packages(&self, candidate: &str) {
        self.script("dpkg-query", "echo \"slurmctld: $2\"");
        self.script(
            "apt-cache",
            &format!(
                "test \"$*\" = 'policy slurmctld' || exit 9\n\
                 printf 'slurmctld:\\n  Installed: 22.05.8-4+deb12u3\\n  Candidate: {candidate}\\n'"
            ),
        );
    }

    /// slurm.conf, with these folders in PluginDir.
    fn conf(&self, folders: &str) {
        let plugins = folders.split(' ').map(|folder| {
            let path = self.at("plugins").join(folder);
            path.display().to_string()
        });
        let text = format!(
            "ClusterName=fairtree\nSlurmUser=root\nPluginDir={}\nStateSaveLocation={}\n\
             AccountingStorageType=accounting_storage/slurmdbd\n\
             AccountingStorageEnforce=associations,limits,qos\nPriorityType=priority/fairtree\n\
             {}",
            plugins.collect::<Vec<_>>().join(":"),
            self.at("state").display(),
            settings_in_force()
        );
        fs::write(self.at("slurm.conf"), text).expect("written");
    }

    /// Appends a line to slurm.conf.
    fn set(&self, line: &str) {
        let text = fs::read_to_string(self.at("slurm.conf")).expect("text");
        fs::write(self.at("slurm.conf"), format!("{text}{line}\n")).expect("written");
    }

    /// The last pass was so many seconds ago.
    fn passed(&self, ago: i64) {
        let now = std::time::SystemTime::now();
        let now = now.duration_since(std::time::UNIX_EPOCH).expect("a time");
        let pass = i64::try_from(now.as_secs()).expect("a time") - ago;
        let bytes = [pass.to_be_bytes(), [0; 8]].concat();
        fs::write(self.at("state/priority_last_decay_ran"), bytes).expect("written");
    }

    /// Does `work` while passes are made.
    fn passing<T>(&self, work: impl FnOnce() -> T) -> T {
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for ago in (0..2).cycle() {
                    if over.load(Ordering::Relaxed) {
                        break;
                    }
                    self.passed(ago);
                    std::thread::sleep(Duration::from_millis(300));
                }
            });
            let done = work();
            over.store(true, Ordering::Relaxed);
            done
        })
    }

    /// Runs it with nothing but the scripts in PATH: exit code, standard output.
    fn doctor(&self, args: &[&str]) -> (i32, String) {
        let root = self.at("packaged").display().to_string();
        let args = [&["doctor", "--plugin-root", &root][..], args].concat();
        let ran = Command::new(env!("CARGO_BIN_EXE_fairtree"))
            .args(&args)
            .current_dir(&self.folder)
            .env("PATH", &self.bin)
            .env("SLURM_CONF", self.at("slurm.conf"))
            .env("NO_COLOR", "1")
            .stdin(std::process::Stdio::null())
            .output()
            .expect("the command runs");
        assert_eq!(String::from_utf8_lossy(&ran.stderr), "");
        let code = ran.status.code().expect("no signal");
        (code, String::from_utf8(ran.stdout).expect("UTF-8"))
    }

    /// The level of a check, and its texts.
    fn check(&self, check: &str, args: &[&str]) -> (String, String) {
        let (_, out) = self.doctor(&[args, &["--json"]].concat());
        let json: Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!(json["schema"], "fairtree.doctor/1");
        let findings = json["findings"].as_array().expect("findings");
        let mine = findings.iter().find(|finding| finding["check"] == check);
        let mine = mine.unwrap_or_else(|| panic!("{check}: {out}"));
        let text = format!(
            "{} | {}",
            mine["text"].as_str().unwrap_or_default(),
            mine["remedy"].as_str().unwrap_or_default()
        );
        (mine["level"].as_str().expect("a level").to_owned(), text)
    }
}

#[test]
fn a_host_that_is_well() {
    let host = SlurmHost::new("well");
    let (code, out) = host.doctor(&[]);
    // Priorities of the recorded site are its own; what this host says is as it should be.
    for check in [
        "slurmctld",
        "plugin",
        "upgrade",
        "plugin-dir",
        "state-folder",
        "last-pass",
        "clock",
        "slurmdbd",
        "limits",
        "in-force",
        "settings",
    ] {
        let ok = out.contains(&format!("ok[{check}]: ")) || check == "clock";
        assert!(ok, "{check}: {out}");
    }
    assert!(out.contains("[numbers]: "), "{out}");
    let healthy = !out.contains("warning[") && !out.contains("error[");
    assert_eq!(code, i32::from(!healthy), "{out}");
    // Without the numbers nothing is left that could be wrong.
    let (code, out) = host.doctor(&["--quick"]);
    assert_eq!(code, 0, "{out}");
    assert!(
        out.contains("unknown[numbers]: not compared with --quick"),
        "{out}"
    );
}

#[test]
fn an_upgrade_without_a_plugin_is_told_before_it() {
    let host = SlurmHost::new("upgrade");
    host.packages("24.11.5-4");
    let (code, out) = host.doctor(&["--quick"]);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("ok[plugin]: "), "{out}");
    let told = "error[upgrade]: the next upgrade, to slurmctld 24.11.5-4, finds no plugin for Slurm \
                24.11.5 in PluginDir: slurmctld would not start";
    assert!(out.contains(told), "{out}");
    assert!(
        out.contains("install slurm-wlm-fairtree-plugin-24.11.5"),
        "{out}"
    );
    // With both side by side.
    host.plugin("24.11.5");
    host.conf("22.05.8 24.11.5");
    let (level, text) = host.check("upgrade", &["--quick"]);
    assert_eq!(level, "ok", "{text}");
    // Of any other release it can be asked, too.
    let (level, text) = host.check("upgrade", &["--quick", "--next", "25.11.2"]);
    assert!(level == "error" && text.contains("25.11.2"), "{text}");
    // Of a series, by the plugins that there are.
    let (level, text) = host.check("upgrade", &["--quick", "--next", "24.11"]);
    assert!(
        level == "ok" && text.contains("for Slurm 24.11.5"),
        "{text}"
    );
    let (level, text) = host.check("upgrade", &["--quick", "--next", "26.11.0-0rc1"]);
    assert!(
        level == "error" && text.contains("for Slurm 26.11.0"),
        "{text}"
    );
    // What is installed, but not named in PluginDir.
    host.conf("22.05.8");
    fs::create_dir_all(host.at("packaged")).expect("a folder");
    fs::rename(host.at("plugins/24.11.5"), host.at("packaged/24.11.5")).expect("moved");
    let (level, text) = host.check("upgrade", &["--quick"]);
    assert_eq!(level, "error");
    assert!(text.contains("packaged/24.11.5 to PluginDir"), "{text}");
}

#[test]
fn offline_no_daemon_is_asked() {
    let host = SlurmHost::new("offline");
    for daemons in ["scontrol", "sacctmgr", "sshare", "sprio", "squeue"] {
        host.script(daemons, &format!("touch {}", host.at("asked").display()));
    }
    let (code, out) = host.doctor(&["--offline"]);
    assert_eq!(code, 0, "{out}");
    assert!(
        out.contains("ok[plugin]: ") && out.contains("ok[upgrade]: "),
        "{out}"
    );
    assert!(!host.at("asked").exists());
}

#[test]
fn after_an_upgrade_without_a_plugin() {
    let host = SlurmHost::new("upgraded");
    host.script("slurmctld", "echo slurm-wlm 24.11.5");
    let refuses = "echo 'error: Unable to contact slurm controller (connect failure)' >&2; exit 1";
    host.script("scontrol", refuses);
    let (level, text) = host.check("plugin", &[]);
    assert_eq!(level, "error");
    assert!(
        text.contains("does not start") && text.contains("for 22.05.8"),
        "{text}"
    );
    let (level, text) = host.check("slurmctld", &[]);
    assert!(
        level == "error" && text.contains("cannot be reached"),
        "{text}"
    );
    assert_eq!(host.check("numbers", &[]).0, "unknown");
    // slurm.conf says what slurmctld cannot.
    assert_eq!(host.check("state-folder", &[]).0, "ok");
}

#[test]
fn folders_files_and_times_that_are_not_as_they_should_be() {
    let host = SlurmHost::new("faults");
    host.conf("22.05.8 absent");
    let (level, text) = host.check("plugin-dir", &["--quick"]);
    assert!(
        level == "error" && text.contains("plugins/absent"),
        "{text}"
    );
    fs::create_dir_all(host.at("plugins/absent")).expect("a folder");
    fs::write(host.at("plugins/absent/priority_fairtree.so"), "no plugin").expect("written");
    let (level, text) = host.check("plugin-dir", &["--quick"]);
    assert!(
        level == "warning" && text.contains("is no plugin"),
        "{text}"
    );
    host.passed(3600);
    let (level, text) = host.check("last-pass", &["--quick"]);
    assert!(
        level == "warning" && text.contains("60 minutes ago"),
        "{text}"
    );
    fs::write(host.at("state/priority_last_decay_ran"), "short").expect("written");
    assert_eq!(host.check("last-pass", &["--quick"]).0, "unknown");
    fs::remove_dir_all(host.at("state")).expect("removed");
    let (level, text) = host.check("state-folder", &["--quick"]);
    assert!(level == "error" && text.contains("No such file"), "{text}");
    let refuses = "echo 'sacctmgr: error: Connection refused' >&2; exit 1";
    host.script("sacctmgr", refuses);
    let (level, text) = host.check("slurmdbd", &["--quick"]);
    assert!(
        level == "warning" && text.contains("slurmdbd cannot be reached"),
        "{text}"
    );
    fs::remove_file(host.at("slurm.conf")).expect("removed");
    assert_eq!(host.check("settings", &["--quick"]).0, "unknown");
}

#[test]
fn rpm_and_dnf_are_asked_where_dpkg_knows_nothing() {
    let host = SlurmHost::new("rpm");
    host.script("dpkg-query", "echo 'no path found' >&2; exit 1");
    host.script("rpm", "echo 'slurm-slurmctld 22.05.8-1.el9'");
    host.script(
        "dnf",
        "case \"$*\" in *--cacheonly*--upgrades*) ;; *) exit 9;; esac\n\
         echo 'slurm-slurmctld.x86_64  24.11.5-1.el9  site'",
    );
    let (level, text) = host.check("upgrade", &["--quick"]);
    assert!(level == "error" && text.contains("24.11.5-1.el9"), "{text}");
    assert!(
        text.contains("make plugin") && text.contains("hold back slurm-slurmctld"),
        "{text}"
    );
    host.script("dnf", "exit 0");
    assert_eq!(host.check("upgrade", &["--quick"]).0, "ok");
    host.script("dnf", "exit 1");
    assert_eq!(host.check("upgrade", &["--quick"]).0, "unknown");
}

#[test]
fn a_host_without_slurm_knows_nothing_and_is_not_well() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("doctor-none");
    fs::create_dir_all(folder.join("bin")).expect("a folder");
    let ran = fairtree(&["doctor", "--json"], Some(&folder.join("bin")), true);
    let json: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    assert_eq!(ran.status.code(), Some(1), "{json}");
    assert!(json["unknown"].as_u64() > Some(8), "{json}");
    assert_eq!(json["healthy"], false);
    let ran = fairtree(&["doctor"], Some(&folder.join("bin")), true);
    let out = String::from_utf8(ran.stdout).expect("UTF-8");
    assert!(
        out.contains("too little is known to call this site well"),
        "{out}"
    );
}

/// A reconfigure that the plugin refused: slurmctld has the file's text and works with the former
/// settings. One that was not made: slurmctld has the former values.
#[test]
fn settings_that_are_not_in_force_are_found() {
    let host = SlurmHost::new("in-force");
    host.set("PriorityWeightAge=4242");
    let (level, text) = host.check("in-force", &["--quick"]);
    assert!(
        level == "warning"
            && text.contains("PriorityWeightAge is ")
            && text.contains("4242 in the file"),
        "{text}"
    );
    host.conf("22.05.8");
    host.set("PriorityParameters=compat=sideways");
    let (level, text) = host.check("in-force", &["--quick"]);
    assert!(
        level == "error" && text.contains("sideways") && text.contains("its next start ends"),
        "{text}"
    );
    // The other checks go by the settings that are known.
    for check in ["plugin", "last-pass", "slurmdbd", "limits"] {
        assert_eq!(host.check(check, &["--quick"]).0, "ok", "{check}");
    }
    assert_eq!(host.check("in-force", &["--offline"]).0, "error");
    host.conf("22.05.8");
    assert_eq!(host.check("in-force", &["--offline"]).0, "unknown");
}

/// A wrong factor in each answer of sshare; and one in the first answer alone, as of another moment.
#[test]
fn a_difference_that_stays_is_a_warning_and_one_that_goes_is_none() {
    let host = SlurmHost::new("numbers");
    let right = checkout().join(slurm::CLUSTER).join("sshare.txt");
    let wrong = host.at("wrong.txt");
    let text = fs::read_to_string(&right).expect("text");
    fs::write(&wrong, with_wrong_factor(&text)).expect("written");
    host.set("PriorityParameters=calc_period=1");
    host.script("sshare", &format!("cat '{}'", wrong.display()));
    let (level, text) = host.passing(|| host.check("numbers", &[]));
    assert!(
        level == "warning" && text.contains("before a pass and after it"),
        "{text}"
    );
    // The first answer is the recorded one with the wrong factor, later ones are right.
    let asked = host.at("asked");
    host.script(
        "sshare",
        &format!(
            "if test -e '{0}'; then cat '{1}'; else echo > '{0}'; cat '{2}'; fi",
            asked.display(),
            right.display(),
            wrong.display()
        ),
    );
    let (level, text) = host.passing(|| host.check("numbers", &[]));
    assert_ne!(level, "warning", "{text}");
}

/// sshare's answer in which the user with the best factor has the worst one.
fn with_wrong_factor(text: &str) -> String {
    let header = text
        .lines()
        .find(|line| line.contains("FairShare"))
        .expect("a header");
    let column = header
        .split('|')
        .position(|name| name.trim() == "FairShare");
    let column = column.expect("the column");
    let lines = text.lines().map(|line| {
        let mut cells: Vec<&str> = line.split('|').collect();
        if cells.get(column) == Some(&"1.000000") {
            cells[column] = "0.100000";
        }
        format!("{}\n", cells.join("|"))
    });
    lines.collect()
}

#[test]
fn bad_options_end_with_two() {
    for args in [
        &["doctor", "--next", "soon"][..],
        &["doctor", "--time-limit", "0"],
        &["doctor", "file"],
    ] {
        let ran = fairtree(args, None, false);
        assert_eq!(ran.status.code(), Some(2), "{args:?}");
    }
}
