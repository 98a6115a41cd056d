//! A recorded run of Slurm 22.05.8: which starts the simulated schedulers predict, one step ahead.
//! Expected: what slurmctld's log says, and the bounds that docs/simulate.md promises.

#[path = "../../../tests/common/data.rs"]
#[allow(dead_code)] // Other tests read text.
mod data;

use std::path::Path;

use fairtree_model::input::recorded::Recorded;
use fairtree_sim::slurm::check::{Checked, check};

fn checked(run: &str) -> Option<Checked> {
    let conf = data::data(&format!("slurm/{run}/slurm.conf"))?;
    let folder = Path::new(&conf).parent().expect("a folder");
    let recorded = Recorded::read(folder).unwrap_or_else(|error| panic!("{error}"));
    Some(check(&recorded).unwrap_or_else(|error| panic!("{error:?}")))
}

#[test]
fn starts_of_a_recorded_run_are_predicted() {
    let Some(checked) = checked("ordinary") else {
        return;
    };
    assert_eq!(checked.starts, 400);
    let first = checked.mismatches.first();
    assert!(
        checked.starts_predicted * 10 >= checked.starts * 9,
        "{first:?}"
    );
    assert!(
        checked.predictions_wrong * 10 <= checked.predictions,
        "{first:?}"
    );
    assert!(
        checked.same_nodes * 10 >= checked.starts * 9,
        "{}",
        checked.same_nodes
    );
    // The log has each plan with start, end and nodes.
    assert_eq!(checked.plans, 9482);
    assert!(
        checked.plans_same * 100 >= checked.plans * 98,
        "{:?}",
        checked.first_plan
    );
}
