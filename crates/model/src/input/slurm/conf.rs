//! A slurm.conf with the files that it includes, as far as priorities care.

use crate::input::error::{InputError, Problem};
use crate::input::slurm::document::{Document, Setting};
use fairtree::compat::Release;
use fairtree::config::{Config, Include, Program, SlurmConfReader};

/// Contents of the files.
#[derive(Clone, Debug, PartialEq)]
pub struct Conf {
    /// `PriorityType`.
    pub priority_type: Option<String>,
    /// The priority settings.
    pub config: Config,
    /// The partitions, `DEFAULT` worked in.
    pub partitions: Vec<PartitionLine>,
}

/// Values of a `PartitionName` line; `None`: not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionLine {
    /// Name.
    pub name: String,
    /// `PriorityJobFactor`, or `Priority`.
    pub priority_job_factor: Option<u16>,
    /// `TRESBillingWeights`.
    pub tres_billing_weights: Option<String>,
}

/// Reads `text`, called `name`, and at the place of each `include` line the file that `fetch` hands
/// out. `host`: the release that `compat=slurm` means.
///
/// # Errors
/// Values that slurm.conf would not take, lines that Slurm cannot parse, a file that cannot be read.
pub fn read(
    text: &str,
    name: &str,
    host: Option<Release>,
    fetch: &mut dyn FnMut(&Include) -> Result<String, String>,
) -> Result<Conf, InputError> {
    of_document(&Document::read(text, name, fetch), name, host)
}

/// As [`read`], of files that are already read.
///
/// # Errors
/// As [`read`].
pub fn of_document(
    document: &Document,
    name: &str,
    host: Option<Release>,
) -> Result<Conf, InputError> {
    if let Some(unread) = document.unread.first() {
        let why = format!("{} cannot be read: {}", unread.file, unread.why);
        let place = document.place(&unread.spot);
        let line = document.line(&unread.spot);
        return Err(InputError::new(&place.file, Problem::Structure(why)).at_line(place.line, line));
    }
    if let Some(unparsed) = document.unparsed.first() {
        let why = "Slurm cannot parse this, and slurmctld stops at it: a setting is Key=Value, and # \
                   begins a comment; fairtree lint reports every such line";
        let place = document.place(&unparsed.spot);
        let line = document.line(&unparsed.spot);
        let problem = Problem::Structure(why.to_owned());
        return Err(InputError::new(&place.file, problem)
            .at_line(place.line, line)
            .at_column(place.column));
    }
    let mut reader = SlurmConfReader::for_host(host);
    for setting in &document.settings {
        if let Err(error) = reader.set(&setting.key.text, &setting.value.text) {
            // Other keys are not about priorities.
            if error.setting != "setting" {
                return Err(refused(document, setting, error.setting, error.allowed));
            }
        }
    }
    let config = reader.finish_for(Program::Command).map_err(|errors| {
        let error = &errors[0];
        let key = error.setting.split(' ').next().unwrap_or_default();
        match document.last(key) {
            Some(setting) => refused(
                document,
                setting,
                error.setting.clone(),
                error.allowed.clone(),
            ),
            None => InputError::new(name, Problem::Structure(error.to_string())),
        }
    })?;
    Ok(Conf {
        priority_type: document
            .last("PriorityType")
            .map(|setting| setting.value.text.clone()),
        config,
        partitions: partitions(document)?,
    })
}

pub(super) fn refused(
    document: &Document,
    setting: &Setting,
    what: String,
    allowed: String,
) -> InputError {
    let spot = setting.value_spot();
    let place = document.place(&spot);
    let problem = Problem::Value {
        what,
        found: setting.value.text.clone(),
        allowed,
    };
    InputError::new(&place.file, problem)
        .at_line(place.line, document.line(&spot))
        .at_column(place.column)
}

/// The partitions in their order; what `DEFAULT` gives holds for the lines after it
/// (slurm.conf(5), "PARTITION CONFIGURATION").
fn partitions(document: &Document) -> Result<Vec<PartitionLine>, InputError> {
    let mut default = PartitionLine::default();
    let mut partitions: Vec<PartitionLine> = Vec::new();
    for line in document
        .settings
        .iter()
        .filter(|setting| setting.is("PartitionName"))
    {
        let name = &line.value.text;
        let known = partitions
            .iter()
            .position(|partition| partition.name == *name);
        let mut partition = known.map_or_else(|| default.clone(), |at| partitions[at].clone());
        for pair in line.pairs() {
            let is = |key: &str| pair.key.eq_ignore_ascii_case(key);
            if is("PriorityJobFactor") || is("Priority") {
                let factor = pair.value.parse().ok().filter(|factor| *factor <= 65_533);
                let what = format!("{} of partition {name}", pair.key);
                let allowed = "a whole number from 0 to 65533".to_owned();
                let error = || refused(document, line, what, allowed);
                partition.priority_job_factor = Some(factor.ok_or_else(error)?);
            }
            if is("TRESBillingWeights") {
                partition.tres_billing_weights = Some(pair.value);
            }
        }
        partition.name.clone_from(name);
        match known {
            _ if name.eq_ignore_ascii_case("DEFAULT") => default = partition,
            Some(at) => partitions[at] = partition,
            None => partitions.push(partition),
        }
    }
    Ok(partitions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Conf, InputError> {
        let mut fetch = |include: &Include| match include.file.as_str() {
            "more" => Ok("PriorityWeightAge=7\nPartitionName=b PriorityJobFactor=9\n".to_owned()),
            other => Err(format!("no {other}")),
        };
        read(text, "slurm.conf", None, &mut fetch)
    }

    // Source: slurm.conf(5), "PartitionName": DEFAULT holds for the lines after it.
    #[test]
    fn settings_and_partitions() {
        let conf = of("PriorityType=priority/fairtree\nPriorityWeightAge=5\n\
                       PartitionName=DEFAULT PriorityJobFactor=3\nPartitionName=a \
                       TRESBillingWeights=\"CPU=1,Mem=1G\"\ninclude more\n");
        let conf = conf.unwrap();
        assert_eq!(conf.priority_type.as_deref(), Some("priority/fairtree"));
        assert_eq!(conf.config.priority_weight_age, 7);
        let factors: Vec<_> = conf
            .partitions
            .iter()
            .map(|p| p.priority_job_factor)
            .collect();
        assert_eq!(factors, [Some(3), Some(9)]);
        assert_eq!(
            conf.partitions[0].tres_billing_weights.as_deref(),
            Some("CPU=1,Mem=1G")
        );
    }

    #[test]
    fn errors_have_places() {
        for (text, line) in [
            ("A=1\nPriorityMaxAge=7x\n", 2),
            ("PriorityParameters=x\n", 1),
            ("PriorityDecayHalfLife=0\n", 1),
            ("PartitionName=a PriorityJobFactor=70000\n", 1),
            ("include none\n", 1),
            ("A=1\nroot@head:~# cat slurm.conf\n", 2),
            ("PriorityWeightAge=5 days\n", 1),
        ] {
            assert_eq!(of(text).unwrap_err().line, Some(line), "{text}");
        }
    }
}
