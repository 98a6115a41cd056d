// Part of build.rs and of the test `slurm_symbols`: what a Slurm release looks up by name in a
// priority plugin, read from its own source.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Where the table of names is: since 23.02, and before.
const FILES: [&str; 2] = ["src/interfaces/priority.c", "src/common/slurm_priority.c"];

/// The priority plugin interface of one Slurm source tree.
pub struct Interface {
    /// `priority_p_*` functions.
    pub functions: BTreeSet<String>,
    /// `priority_p_get_priority_factors_list` takes the request of sprio, too.
    pub factors_request: bool,
}

impl Interface {
    /// Reads a source tree. An error says which file lacks what.
    pub fn read(source: &Path) -> Result<Interface, String> {
        let path = FILES.map(|file| source.join(file));
        let path = path
            .into_iter()
            .find(|path| path.is_file())
            .ok_or_else(|| format!("{} has none of {FILES:?}", source.display()))?;
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Interface::parse(&text).ok_or_else(|| {
            format!(
                "{} has no table `syms[]` of names like \"priority_p_set\"",
                path.display()
            )
        })
    }

    fn parse(text: &str) -> Option<Interface> {
        let (_, table) = text.split_once("syms[] = {")?;
        let (table, _) = table.split_once("};")?;
        let quoted = table.split('"').skip(1).step_by(2);
        let functions: BTreeSet<String> = quoted.map(str::to_owned).collect();
        let named = |name: &String| name.starts_with("priority_p_");
        (functions.contains("priority_p_set") && functions.iter().all(named)).then(|| Interface {
            functions,
            factors_request: text.contains("priority_factors_request_msg_t"),
        })
    }
}
