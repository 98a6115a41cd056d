//! The trees that flux-accounting publishes, with the orders that it computes for them
//! (`src/fairness/weighted_tree/test/` of flux-framework/flux-accounting, numbers re-keyed).

pub const NO_TIE: &str = "
account1/ 1000
  leaf.1.1 10000 100
  leaf.1.2 1000 11
  leaf.1.3 100000 10
account2/ 100
  leaf.2.1 100000 8
  leaf.2.2 10000 3
account3/ 10
  leaf.3.1 100 0
  leaf.3.2 10 1
";

pub const TIE: &str = "
account1/ 1000
  leaf.1.1 10000 100
  leaf.1.2 1000 10
  leaf.1.3 100000 10
account2/ 100
  leaf.2.1 10000 10
  leaf.2.2 1000 1
  leaf.2.3 100000 1
account3/ 10
  leaf.3.1 100 0
  leaf.3.2 10 1
";

pub const TIE_ALL: &str = "
account1/ 1000
  leaf.1.1 10000 100
  leaf.1.2 1000 10
  leaf.1.3 100000 10
account2/ 100
  leaf.2.1 10000 10
  leaf.2.2 1000 1
  leaf.2.3 100000 1
account3/ 10000
  leaf.3.1 10000 1000
  leaf.3.2 1000 100
  leaf.3.3 100000 100
";

pub const TIE_OF_TWO_KINDS: &str = "
leaf.0.1 100 12
account1/ 1000
  leaf.1.1 10000 100
  leaf.1.2 1000 10
  leaf.1.3 100000 10
account3/ 10
  leaf.3.1 100 0
  leaf.3.2 10 1
";

pub const ZERO_SHARES: &str = "
account1/ 1000
  leaf.1.1 10000 100
  leaf.1.2 1000 10
  leaf.1.3 100000 10
account2/ 100
  leaf.2.1 0 10
  leaf.2.2 0 1
  leaf.2.3 100000 1
account3/ 10
  leaf.3.1 100 0
  leaf.3.2 10 1
";
