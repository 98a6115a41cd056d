//! `scontrol -o show node`.

use super::count;
use super::record::{no_end, records};
use crate::input::error::{InputError, Problem};
use crate::input::left_out::LeftOut;

/// The nodes of a cluster, as far as the size of a job is measured by them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nodes {
    /// Number of nodes.
    pub nodes: u32,
    /// Number of their CPUs.
    pub cpus: u32,
}

/// Reads the records. `file` names the text in messages.
///
/// # Errors
/// Lines that are not records; a node that occurs twice; no node that can be read. A single node
/// that cannot be read goes to `left`.
pub fn read(file: &str, text: &str, left: &mut LeftOut) -> Result<Nodes, InputError> {
    let mut total = Nodes::default();
    let before = left.count();
    if text.trim().is_empty() {
        let why = "has no node";
        return Err(InputError::new(file, Problem::Structure(why.into()))
            .hint("copy the capture again, or make another"));
    }
    for record in records(file, text, "NodeName", &no_end, left)? {
        let small = |text: &str| count::count(text).and_then(|n| u32::try_from(n).ok());
        let Some(cpus) =
            left.keep(record.read("CPUTot", "a whole number from 0 to 4294967295", small))?
        else {
            continue;
        };
        total.nodes = total.nodes.saturating_add(1);
        total.cpus = total.cpus.saturating_add(cpus);
    }
    left.any_read(total.nodes as usize, before)?;
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Nodes, InputError> {
        read("f", text, &mut LeftOut::default())
    }

    #[test]
    fn one_broken_node_hides_no_other() {
        let mut left = LeftOut::default();
        let text = "NodeName=n0 CPUTot=4\nNodeName=n1 CPUTot=x\nnonsense\nNodeName=n2 CPUTot=2\n";
        let nodes = read("f", text, &mut left).unwrap();
        assert_eq!((nodes.nodes, nodes.cpus), (2, 6));
        assert_eq!(left.count(), 2, "{:?}", left.notes());
    }

    // Printed by scontrol 22.05.8.
    #[test]
    fn nodes_and_cpus_are_summed() {
        let line = "NodeName=n0 Arch=x86_64 CoresPerSocket=1  CPUAlloc=3 CPUEfctv=4 CPUTot=4 \
                    CPULoad=4.25 OS=Linux 6.18 #1 SMP @0  RealMemory=1000\n";
        let lines: String = (0..3)
            .map(|at| line.replace("n0", &format!("n{at}")))
            .collect();
        let nodes = of(&lines).unwrap();
        assert_eq!(nodes, Nodes { nodes: 3, cpus: 12 });
        assert!(of("NodeName=n0 CPUTot=x").is_err());
        let twice = of(&line.repeat(2)).unwrap_err();
        assert_eq!(
            (twice.line, twice.to_string().as_str()),
            (Some(2), "f:2: NodeName=n0 stands here twice")
        );
    }
}
