//! The options for comparing Slurm's commands with ours.

use anyhow::Result;

use crate::cluster::Cluster;
use crate::facts::facts;

/// A command of Slurm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// sshare
    Sshare,
    /// sprio
    Sprio,
}

impl Command {
    /// Slurm's name of the command.
    pub fn name(self) -> &'static str {
        match self {
            Command::Sshare => "sshare",
            Command::Sprio => "sprio",
        }
    }
}

/// A call of a command with options.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The command.
    pub command: Command,
    /// Its options.
    options: Vec<String>,
    /// True if the live Slurm is asked, too.
    pub live: bool,
}

impl Asked {
    /// The words for Slurm.
    pub fn slurm(&self) -> Vec<&str> {
        let mut words = vec![self.command.name()];
        words.extend(self.options.iter().map(String::as_str));
        words
    }

    /// The words for `fairtree`: the same options.
    pub fn ours<'a>(&'a self, from: Option<&'a str>) -> Vec<&'a str> {
        let mut words = match self.command {
            Command::Sshare => vec!["share", "--quiet"],
            Command::Sprio => vec!["prio", "--quiet"],
        };
        if let Some(folder) = from {
            words.extend(["--from", folder]);
        }
        words.extend(self.options.iter().map(String::as_str));
        words
    }
}

/// Options of sshare. Number columns are at least eight bytes wide. In narrower columns sshare
/// shows two significant digits of a number, or its first six digits. A capture has six decimals:
/// for 0.0034503 sshare shows 3.5e-03, but 0.003450 from the capture would give 3.4e-03.
///
/// Each word is separate; `{name}` is replaced by a user. `!`: ask the live Slurm, too.
const SSHARE: &[&str] = &[
    "!",
    "!-l",
    "-a",
    "!-a -l",
    "-a -l -m",
    "-m",
    "!-U",
    "-a -U",
    "-a -U -l -m",
    "-A left",
    "!-A left -a",
    "-A LEFT,lower -a -l",
    "-A left -A lower -u {ann}",
    "-A upper,right -a",
    "-A nothing -a",
    "-u {ann}",
    "!-u {ann},{eve} -l -m",
    "-u {ann} -u {bob} -U",
    "-u {long} -A lower -l",
    "-u -1",
    "-u {ann} -a",
    "-u nobody-of-the-kind",
    "-n",
    "-h -a",
    "-n -a -l -P",
    "-a -p",
    "!-a -P -l -m",
    "-a -p -P",
    "-a -P -p",
    "-a -P -U -n",
    "-a -o Account,User,RawUsage",
    "-a -o account%40,user%-20,raws%3,rawu%4,norms,normu,eff,lev,fair,id",
    "-a -o Account%5,User%3,FairShare%8,LevelFS%8,EffectvUsage%8,NormShares%8",
    "-a -o Account%12 -o User%12 -o LevelFS%20,FairShare%-12",
    "-a -P -o Cluster,Account,User,Partition,ID,GrpTRESMins,GrpTRESRaw,TRESRunMins",
    "!-a -o A%30,U%30,GrpTRESMins%60,GrpTRESRaw%80,TRESRunMins%25",
    "-a -o A%-8,GrpTRESRaw%12,User",
    "-a -n -o User,Account,User%4",
    "-a -o User,account,Acc%7",
    "-U -a -n -P -o User,FairShare",
    "-l -o Account,User",
    "-a -A lower -l -m -p -n",
    "--all --long --partition --noheader --parsable2",
    "--accounts=left --users={bob} --format=Account,User%30,FairShare --Users",
];

/// Options of sprio. Some name a job: `{held}`, `{array}`, `{two}` (in two partitions).
const SPRIO: &[&str] = &[
    "!",
    "!-l",
    "-n",
    "!-n -l",
    "!-w",
    "-w -l",
    "-w -n",
    "-w -n -l -h",
    "-h",
    "-h -l",
    "-j{two}",
    "!-j {two},{array} -l",
    "-j 999999",
    "-j {two} -u {dan}",
    "-u {ann}",
    "!-u {ann},{long}",
    "-u {ann} -l",
    "-u {ann} -n",
    "-p debug",
    "!-p main -l",
    "-p debug,main -u {ann},{eve} -S -Y",
    "-S Y",
    "-S -Y",
    "-S -y,i",
    "!-S r,-Y,-i",
    "-S u,-F,i -l",
    "-S -A,+J,-P,q",
    "-S N,-i",
    "-S -N,Y -l",
    "-S T,i",
    "-S -t,-i -n",
    "-S -c,-Q,u,r",
    "-l -S -f,-j,a",
    "-o %i",
    "!-o %.15i|%9r|%.8u|%.10Y|%10y",
    "-o %i,%r,%c,%u,%Y,%y,%S,%N,%A,%a,%B,%b,%F,%f,%J,%j,%P,%p,%Q,%q,%T,%t",
    "-o %.4i=%3r=%.3u=%.5Y=%5y=%.1S=%2N=%.12a=%12A=%8T=%.30T=%.9t=%40t|",
    "-h -o job_%i:%u -S -u,i",
    "-n -o %7i/%.20y/%f",
    "-w -o %i|%A|%a|%B|%F|%J|%P|%Q|%T|%t|%S|%N|%Y|%u|%r",
    "-l -u {eve} -p main,debug -S -i -h",
    "--long --noheader --sort=-y,-i --user={ann},{bob}",
    "--norm --partition=main --format=%.12i_%f_%t --jobs={two}",
];

/// Options for the releases that have account and QOS.
const SPRIO_NAMES: &[&str] = &[
    "!-o %i|%.10o|%o|%8n|%n",
    "-S o,n,-i",
    "-S -n,-o,r,i -l",
    "-w -o %i,%o,%n,%Q",
];

/// Every call, with the user names and job ids of this cluster.
pub fn all(cluster: &Cluster) -> Result<Vec<Asked>> {
    let mut found = Vec::new();
    let newer = facts(cluster.release()).sprio_names_qos;
    let names = if newer { SPRIO_NAMES } else { &[] };
    for (command, list) in [
        (Command::Sshare, SSHARE),
        (Command::Sprio, SPRIO),
        (Command::Sprio, names),
    ] {
        for text in list {
            let (live, text) = match text.strip_prefix('!') {
                Some(rest) => (true, rest),
                None => (false, *text),
            };
            let words = text.split(' ').filter(|word| !word.is_empty());
            let options: Result<Vec<String>> = words.map(|word| filled(cluster, word)).collect();
            let mut options = options?;
            // Those releases of sprio take one number only.
            for option in options.iter_mut().filter(|_| newer && text.contains("-j ")) {
                option.truncate(option.find(',').unwrap_or(option.len()));
            }
            // From 24.05 on sprio crashes when it sorts by most columns and a job's priority was
            // set by hand; bob has such a job.
            let sorts = options.iter().any(|option| option == "-S");
            if newer && sorts && !text.contains("-u ") {
                options.push("-u".to_owned());
                options.push(filled(cluster, "{ann},{cyd},{dan},{eve},{long}")?);
            }
            found.push(Asked {
                command,
                options,
                live,
            });
        }
    }
    Ok(found)
}

/// Returns a word with its `{name}`s replaced.
fn filled(cluster: &Cluster, word: &str) -> Result<String> {
    let mut text = String::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, behind) = after.split_once('}').unwrap_or((after, ""));
        text += before;
        text += &match super::scene::job_named(cluster, name)? {
            Some(id) => id.to_string(),
            None => cluster.user(super::scene::user_named(name))?.name.clone(),
        };
        rest = behind;
    }
    Ok(text + rest)
}
