//! `examples/c/service.c`: compiled with all warnings as C11 and C++17, and run directly, with
//! AddressSanitizer and with valgrind. What it prints is compared with numbers computed by hand.

mod capi_common;

use std::process::Command;

use capi_common::{Library, run};

const SERVICE: &str = "examples/c/service.c";

/// An hour is 3,600,000,000 microseconds: 10,800,000,000 at 3, 18,000,000,000 at 5; ten hours at 2 are
/// 72,000,000,000. The job of day 14 began under the old price. The reservation began under the new
/// one and lasted two hours: 7,200 s at 2,000. Account 7: 15 hours at 3 and 15 at 5.
///
/// After the restart it is 12:15: job 100 began at 10:00, job 101 at 12:00, job 102 came at 12:06.
const WANTED: &str = "\
day 0
  job 1: 3600 s at 3 a microsecond, billed: 10800000000
day 14
  job 15: 3600 s at 3 a microsecond, billed: 10800000000
ft_on_demand_submit: machine: account 9 runs on machine \"trap\" only, not on machine \"ion\"
restart
  ion: 1 runs, 1 waits, prices 5 and 2000
  trap: 1 runs, 0 waits, prices 2 and 500
  job 101 of account 8 runs on machine 0 for 900 s, in the reservation
  job 102 of account 8 waits on machine 0 for 540 s, in the reservation
  job 100 of account 9 runs on machine 1 for 8100 s
  reservation 1 of account 8 ends in 2700 s
  job 101: 1800 s at 0 a microsecond, not billed: 0
  job 102: 3600 s at 0 a microsecond, not billed: 0
  job 100: 36000 s at 2 a microsecond, billed: 72000000000
day 15
  job 16: 3600 s at 5 a microsecond, billed: 18000000000
bills
  account 7, machine 0: executed 108000 s, reserved 0 s, owes 432000000000
  account 8, machine 0: executed 0 s, reserved 7200 s, owes 14400000
  account 9, machine 1: executed 36000 s, reserved 0 s, owes 72000000000
";

fn assert_prints_what_is_expected(command: &mut Command) {
    let printed = String::from_utf8(run(command).stdout).expect("UTF-8");
    assert_eq!(printed, WANTED);
}

#[test]
fn a_service_restarts_is_repriced_and_lists_itself() {
    let library = Library::build();
    for standard in ["-std=c11", "-std=c++17"] {
        let program = library.compile(&[SERVICE], standard, &[]);
        assert_prints_what_is_expected(&mut library.command(program));
    }
}

#[test]
fn it_is_clean_under_address_sanitizer() {
    let (_library, mut command) = Library::sanitized(&[SERVICE], "-std=c11");
    assert_prints_what_is_expected(&mut command);
}

#[test]
fn it_is_clean_under_valgrind() {
    let library = Library::build();
    let program = library.compile(&[SERVICE], "-std=c11", &[]);
    assert_prints_what_is_expected(&mut library.valgrind(&program));
}
