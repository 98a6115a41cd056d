// Part of build.rs and of the tests `slurm_source` and `slurm_symbols`: reads from a Slurm source
// tree its release, and the functions that it looks up by name in a priority plugin.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::Path;

/// Release series that c_shim supports, in order: year and month. docs/releases.md says how to add
/// a series, and how each one was checked.
pub const SERIES: [(u32, u32); 8] = [
    (22, 5),
    (23, 2),
    (23, 11),
    (24, 5),
    (24, 11),
    (25, 5),
    (25, 11),
    (26, 5),
];

/// Functions that every release looks up.
const ALWAYS: [&str; 5] = [
    "priority_p_get_priority_factors_list",
    "priority_p_job_end",
    "priority_p_reconfig",
    "priority_p_set",
    "priority_p_set_assoc_usage",
];

/// Functions that some releases look up, and the cfg that exports them.
const SOMETIMES: [(&str, &str); 3] = [
    ("priority_p_calc_fs_factor", "slurm_has_calc_fs_factor"),
    ("priority_p_recover", "slurm_has_recover"),
    ("priority_p_thread_start", "slurm_has_thread_start"),
];

/// The cfg for releases in which priority_p_get_priority_factors_list also takes sprio's request.
const FACTORS_REQUEST: &str = "slurm_has_factors_request";

/// Every cfg that [`Interface::cfgs`] may return.
pub const CFGS: [&str; 4] = [
    SOMETIMES[0].1,
    SOMETIMES[1].1,
    SOMETIMES[2].1,
    FACTORS_REQUEST,
];

/// A release as in `SLURM_VERSION_NUMBER`: year, month and micro release, one byte each.
#[derive(Clone, Copy)]
pub struct Release(pub u32);

impl Release {
    /// Release of a configured source tree, from its `config.h`. Its series must be known, or later
    /// than all known ones.
    pub fn of_config(config: &str) -> Result<Release, String> {
        let number = config
            .lines()
            .find_map(|line| line.strip_prefix("#define SLURM_VERSION_NUMBER 0x"))
            .and_then(|hex| u32::from_str_radix(hex.trim(), 16).ok())
            .ok_or("config.h does not define SLURM_VERSION_NUMBER")?;
        let release = Release(number);
        if SERIES.contains(&release.series()) || release.is_of_unknown_later_series() {
            return Ok(release);
        }
        Err(format!(
            "Slurm {release} is of a series that fairtree does not know (known: {})",
            known()
        ))
    }

    /// Returns true if the series is later than every known one.
    pub fn is_of_unknown_later_series(self) -> bool {
        SERIES.iter().all(|series| self.series() > *series)
    }

    /// Warning for a build against a later series; `None` for a known one.
    pub fn warning(self) -> Option<String> {
        self.is_of_unknown_later_series().then(|| {
            format!(
                "Slurm {self} is of a series that fairtree does not know (known: {}). It is built as \
                 for the last of these. Check before you use it, by the list in docs/releases.md: who \
                 calls the hooks of src/interfaces/priority.c, under which locks and in which order; \
                 what changed in src/plugins/priority/multifactor; then the tests, with SLURM_PREFIX",
                known()
            )
        })
    }

    fn series(self) -> (u32, u32) {
        (self.0 >> 16, self.0 >> 8 & 0xff)
    }
}

fn known() -> String {
    SERIES
        .map(|(year, month)| format!("{year}.{month:02}"))
        .join(", ")
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month) = self.series();
        write!(f, "{year}.{month:02}.{}", self.0 & 0xff)
    }
}

/// File with the table of names: since 23.02, and before.
const FILES: [&str; 2] = ["src/interfaces/priority.c", "src/common/slurm_priority.c"];

/// The priority plugin interface of one Slurm source tree.
pub struct Interface {
    /// Functions that are looked up.
    pub functions: BTreeSet<String>,
    /// True if priority_p_get_priority_factors_list also takes sprio's request.
    pub factors_request: bool,
}

impl Interface {
    /// Reads a source tree.
    pub fn read(source: &Path) -> Result<Interface, String> {
        let path = FILES.map(|file| source.join(file));
        let path = path
            .into_iter()
            .find(|path| path.is_file())
            .ok_or_else(|| format!("{} has none of {FILES:?}", source.display()))?;
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Interface::parse(&text).ok_or_else(|| {
            format!(
                "{} has no table `syms[]` of names like \"priority_p_set\": see docs/releases.md",
                path.display()
            )
        })
    }

    /// Reads the file with the table; `None` if it has none.
    pub fn parse(text: &str) -> Option<Interface> {
        let (_, table) = text.split_once("syms[] = {")?;
        let (table, _) = table.split_once("};")?;
        let quoted = table.split('"').skip(1).step_by(2);
        let functions: BTreeSet<String> = quoted.map(str::to_owned).collect();
        functions.contains("priority_p_set").then(|| Interface {
            functions,
            factors_request: text.contains("priority_factors_request_msg_t"),
        })
    }

    /// The cfgs that export exactly the functions that are looked up. An error if the plugin lacks
    /// one of these, or if a function is not looked up that the plugin always exports.
    pub fn cfgs(&self) -> Result<Vec<&'static str>, String> {
        let mut rest: BTreeSet<&str> = self.functions.iter().map(String::as_str).collect();
        let missing: Vec<&str> = ALWAYS
            .into_iter()
            .filter(|name| !rest.remove(name))
            .collect();
        let mut cfgs: Vec<&str> = SOMETIMES
            .into_iter()
            .filter(|(name, _)| rest.remove(name))
            .map(|(_, cfg)| cfg)
            .collect();
        if !rest.is_empty() || !missing.is_empty() {
            return Err(format!(
                "this Slurm looks up {rest:?}, which fairtree does not have, and not {missing:?}, \
                 which it has: see docs/releases.md"
            ));
        }
        cfgs.extend(self.factors_request.then_some(FACTORS_REQUEST));
        Ok(cfgs)
    }
}
