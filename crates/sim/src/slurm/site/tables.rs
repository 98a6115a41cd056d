//! The tables that jobs are priced by: partitions, QOS and associations.

use fairtree::priority::{AssocFactors, Index, JobTables, Partition, Qos};
use fairtree_model::input::slurm::conf::Conf;
use fairtree_model::input::slurm::script::{AssocAsked, QosAsked};
use fairtree_model::machine::Machine;

/// The tables of a site, without usage. `conf`: settings, in the order of the partitions of `machine`; a
/// factor that it does not give is 1, as in slurm.conf(5). Without a priority above 0 the largest counts as 1.
pub(super) fn tables(
    conf: &Conf,
    machine: &Machine,
    rows: &[AssocAsked],
    qos: &[QosAsked],
    tres_names: Vec<String>,
) -> JobTables {
    let factor = |at: usize| {
        conf.partitions
            .get(at)
            .and_then(|one| one.priority_job_factor)
    };
    let factors: Vec<u16> = (0..machine.partitions.len())
        .map(|at| factor(at).unwrap_or(1))
        .collect();
    let most = f64::from(factors.iter().copied().max().unwrap_or(1).max(1));
    let most_qos = qos
        .iter()
        .map(|qos| qos.row.priority)
        .max()
        .unwrap_or(0)
        .max(1);
    let most_assoc = rows
        .iter()
        .map(|row| row.row.priority)
        .max()
        .unwrap_or(0)
        .max(1);
    let mut tables = JobTables {
        tres_names,
        cluster_cpus: machine.cpus(),
        cluster_nodes: u32::try_from(machine.nodes.len()).unwrap_or(u32::MAX),
        ..JobTables::default()
    };
    for (at, factor) in factors.iter().enumerate() {
        let partition = &machine.partitions[at];
        let start = Index::new(tables.tres_counts.len());
        let nodes = || partition.nodes.iter().map(|node| &machine.nodes[*node]);
        for name in &tables.tres_names {
            let count = match name.as_str() {
                "cpu" => nodes().map(|node| u64::from(node.cpus())).sum(),
                "mem" => nodes().map(|node| node.memory_mb).sum(),
                "node" => partition.nodes.len() as u64,
                name => {
                    let gres = nodes().flat_map(|node| &node.gres);
                    let own = gres.filter(|gres| name == format!("gres/{}", gres.name));
                    own.map(|gres| u64::from(gres.count)).sum()
                }
            };
            tables.tres_counts.push(count);
        }
        tables.partitions.push(Partition {
            priority_job_factor: *factor,
            norm_priority: f64::from(*factor) / most,
            max_time_mins: partition.max_time_mins,
            tres: Some(start),
        });
    }
    for qos in qos {
        tables.qos.push(Qos {
            priority: qos.row.priority,
            norm_priority: f64::from(qos.row.priority) / f64::from(most_qos),
        });
    }
    for row in rows {
        tables.assocs.push(AssocFactors {
            fs_factor: 0.0,
            priority: row.row.priority,
            norm_priority: f64::from(row.row.priority) / f64::from(most_assoc),
        });
    }
    tables
}
