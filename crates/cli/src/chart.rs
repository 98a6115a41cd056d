//! `fairtree chart`.

use std::io::{BufWriter, IsTerminal, Write, stdout};
use std::path::Path;

use super::args::{ChartArgs, ChartFormat, PictureName, RankingName, ThemeName};
use super::cluster::{policy_file, refused};
use super::input::{Input, Opened, no_shares, open_stream, read_opened, read_or_ask, shares_of};
use super::message::Messages;
use super::progress::Waiting;
use super::workload::{Counting, gather};
use super::{Failure, Outcome, compat_of, input};
use fairtree::compat::Compat;
use fairtree::config::time::parse_minutes_as_secs;
use fairtree::config::{PolicyFile, UsageModel};
use fairtree::fairshare::Ranking;
use fairtree_analysis::history::{Timeline, from_captures, from_history};
use fairtree_analysis::policy::{check_accounts, settings_of};
use fairtree_analysis::share::{Fractions, ShareReport, from_listed, from_site, ranking_of};
use fairtree_model::input::capture::{list, open_only};
use fairtree_model::input::site::Site;
use fairtree_model::input::slurm::snapshot::Source;
use fairtree_model::input::{Format, InputError, Problem, sacct};
use fairtree_model::listed::Listed;
use fairtree_model::output::{SHARED, replace_by};
use fairtree_render::chart::{Picture, Theme, page, png, poster_svg, to_json};

/// Reads, computes, draws.
pub(super) fn run(args: &ChartArgs, messages: &Messages) -> Result<Outcome, Failure> {
    let format = format(args)?;
    let own = Own {
        compat: args.compat.as_deref().map(compat_of).transpose()?,
        ranking: args.ranking,
        half_life_secs: half_life(args)?,
        policy: args.policy.as_deref().map(policy_file).transpose()?,
    };
    let timeline = timeline(args, &own)?;
    let drawn = draw(args, format, &timeline)?;
    let write = |mut out: &mut dyn Write| match &drawn {
        Some(drawn) => out.write_all(drawn),
        None => to_json(&mut out, &timeline),
    };
    match args.file_to_write() {
        Some(path) => {
            let failed = |error| Failure::File(path.display().to_string(), error);
            replace_by(path, SHARED, write).map_err(failed)?;
        }
        None => {
            let mut out = BufWriter::new(stdout().lock());
            write(&mut out)?;
            out.flush()?;
        }
    }
    timeline.notes.iter().for_each(|note| messages.note(note));
    Ok(Outcome::Done)
}

/// The values of options that replace those of the site.
struct Own {
    compat: Option<Compat>,
    ranking: Option<RankingName>,
    half_life_secs: Option<u32>,
    policy: Option<PolicyFile>,
}

impl Own {
    fn ranking(&self, of_site: Ranking) -> Ranking {
        let named = self.ranking.map(RankingName::ranking);
        let dampening = of_site.dampening().unwrap_or(1);
        named.unwrap_or(of_site).with_dampening(dampening)
    }

    /// `is_latest`: a policy's accounts must be there; earlier ones may not have been.
    fn report(&self, input: Input, is_latest: bool) -> Result<ShareReport, Failure> {
        match input {
            Input::Queue(queue) => Err(no_shares(&queue)),
            Input::Site(mut site) => {
                if let Some(policy) = &self.policy {
                    site.follow_policy(policy).map_err(refused)?;
                }
                let compat = self.compat.unwrap_or(site.config.compat);
                Ok(from_site(
                    &site,
                    self.ranking(site.config.ranking()),
                    compat,
                ))
            }
            Input::Listing(listing, settings) => {
                let config = settings.as_ref().map(|beside| &beside.config);
                let config = settings_of(config, self.policy.as_ref()).map_err(refused)?;
                let (ranking, compat) = match &config {
                    Some(config) => (config.ranking(), config.compat),
                    None => (ranking_of(&listing), Compat::default()),
                };
                let compat = self.compat.unwrap_or(compat);
                let ranking = self.ranking(ranking);
                let listed = Listed::new(&listing, ranking)?;
                if let Some(policy) = self.policy.as_ref().filter(|_| is_latest) {
                    check_accounts(&listed, policy, config.as_ref()).map_err(refused)?;
                }
                let mut report = from_listed(&listed, compat, config.as_ref(), Fractions::Printed);
                if settings.is_some() {
                    // All associations.
                    report.assumptions.clear();
                }
                Ok(report)
            }
        }
    }
}

fn format(args: &ChartArgs) -> Result<ChartFormat, Failure> {
    let ending = args.file_to_write().and_then(Path::extension);
    let by_name = match ending
        .map(|ending| ending.to_string_lossy().to_ascii_lowercase())
        .as_deref()
    {
        Some("svg") => ChartFormat::Svg,
        Some("png") => ChartFormat::Png,
        Some("json") => ChartFormat::Json,
        _ => ChartFormat::Html,
    };
    let format = args.format.unwrap_or(by_name);
    if format == ChartFormat::Png && args.file_to_write().is_none() && stdout().is_terminal() {
        return Err(Failure::Usage(
            "a PNG picture is nothing for a terminal: -o FILE".into(),
        ));
    }
    Ok(format)
}

fn half_life(args: &ChartArgs) -> Result<Option<u32>, Failure> {
    let parse = |text: &String| {
        parse_minutes_as_secs(text).map_err(|error| {
            let allowed = error.allowed;
            Failure::Usage(format!("--half-life: found {text:?}, allowed is {allowed}"))
        })
    };
    args.half_life.as_ref().map(parse).transpose()
}

fn timeline(args: &ChartArgs, own: &Own) -> Result<Timeline, Failure> {
    if let Some(folder) = &args.live.from {
        return captured(folder, own);
    }
    let input_format = args.input_format.map(Format::from);
    if args.file.is_none() && !input::is_piped() {
        let input = read_or_ask(&args.live, None, input_format, None)?;
        return Ok(own.report(input, true)?.into());
    }
    let opened = open_stream(args.file.as_deref(), input_format)?;
    match opened.format {
        Format::Sacct | Format::Swf => logged(args, own, opened),
        _ => Ok(own
            .report(read_opened(opened, own.policy.as_ref())?, true)?
            .into()),
    }
}

/// The captures of a folder.
fn captured(folder: &Path, own: &Own) -> Result<Timeline, Failure> {
    let _waiting = Waiting::new("reading captures");
    let folders = list(folder)?;
    let mut times = Vec::with_capacity(folders.len());
    let mut cluster: Option<String> = None;
    for folder in &folders {
        let manifest = open_only(folder, &[])?.manifest;
        if let Some(found) = manifest.cluster {
            let known = cluster.get_or_insert_with(|| found.clone());
            if *known != found {
                let why = format!("holds captures of two clusters, {known} and {found}");
                let name = folder.display().to_string();
                return Err(InputError::new(&name, Problem::Structure(why))
                    .hint("keep the captures of each cluster in a folder of its own")
                    .into());
            }
        }
        times.push(i64::try_from(manifest.time).unwrap_or(i64::MAX));
    }
    let read = |at: usize| -> Result<ShareReport, Failure> {
        let stored = open_only(&folders[at], &[Source::Config, Source::Shares])?;
        own.report(shares_of(&stored, None)?, at + 1 == folders.len())
    };
    let Some(mut timeline) = from_captures(&times, read)? else {
        return Err(Failure::Usage(format!(
            "{}: holds no capture",
            folder.display()
        )));
    };
    timeline.machine = cluster.or(timeline.machine);
    timeline.latest.source = folder.display().to_string();
    Ok(timeline)
}

/// A log of jobs.
fn logged(args: &ChartArgs, own: &Own, opened: Opened) -> Result<Timeline, Failure> {
    let site = args.site.as_deref().map(site).transpose()?;
    let mut counting = Counting::new(site, own.policy.as_ref())?;
    if let Some(secs) = own.half_life_secs {
        counting.config.priority_decay_half_life_secs = secs;
        let usage = counting.config.usage();
        if usage != UsageModel::HalfLife {
            return Err(Failure::Usage(format!(
                "--half-life: with usage={usage} nothing decays; allowed is a site with usage=half_life"
            )));
        }
    }
    let options = sacct::Options {
        columns: args.columns.as_deref(),
        cluster: args.cluster.as_deref(),
    };
    let Opened {
        name,
        format,
        input,
        ..
    } = opened;
    let gathered = gather(&name, format, input, options, &counting)?;
    let ranking = own.ranking(counting.config.ranking());
    let compat = own.compat.unwrap_or(counting.config.compat);
    let placed = gathered.place(&name, counting)?;
    let mut timeline = from_history(&gathered.history, &placed, ranking, compat);
    timeline.latest.source = name;
    Ok(timeline)
}

/// The site from a file that shows who shares with whom.
fn site(path: &Path) -> Result<Site, Failure> {
    let opened = open_stream(Some(path), None)?;
    let name = opened.name.clone();
    match opened.format {
        Format::Site | Format::Dump | Format::Assocs => match read_opened(opened, None)? {
            Input::Site(site) => Ok(*site),
            Input::Listing(..) | Input::Queue(_) => {
                Err(Failure::Usage(format!("{name}: is no site")))
            }
        },
        _ => Err(Failure::Usage(format!(
            "{name}: --site takes a site in TOML, a file of sacctmgr dump, or sacctmgr -P show assoc"
        ))),
    }
}

/// The parts to draw; not for JSON: all moments of all associations are long, and so are not kept.
fn draw(
    args: &ChartArgs,
    format: ChartFormat,
    timeline: &Timeline,
) -> Result<Option<Vec<u8>>, Failure> {
    let theme = match args.theme {
        ThemeName::Auto => Theme::Auto,
        ThemeName::Light => Theme::Light,
        ThemeName::Dark => Theme::Dark,
    };
    let picture = match args.picture {
        PictureName::All => Picture::All,
        PictureName::Use => Picture::Use,
        PictureName::Factor => Picture::Factor,
        PictureName::Tree => Picture::Tree,
    };
    Ok(Some(match format {
        ChartFormat::Html => {
            let all: Vec<usize> = (0..timeline.latest.rows.len()).collect();
            page(timeline, &all, theme).into_bytes()
        }
        ChartFormat::Svg => poster_svg(timeline, picture, theme).into_bytes(),
        ChartFormat::Png => {
            // Pixels do not follow their surroundings.
            let theme = if theme == Theme::Auto {
                Theme::Light
            } else {
                theme
            };
            png(&poster_svg(timeline, picture, theme), args.scale)?
        }
        ChartFormat::Json => return Ok(None),
    }))
}
