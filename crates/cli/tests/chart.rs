//! `fairtree chart` and the pictures of `fairtree share`, from outside. Expected values: hand
//! calculation from `examples/site.toml` and from the jobs and captures below.

mod command;

use std::path::{Path, PathBuf};
use std::process::Command;

use command::{checkout, fairtree};

/// Runs in a terminal's surroundings: so many columns, a locale.
fn tree(columns: &str, locale: &str, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_fairtree"))
        .args(["share", "--tree", "examples/site.toml"])
        .args(args)
        .current_dir(checkout())
        .env("COLUMNS", columns)
        .env("LC_ALL", locale)
        .env_remove("NO_COLOR")
        .output()
        .expect("the command runs");
    assert!(output.status.success() && output.stderr.is_empty());
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn the_tree_is_as_wide_as_the_terminal() {
    // Biology has 40 of 100 shares and used 3600 of 39600: of 20 columns that is 1.82, or
    // 15 eighths, with the mark at the ninth column.
    let expected = "\
Account       Share      Use  0%              100%  FairShare
root
├─ biology    40.0%     9.1%  █▉      │
│  └─ carl   100.0%   100.0%  ███████████████████┃   1.000000
└─ physics    60.0%    90.9%  ████████████┃█████▏
   ├─ anna    50.0%   100.0%  ██████████┃█████████   0.333333
   └─ bert    50.0%     0.0%            │            0.666667
│ share of the account above   █ use of it
";
    assert_eq!(tree("61", "C.UTF-8", &[]), expected);
    let ascii = tree("61", "C", &[]);
    assert!(
        ascii.is_ascii() && ascii.contains("|- biology") && ascii.contains("##"),
        "{ascii}"
    );
    for columns in [20, 40, 80, 200] {
        let text = tree(&columns.to_string(), "C.UTF-8", &[]);
        let widest = text.lines().map(|line| line.chars().count()).max();
        let needed = 43; // Names and numbers alone.
        assert!(widest <= Some(columns.max(needed)), "{columns}\n{text}");
        assert!(!text.contains('\x1b'));
    }
    let colored = tree("61", "C.UTF-8", &["--color", "always"]);
    assert!(colored.contains("\x1b[38;5;208m"), "{colored:?}");
    let plain = without_colors(&colored);
    assert!(plain.starts_with("Account       Share"), "{plain}");
}

/// The text without its colours.
fn without_colors(text: &str) -> String {
    let mut plain = String::new();
    let mut parts = text.split('\x1b');
    plain.push_str(parts.next().unwrap_or(""));
    for part in parts {
        plain.push_str(part.split_once('m').expect("the end of a colour").1);
    }
    plain
}

/// Attributes and texts of a picture, checked for well-formedness on the way by resvg's parser.
fn picture(svg: &str) -> (f32, f32) {
    let tree = resvg::usvg::Tree::from_str(svg, &resvg::usvg::Options::default()).expect("SVG");
    (tree.size().width(), tree.size().height())
}

#[test]
fn shares_as_a_picture() {
    let ran = fairtree(&["share", "--svg", "examples/site.toml"], b"");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let (width, height) = picture(&ran.out);
    assert!(width > 800.0 && height > 200.0);
    for text in ["physics", "anna", "91 %", "0.3333"] {
        assert!(ran.out.contains(text), "{text}");
    }
    let ran = fairtree(
        &["share", "--html", "-A", "physics", "examples/site.toml"],
        b"",
    );
    assert!(ran.out.contains("anna") && !ran.out.contains("carl"));
    assert!(
        !ran.out.contains("http://") || !ran.out.contains("src="),
        "needs nothing else"
    );
}

/// Classic fair share measures everything against the whole: anna in physics is due 0.6 x 0.5 of it
/// and her effective usage is 36000/39600, as that of physics is (classic_fair_share.shtml: hers plus
/// half of what physics' exceeds it).
#[test]
fn classic_fair_share_is_drawn_as_part_of_the_whole() {
    let args = [
        "share",
        "--tree",
        "--ranking",
        "classic",
        "examples/site.toml",
    ];
    let ran = fairtree(&args, b"");
    let anna = ran
        .out
        .lines()
        .find(|line| line.contains("anna"))
        .expect("her line");
    assert!(anna.contains("30.0%") && anna.contains("90.9%"), "{anna}");
    assert!(ran.out.contains("share of the whole"), "{}", ran.out);
}

/// Three captures of the cluster, an hour apart; at the second genomics has used twice as much.
fn captures(folder: &Path) -> Vec<PathBuf> {
    let origin = checkout().join("tests/captures/cluster");
    let mut made = Vec::new();
    for hour in 0..3_u64 {
        let capture = folder.join(format!("20261121T1{hour}0000Z"));
        std::fs::create_dir_all(&capture).expect("a folder");
        for entry in std::fs::read_dir(&origin).expect("the capture") {
            let path = entry.expect("a file").path();
            let name = path.file_name().expect("a name").to_owned();
            let mut text = std::fs::read_to_string(&path).expect("text");
            if name == "manifest.json" {
                let mut manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
                manifest["time"] = (1_795_255_200 + hour * 3_600).into();
                text = manifest.to_string();
            }
            std::fs::write(capture.join(name), text).expect("the file");
        }
        made.push(capture);
    }
    made
}

fn json(args: &[&str], input: &[u8]) -> serde_json::Value {
    let ran = fairtree(
        &[&["chart", "-q", "--format", "json"][..], args].concat(),
        input,
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).expect("JSON")
}

#[test]
fn captures_over_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = captures(folder.path());
    let from = folder.path().display().to_string();
    let chart = json(&["--from", &from], b"");
    assert_eq!(chart["schema"], "fairtree.chart/1");
    assert_eq!(
        chart["times"],
        serde_json::json!([1_795_255_200_u64, 1_795_258_800_u64, 1_795_262_400_u64])
    );
    // What the capture's sshare printed, three times.
    let rows = fairtree(&["share", "-q", "--json", "--from", &from], b"");
    let rows: serde_json::Value = serde_json::from_str(&rows.out).expect("JSON");
    let (rows, drawn) = (
        rows["rows"].as_array().unwrap(),
        chart["associations"].as_array().unwrap(),
    );
    assert_eq!(rows.len(), drawn.len());
    let near = |a: &serde_json::Value, b: &serde_json::Value| match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() < 1e-6,
        (a, b) => a == b,
    };
    for (row, drawn) in rows.iter().zip(drawn).skip(1) {
        assert_eq!(row["user"], drawn["user"]);
        let course = drawn["course"]["effective_usage"]
            .as_array()
            .expect("a course");
        assert_eq!(course.len(), 3);
        assert!(
            course
                .iter()
                .all(|usage| near(usage, &row["effective_usage"])),
            "{drawn}"
        );
    }
    // Two clusters in one folder are not one site.
    let path = made[1].join("manifest.json");
    let text = std::fs::read_to_string(&path).expect("text");
    let mut manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    manifest["cluster"] = "elsewhere".into();
    std::fs::write(&path, manifest.to_string()).expect("the file");
    let ran = fairtree(&["chart", "--from", &from], b"");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(
        ran.err.contains("two clusters") && ran.err.contains("elsewhere"),
        "{}",
        ran.err
    );
}

const LOG: &[u8] = b"; UnixStartTime: 0\n\
    1 0 0 43200 4 -1 -1 4 -1 -1 1 1 1 -1 1 -1 -1 -1\n\
    2 43200 0 43200 4 -1 -1 4 -1 -1 1 2 2 -1 1 -1 -1 -1\n";

#[test]
fn a_log_over_time_on_a_site() {
    let site = Path::new(env!("CARGO_TARGET_TMPDIR")).join("chart-site.toml");
    let text = "[accounts.g1]\nshares = 3\nusers.u1 = { shares = 1 }\n\
                [accounts.g2]\nshares = 1\nusers.u2 = { shares = 1 }\n";
    std::fs::write(&site, text).expect("the site");
    let site = site.display().to_string();
    let chart = json(&["--site", &site, "--half-life", "0"], LOG);
    let of = |name: &str| {
        let drawn = chart["associations"].as_array().expect("associations");
        drawn
            .iter()
            .find(|node| node["name"] == name)
            .expect("the node")
            .clone()
    };
    assert_eq!(of("g1")["norm_shares"], 0.75);
    assert_eq!(of("g1")["effective_usage"], 0.5);
    assert_eq!(
        (of("g1")["due"].clone(), of("u2")["due"].clone()),
        (0.75.into(), 0.25.into())
    );
    // g1 has used less than its share at the end, and all there was at noon.
    assert_eq!(of("u1")["fs_factor"], 1.0);
    let course = of("u1")["course"]["fs_factor"].clone();
    assert_eq!(
        (course[0].clone(), course.as_array().unwrap().last()),
        (0.5.into(), Some(&1.0.into()))
    );
    // With a half-life of 12 hours the first half of the day counts for half the second.
    let chart = json(&["--site", &site, "--half-life", "12:00:00"], LOG);
    let usage = chart["associations"][1]["effective_usage"]
        .as_f64()
        .expect("a number");
    assert!((usage - 1.0 / 3.0).abs() < 1e-5, "{usage}");
    assert_eq!(chart["half_life_secs"], 43_200);
}

#[test]
fn pixels() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("chart.png");
    let name = path.display().to_string();
    let args = [
        "chart",
        "-q",
        "-o",
        &name,
        "--scale",
        "0.5",
        "--picture",
        "tree",
        "--theme",
    ];
    let mut seen = Vec::new();
    for theme in ["light", "dark"] {
        let ran = fairtree(&[&args[..], &[theme]].concat(), LOG);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let bytes = std::fs::read(&path).expect("the picture");
        let pixmap = resvg::tiny_skia::Pixmap::decode_png(&bytes).expect("PNG");
        assert_eq!(pixmap.width(), 560);
        // The paper in the corner, and ink of letters somewhere in the title's lines.
        let paper = pixmap.pixel(0, 0).expect("a pixel");
        let title = (0..60 * pixmap.width()).map(|at| pixmap.pixels()[at as usize]);
        assert!(
            title.filter(|pixel| *pixel != paper).count() > 200,
            "letters are drawn"
        );
        seen.push((paper.red(), paper.green(), paper.blue()));
    }
    assert_eq!(seen, [(255, 255, 255), (20, 23, 26)]);
}

#[test]
fn wrong_options_are_told() {
    for (args, words) in [
        (&["--half-life", "soon"][..], "--half-life: found \"soon\""),
        (
            &["--site", "tests/sites/tie.sshare"],
            "--site takes a site in TOML",
        ),
        (&["--from", "tests/sites"], "holds no capture"),
        (&["-o", "/nowhere/at/all.svg"], "/nowhere/at/all.svg"),
        (&["--scale", "0"], "from 0.1 to 10"),
        (&["nowhere.swf"], "nowhere.swf"),
    ] {
        let ran = fairtree(&[&["chart"][..], args].concat(), LOG);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains(words), "{args:?}: {}", ran.err);
    }
}

/// Every command line of `fairtree chart --help`, in a folder with what they name; sacct prints what
/// a real one printed.
#[test]
fn the_examples_of_the_help_text_work() {
    let folder = tempfile::tempdir().expect("a folder");
    captures(&folder.path().join("week"));
    let site = checkout().join("examples/site.toml");
    std::fs::copy(site, folder.path().join("site.toml")).expect("the site");
    std::fs::write(folder.path().join("log.swf"), LOG).expect("the log");
    let packed = Command::new("gzip")
        .arg(folder.path().join("log.swf"))
        .status();
    assert!(packed.expect("gzip").success());
    let listing = checkout().join("tests/workloads/sacct-24.11.5.txt");
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).expect("a folder");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fairtree"), bin.join("fairtree"))
        .expect("a link");
    let help = fairtree(&["chart", "--help"], b"").out;
    let (_, examples) = help.split_once("Examples:\n").expect("examples");
    let (examples, _) = examples.split_once("\n\n").expect("exit codes");
    let lines = examples.replace("\\\n    ", "");
    // Two blanks and a word begin a remark.
    let commands = lines
        .lines()
        .map(|line| line.trim().split("   ").next().expect("a command"));
    let commands: Vec<String> = commands
        .filter(|line| line.contains("chart"))
        .map(String::from)
        .collect();
    assert_eq!(commands.len(), 5, "{examples}");
    for command in &commands {
        let script = format!("set -e; sacct() {{ cat {listing:?}; }}; {command}");
        let ran = Command::new("sh")
            .args(["-c", &script])
            .current_dir(folder.path())
            .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
            .output()
            .expect("a shell");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(
            ran.status.success() && !said.contains("error"),
            "{command}: {said}"
        );
    }
    for (name, start) in [
        ("week.html", "<!DOCTYPE html>"),
        ("usage.html", "<!DOCTYPE html>"),
        ("log.svg", "<?xml"),
        ("tree.png", "\u{fffd}PNG"),
        ("log.json", "{\n  \"schema\": \"fairtree.chart/1\""),
    ] {
        let bytes = std::fs::read(folder.path().join(name)).expect(name);
        assert!(String::from_utf8_lossy(&bytes).starts_with(start), "{name}");
    }
}
