//! Billing weights of a site's resources.

use fairtree::config::ValueError;
use fairtree::config::tres_weights::parse_tres_weights;
use fairtree::usage::TresKind;

/// The weights of `TRESBillingWeights` in the order of `names`, 0 for those not given. Names that
/// the site does not track weigh nothing, as in slurmctld.
///
/// # Errors
/// Those of [`parse_tres_weights`].
pub fn billing_weights(names: &[String], text: &str) -> Result<Vec<f64>, ValueError> {
    let given = parse_tres_weights(text)?;
    let weight = |name: &String| {
        let last = given
            .iter()
            .rev()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        last.map_or(0.0, |(_, weight)| *weight)
    };
    Ok(names.iter().map(weight).collect())
}

/// Kind of resource of each of `names`.
pub fn kinds(names: &[String]) -> Vec<TresKind> {
    names.iter().map(|name| TresKind::of(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // slurm.conf(5): "Mem=0.25G" is a quarter per gibibyte; memory is counted in mebibytes.
    #[test]
    fn in_the_sites_order() {
        let names = ["cpu", "mem", "node", "gres/gpu"].map(str::to_owned);
        let weights = billing_weights(&names, "CPU=1.0,Mem=0.25G,GRES/gpu=2.0,license/x=9");
        assert_eq!(weights.unwrap(), [1.0, 0.25 / 1024.0, 0.0, 2.0]);
        assert!(billing_weights(&names, "CPU").is_err());
    }
}
