//! Who asks, and who is meant.

use nix::unistd::{Uid, User};

/// The names that `-u` means: of a number the user that has it on this machine, as Slurm's
/// commands take it; a number that no user has stays as it is.
pub(super) fn login_names(given: &[String]) -> Vec<String> {
    let login = |word: &String| {
        let number = word.parse().ok();
        number.and_then(name_of).unwrap_or_else(|| word.clone())
    };
    given.iter().map(login).collect()
}

/// The login name of the user who runs the command.
pub(super) fn login_name() -> Option<String> {
    name_of(Uid::effective().as_raw())
}

fn name_of(uid: u32) -> Option<String> {
    let user = User::from_uid(Uid::from_raw(uid));
    user.ok().flatten().map(|user| user.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_mean_users_of_this_machine() {
        let given = ["0", "alice", "4294967290"].map(str::to_owned);
        assert_eq!(login_names(&given), ["root", "alice", "4294967290"]);
    }
}
