//! Named small trees, for use at every level of the tests.

/// Three users, two with the ratio 22/17, from Slurm's test24.4.
pub const SMALL_TIE: &str = "
u40 40 20
u50 50 25
u80 80 65
";

/// Four users with the same ratio.
pub const SMALL_TIE_ALL: &str = "
a 1 10
b 2 20
c 3 30
d 4 40
";

/// All shares are 0.
pub const SMALL_ZERO_SHARES: &str = "
A/ 0
  a1 0 5
  a2 0
b 0 7
";

/// Zero shares tie at 0, below a user that used far too much.
pub const SMALL_ZERO_AND_SOME: &str = "
greedy 1 1000000
none 0
used 0 5
";

/// Two accounts with level fairshare 1.0; users 2.0, 0.667 and 5.0, 0.556.
pub const TIED_ACCOUNTS: &str = "
A/ 1
  a1 1 25
  a2 1 75
B/ 1
  b1 1 10
  b2 1 90
";

/// Two unused accounts, each with a user of share 1 and one of share 0.
pub const UNUSED_ACCOUNTS: &str = "
ta/ 1
  ta1 1
  ta0 0
tb/ 1
  tb1 1
  tb0 0
";

/// A user at 1.5 above two accounts at 0.6, the first of them without users.
pub const EMPTY_ACCOUNT_FIRST: &str = "
U 4 8
A/ 1 5
B/ 1
  b 1 5
";

/// A user at 1.0 and an account at 1.0, whose users have 2.0 and 0.667.
pub const USER_TIED_WITH_ACCOUNT: &str = "
u 1 100
A/ 1
  a1 1 25
  a2 1 75
";

/// The user's tie continues below an account without users and through two levels.
pub const TIE_THROUGH_LEVELS: &str = "
u 1 100
A/ 1
  E/ 5 10
  A1/ 1
    A2/ 1
      x 1 10
      y 1 50
  z 4 30
";

/// Accounts that tie at the top, and again across their parents one level down.
pub const TIED_ACROSS_PARENTS: &str = "
A/ 1
  A1/ 1
    p 1 10
    q 1 40
  a 1 50
B/ 2
  B1/ 1
    r 1 60
    s 3 40
  b 1 100
";

/// `FairShare=parent` for users and accounts.
pub const PARENTS: &str = "
A/ parent
  a1 3 30
  a2 parent 60
B/ 1
  b1 parent 9
  b2 1 1
c 1
";

/// The example of classic_fair_share.shtml; usage is in hundredths of the machine. An account
/// outside the example has used 30 of them.
pub const CLASSIC_EXAMPLE: &str = "
A/ 40
  B/ 30
    user1 1 20
  C/ 10
    user2 1 25
    user3 1
D/ 60
  E/ 25
    user4 1 25
  F/ 35
    user5 1
G/ 0 30
";
