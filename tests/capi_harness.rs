//! `examples/c/harness.c`: compiled with all warnings as C11 and C++17, and run directly, with
//! AddressSanitizer and with valgrind; its numbers are compared with those computed by hand.
//!
//! By hand: usage halves in a week, so physics used 40000 and biology 60000 of 100000. Their shares
//! are 60 and 40 of 100: level fairshare 0.6/0.4 = 1.5 and 0.4/0.6 = 2/3. In physics anna has 1/2
//! of the shares and 30000/40000 of the usage: 2/3; bert has 1/2 and 10000/40000: 2. In biology
//! both have equal parts of usage and shares: 1, a tie. So the ranks are bert 4, anna 3, cleo and
//! dora 2, of 4 users.

mod capi_common;

use std::process::Command;

use capi_common::{Library, run};

const HARNESS: &str = "examples/c/harness.c";

const TABLE: &str = "\
Account        User  RawShares NormShares   RawUsage EffectvUsage    LevelFS  FairShare
root                                          100000
 physics                    60   0.600000      40000     0.400000   1.500000
  physics      anna          1   0.500000      30000     0.750000   0.666667   0.750000
  physics      bert          1   0.500000      10000     0.250000   2.000000   1.000000
 biology                    40   0.400000      60000     0.600000   0.666667
  biology      cleo          3   0.750000      45000     0.750000   1.000000   0.500000
  biology      dora          1   0.250000      15000     0.250000   1.000000   0.500000
";

const REASON: &str = "\
user 10 comes before user 12: fair-share factors 0.750000 and 0.500000.
They part below account 1; the larger level fairshare goes first:
  account 2: raw shares 60, normalized 0.600000, raw usage 40000, effective usage 0.400000, level fairshare 1.500000
  account 3: raw shares 40, normalized 0.400000, raw usage 60000, effective usage 0.600000, level fairshare 0.666667
";

/// Weighted terms of job `i`, in sprio's order: age, fair share, partition, QOS, TRES.
fn terms(i: u64) -> [u64; 5] {
    let fairshare = [7500, 10000, 5000, 5000][(i % 4) as usize];
    // PriorityJobFactor 1 and 4, of at most 4; QOS of priority 0 and 10, of at most 10.
    let partition = [500, 2000][(i / 4 % 2) as usize];
    let qos = [0, 500][(i / 8 % 2) as usize];
    // 0, half and all of PriorityMaxAge; 0, 4 and all 8 GPUs of the partition.
    let age = [0, 500, 1000][(i / 16 % 3) as usize];
    let tres = [0, 200, 400][(i / 48 % 3) as usize];
    [age, fairshare, partition, qos, tres]
}

fn expected() -> String {
    let mut jobs = format!(
        "{:>8} {:>10} {:>8} {:>10} {:>10} {:>8} {:>8}\n",
        "JobID", "Priority", "Age", "FairShare", "Partition", "QOS", "TRES"
    );
    for i in (0..100_000).step_by(20023) {
        let [age, fairshare, partition, qos, tres] = terms(i);
        let priority: u64 = terms(i).iter().sum();
        jobs += &format!(
            "{:>8} {priority:>10} {age:>8} {fairshare:>10} {partition:>10} {qos:>8} {tres:>8}\n",
            i + 1
        );
    }
    let sum: u64 = (0..100_000).flat_map(terms).sum();
    // A head of 32 bytes, 36 for each of 7 associations, a checksum of 4.
    let size = 32 + 7 * 36 + 4;
    let moment = 1_700_000_000 + 7 * 86_400;
    format!(
        "fairtree {}\n\n{TABLE}\n{REASON}\n{jobs}100000 jobs, sum of priorities {sum}\n\n\
         saved {size} bytes, valued at {moment}, restored the same\n",
        env!("CARGO_PKG_VERSION")
    )
}

fn assert_prints_what_is_expected(command: &mut Command) {
    let printed = run(command).stdout;
    similar_asserts(&String::from_utf8(printed).expect("UTF-8"), &expected());
}

/// Compares line by line, so that a difference is readable.
fn similar_asserts(found: &str, wanted: &str) {
    for (number, (found, wanted)) in found.lines().zip(wanted.lines()).enumerate() {
        assert_eq!(found, wanted, "line {}", number + 1);
    }
    assert_eq!(found, wanted);
}

#[test]
fn it_prints_the_numbers_worked_out_by_hand() {
    let library = Library::build();
    for standard in ["-std=c11", "-std=c++17"] {
        let program = library.compile(&[HARNESS], standard, &[]);
        assert_prints_what_is_expected(&mut library.command(program));
    }
}

#[test]
fn it_is_clean_under_address_sanitizer() {
    let (_library, mut command) = Library::sanitized(&[HARNESS], "-std=c11");
    assert_prints_what_is_expected(&mut command);
}

/// The programs in the opening comment of the header: each begins with the declaration of a handle
/// and ends with the indented lines.
fn programs_of_the_header() -> Vec<String> {
    let header = std::fs::read_to_string(capi_common::crate_dir().join("include/fairtree.h"));
    let header = header.expect("the header");
    let comment = header.split("*/").next().expect("an opening comment");
    let mut programs: Vec<String> = Vec::new();
    let mut inside = false;
    for line in comment.lines() {
        let code = line.strip_prefix(" *     ");
        if !inside && code.is_some_and(|code| code.starts_with("ft_")) {
            programs.push(String::new());
        }
        let begun = inside || code.is_some_and(|code| code.starts_with("ft_"));
        inside = begun && code.is_some();
        if let (true, Some(code), Some(program)) = (inside, code, programs.last_mut()) {
            *program += code;
            *program += "\n";
        }
    }
    programs
}

/// The output that a program states: the comment on or below its last `printf`.
fn promise(program: &str) -> String {
    let printed = program.split("printf(\"").last().expect("it prints");
    let promise = printed.split("// ").nth(1).expect("it says what");
    format!("{}\n", promise.lines().next().unwrap_or_default())
}

#[test]
fn the_programs_in_the_header_print_what_they_say() {
    let programs = programs_of_the_header();
    assert_eq!(programs.len(), 4, "one for each kind of site");
    let library = Library::build();
    for (number, body) in programs.iter().enumerate() {
        let source = library.dir().join(format!("example{number}.c"));
        let text = format!(
            "#include <fairtree.h>\n#include <stdio.h>\nint main(void)\n{{\n{body}\nreturn 0;\n}}\n"
        );
        std::fs::write(&source, text).expect("the folder is writable");
        let source = source.to_str().expect("UTF-8").to_owned();
        for standard in ["-std=c11", "-std=c++17"] {
            let program = library.compile(&[&source], standard, &[]);
            let printed = run(&mut library.command(program)).stdout;
            assert_eq!(String::from_utf8_lossy(&printed), promise(body));
        }
    }
}

#[test]
fn it_is_clean_under_valgrind() {
    let library = Library::build();
    let program = library.compile(&[HARNESS], "-std=c11", &[]);
    assert_prints_what_is_expected(&mut library.valgrind(&program));
}
