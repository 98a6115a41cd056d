//! Why a job waits, in sentences: the reason, its place, who is ahead, and what would help.

use std::fmt;

use super::Text;
use super::remedies::ONLY_OTHERS;
use super::words::list;
use fairtree_analysis::explain::wait::{
    Cause, Dependency, Never, Place, Reached, Step, StepKind, Waits, is_for_users,
};
use fairtree_analysis::explain::{Answer, Remedy};
use fairtree_model::span::Span;

/// At most this many accounts, places and steps of a kind are shown.
const SHOWN: usize = 5;

/// Writes the reason, the places and the jobs ahead of a job.
pub(super) fn write_reason(f: &mut fmt::Formatter<'_>, waits: &Waits) -> fmt::Result {
    let why = cause(waits.reason.as_deref(), &waits.cause);
    write!(f, "Waits for: {why}.")?;
    let visible = match waits.visible_only {
        true => " of those that you may see (PrivateData=jobs)",
        false => "",
    };
    for place in waits.places.iter().take(SHOWN) {
        if let Some(text) = place_of(place) {
            write!(f, " {text}{visible}.")?;
        }
    }
    writeln!(f)?;
    if waits.ahead.is_empty() {
        return Ok(());
    }
    let shown = waits.ahead.iter().take(SHOWN);
    let mut words: Vec<String> = shown
        .map(|ahead| {
            let account = ahead.account.as_deref().unwrap_or("no account");
            format!("{} of {account}", ahead.jobs)
        })
        .collect();
    let rest: u64 = waits.ahead.iter().skip(SHOWN).map(|ahead| ahead.jobs).sum();
    if rest > 0 {
        words.push(format!("{rest} of other accounts"));
    }
    writeln!(f, "Ahead of it: {}.", list(&words))
}

/// `Place 57 of 70 in main`; `None` for a job that is held.
fn place_of(place: &Place) -> Option<String> {
    let at = place.place?;
    let partition = place.partition.as_ref();
    let partition = partition.map_or(String::new(), |name| format!(" in {name}"));
    Some(format!("Place {at} of {}{partition}", place.of))
}

/// The reason in words; Slurm's word, `reason`, comes first where it has one of its own.
pub(in crate::explain) fn cause(reason: Option<&str>, cause: &Cause) -> String {
    let word = reason.unwrap_or_default();
    match cause {
        Cause::Never { partitions } => {
            let why: Vec<String> = partitions.iter().filter_map(never).collect();
            format!(
                "nothing, it never starts as it was submitted: {}",
                list(&why)
            )
        }
        Cause::Priority => "Priority (jobs with a higher priority start first)".to_owned(),
        Cause::Resources => "Resources (not enough is free for it now)".to_owned(),
        Cause::Dependency { on, never } => dependency(on, *never),
        Cause::BeginTime { begin: 0 } => {
            "BeginTime (it may not start before a set time)".to_owned()
        }
        Cause::BeginTime { begin } => format!("BeginTime (it may not start before {})", at(*begin)),
        Cause::HeldByUser => "JobHeldUser (its user holds it)".to_owned(),
        Cause::HeldByAdmin if word.is_empty() => "its release (it is held)".to_owned(),
        Cause::HeldByAdmin => format!("{word} (an administrator or slurmctld holds it)"),
        Cause::Limit { limit } => format!("{word} ({})", self::limit(limit)),
        Cause::PartitionOff => format!("{word} (its partition does not start jobs)"),
        Cause::NodesUnavailable => {
            format!("{word} (nodes that it asks for are down, drained or reserved)")
        }
        Cause::Other => format!("{word} ({})", other(word)),
        Cause::Unknown => "a reason that the input does not have".to_owned(),
    }
}

/// Words of squeue(1), JOB REASON CODES, that need no numbers.
fn other(word: &str) -> &'static str {
    match word {
        "Licenses" => "the licences that it asks for are in use",
        "Reservation" => "its reservation has not begun, or is full",
        "PartitionNodeLimit" => "it asks for more nodes than its partition allows a job",
        "PartitionTimeLimit" => "it asks for more time than its partition allows a job",
        "PartitionConfig" => "its partition does not allow a job such as this",
        "BadConstraints" => "no nodes meet its constraints",
        "JobArrayTaskLimit" => "as many tasks of its array run as the array allows",
        "QOSNotAllowed" => "its association or partition does not allow its QOS",
        "AccountNotAllowed" => "its partition does not allow its account",
        "InvalidAccount" => "its account is not known",
        "InvalidQOS" => "its QOS is not known",
        "QOSUsageThreshold" => "its QOS asks for a better fair share (UsageThreshold)",
        "Cleaning" => "an earlier run of it is not cleaned up yet",
        "DeadLine" => "it can no longer end before its deadline",
        _ => "a reason of squeue(1), JOB REASON CODES",
    }
}

fn never(never: &Never) -> Option<String> {
    let Never {
        partition,
        what,
        asked,
        most,
    } = never;
    Some(match (*what)? {
        "minutes" => format!(
            "it asks for {}, and partition {partition} allows {}",
            Span(asked * 60),
            Span(most * 60)
        ),
        "cpus" => format!("it asks for {asked} CPUs, and partition {partition} has {most}"),
        what => format!("it asks for {asked} {what}, and partition {partition} has {most}"),
    })
}

fn dependency(on: &[Dependency], never: bool) -> String {
    let one = |on: &Dependency| {
        let Some(job) = &on.job else {
            return "every other job of this name and user".to_owned();
        };
        let state = on.state.as_deref();
        let state = state.map_or(String::new(), |state| format!(", {state}"));
        let due = match on.condition.as_str() {
            "after" => ", which must start",
            "afterok" => ", which must end without an error",
            "afternotok" => ", which must fail",
            "aftercorr" => ", whose task must end without an error",
            _ => ", which must end",
        };
        format!("job {job}{state}{due}")
    };
    let words: Vec<String> = on.iter().map(one).collect();
    let words = match words.is_empty() {
        true => String::new(),
        false => format!(" ({})", words.join("; ")),
    };
    match never {
        false => format!("Dependency{words}"),
        true => format!("Dependency{words}: this can no longer happen, so it never starts"),
    }
}

/// The limit, how much it allows, and how full it is.
fn limit(limit: &Reached) -> String {
    let of = match (limit.of, &limit.name) {
        ("qos", Some(name)) => format!("of QOS {name}"),
        ("qos", None) => "of its QOS".to_owned(),
        (_, Some(name)) => format!("of {name}"),
        (_, None) => "of its association or an account above".to_owned(),
    };
    let amount = |count: u64| amount(limit, count);
    let Some(most) = limit.most else {
        return format!("the limit {} {of} is reached", limit.limit);
    };
    let tres = limit.tres.as_ref();
    let tres = tres.map_or(String::new(), |tres| format!(" of {tres}"));
    let mut text = format!("{}{tres} {of} allows {}", limit.limit, amount(most));
    if let Some(used) = limit.used {
        text += &format!(", {} in use", amount(used));
    }
    if let Some(asks) = limit
        .asks
        .filter(|_| limit.tres.is_some() || limit.limit == "MaxWall")
    {
        text += &format!(", this job asks for {}", amount(asks));
    }
    text
}

fn amount(limit: &Reached, count: u64) -> String {
    match (limit.limit, limit.tres.as_deref()) {
        ("MaxWall" | "GrpWall", _) => Span(count.saturating_mul(60)).to_string(),
        ("GrpTRESMins" | "GrpTRESRunMins", _) => format!("{count} minutes"),
        (_, Some("mem")) => format!("{count} MB"),
        (_, Some(_)) => count.to_string(),
        (_, None) if count == 1 => "1 job".to_owned(),
        (_, None) => format!("{count} jobs"),
    }
}

fn at(secs: i64) -> String {
    jiff::Timestamp::from_second(secs).map_or(String::new(), |moment| moment.to_string())
}

/// What would help, in sentences.
pub(in crate::explain) struct Help {
    /// Something that its user can change helps.
    pub helps: bool,
    /// What its user can do.
    pub own: Vec<String>,
    /// The heading of the rest, and the rest.
    pub others: Option<(String, Vec<String>)>,
}

/// What would help: first what a user can do, then the rest.
pub(in crate::explain) fn help(id: u32, waits: &Waits) -> Help {
    let remedies = waits.next.iter().flat_map(|next| &next.remedies);
    let (own, others): (Vec<&Remedy>, Vec<&Remedy>) =
        remedies.partition(|remedy| is_for_users(&remedy.kind));
    let next = waits.next.as_ref().map_or(0, |next| next.job);
    let least = |remedy: &&Remedy| matches!(remedy.answer, Answer::Least(_));
    let said = |remedy: &Remedy| match remedy.answer {
        Answer::Least(_) => format!("{}: then ahead of job {next}", Text(remedy)),
        Answer::Never(_) => Text(remedy).to_string(),
    };
    let heading = format!("{ONLY_OTHERS}, to put it ahead of job {next}, the next one");
    let others: Vec<String> = others
        .into_iter()
        .map(|one| Text(one).to_string())
        .collect();
    Help {
        helps: !waits.steps.is_empty() || own.iter().any(least),
        own: waits
            .steps
            .iter()
            .map(|step| self::step(id, step))
            .chain(own.into_iter().map(said))
            .collect(),
        others: (!others.is_empty()).then_some((heading, others)),
    }
}

/// The heading of what a user can do.
pub(in crate::explain) fn heading(helps: bool) -> &'static str {
    match helps {
        true => "What you can do, each tried, all else as it is",
        false => "Nothing that you can change helps now",
    }
}

/// Writes what would help.
pub(super) fn write_help(f: &mut fmt::Formatter<'_>, id: u32, waits: &Waits) -> fmt::Result {
    let help = help(id, waits);
    writeln!(f)?;
    let end = if help.own.is_empty() { "." } else { ":" };
    writeln!(f, "{}{end}", heading(help.helps))?;
    for line in help.own {
        writeln!(f, "  - {line}")?;
    }
    if let Some((heading, lines)) = help.others {
        writeln!(f, "{heading}:")?;
        for line in lines {
            writeln!(f, "  - {line}")?;
        }
    }
    Ok(())
}

fn step(id: u32, step: &Step) -> String {
    let (what, how) = match &step.kind {
        StepKind::Partition { name } => (
            format!("partition {name}"),
            format!("scontrol update job={id} partition={name}"),
        ),
        StepKind::Qos { name } => (
            format!("QOS {name}"),
            format!("scontrol update job={id} qos={name}"),
        ),
        StepKind::Account { name } => (
            format!("account {name}"),
            format!("scontrol update job={id} account={name}"),
        ),
        StepKind::Size {
            what,
            most,
            partition,
        } => {
            let most_words = match *what {
                "minutes" => Span(most.saturating_mul(60)).to_string(),
                "cpus" => format!("{most} CPUs"),
                what => format!("{most} {what}"),
            };
            return format!(
                "at most {most_words}, which partition {partition} has: submit it again, or scontrol update job={id}"
            );
        }
        StepKind::WithinLimit { tres: None, most } => {
            let most = Span(most.saturating_mul(60));
            return format!(
                "a time limit of at most {most}: scontrol update job={id} timelimit={most}"
            );
        }
        StepKind::WithinLimit {
            tres: Some(tres),
            most,
        } => return format!("at most {most} of {tres}, which the limit leaves now"),
        StepKind::LimitFrees => return "waiting: jobs that fill the limit end".to_owned(),
        StepKind::DependencyEnds => {
            return format!(
                "waiting for that, or without it: scontrol update job={id} dependency="
            );
        }
        StepKind::RemoveDependency => {
            return format!("without the dependency: scontrol update job={id} dependency=");
        }
        StepKind::BeginTime => {
            return format!("waiting, or an earlier time: scontrol update job={id} starttime=now");
        }
        StepKind::Release => return format!("its release: scontrol release {id}"),
    };
    match step.place.as_ref().and_then(place_of) {
        Some(place) => format!("{what}: {} ({how})", lower(&place)),
        None => format!("{what} ({how})"),
    }
}

fn lower(text: &str) -> String {
    text.replacen("Place", "place", 1)
}
