//! Many people read: Slurm is asked by the timer alone. Expected: one call for each source of a capture and one for
//! transactions, counted by the commands themselves.

mod running;

use std::thread;

use running::{CALLS, Place};

/// People who read at once, and pages that each one reads.
const READERS: usize = 50;
const PAGES: usize = 16;

#[test]
fn readers_cause_no_call_to_slurm() {
    let place = Place::recorded();
    let service = place.start();
    service.await_picture(&place, 0);
    assert_eq!(place.calls(), CALLS);
    let paths = [
        "/me",
        "/job/301",
        "/job/301/versus/309",
        "/account/physics",
        "/account/root/shares?shares%3Ascience=50",
        "/site",
        "/changes",
        "/api/v1/me",
        "/healthz",
    ];
    thread::scope(|scope| {
        for reader in 0..READERS {
            let (service, user) = (&service, ["root", "ft2-bob", "ft2-dave"][reader % 3]);
            scope.spawn(move || {
                for path in paths.iter().cycle().skip(reader).take(PAGES) {
                    let answer = service.get(path, user).expect("an answer");
                    let hidden = path.contains("/shares") && user == "ft2-bob";
                    assert_eq!(
                        answer.status,
                        if hidden { 404 } else { 200 },
                        "{path} {user}"
                    );
                }
            });
        }
    });
    assert_eq!(place.calls(), CALLS, "by {} pages", READERS * PAGES);
}

/// A sacctmgr that never answers: pages show the last picture and why there is no newer one.
#[test]
fn a_picture_stays_while_slurm_is_away() {
    let place = Place::recorded();
    let service = place.start();
    service.await_picture(&place, 0);
    service.kill();
    place.command(
        "scontrol",
        "echo 'slurm_load_ctl_conf error: Unable to contact slurm controller' >&2; exit 1",
    );
    let service = place.start();
    let mut answer = service.get("/me", "ft2-bob").expect("an answer");
    // The earlier picture is shown at once; the reason, when the command has failed.
    while !answer.text.contains("gave no new picture") {
        thread::yield_now();
        answer = service.get("/me", "ft2-bob").expect("an answer");
        assert_eq!(answer.status, 200);
    }
    assert!(
        answer.text.contains("Unable to contact slurm controller"),
        "{}",
        answer.text
    );
    let health = service.get("/healthz", "ft2-bob").expect("an answer");
    assert_eq!(health.text, "ok, with an old picture\n");
}
