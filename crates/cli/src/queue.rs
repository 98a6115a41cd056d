//! `fairtree queue`.

use std::io::{BufRead, BufReader, BufWriter, IsTerminal, Write, stdin, stdout};
use std::path::Path;

use super::args::QueueArgs;
use super::message::Messages;
use super::open::named;
use super::{Failure, Outcome, terminal};
use fairtree_analysis::queue::{Answer, Player};
use fairtree_model::input::queue::{Act, Event, Events, Policy, read};
use fairtree_model::input::{InputError, stream};
use fairtree_render::queue::{begin_json, begin_text, to_json, write};

/// Reads the site, and then event by event: each is answered before the next one is read.
pub(super) fn run(args: &QueueArgs, messages: &Messages) -> Result<Outcome, Failure> {
    let is_stdin = |path: &Path| path == Path::new("-");
    let site_piped = is_stdin(&args.file);
    let events = args.events.as_deref().filter(|path| !is_stdin(path));
    if site_piped && events.is_none() {
        return Err(Failure::Usage(
            "the site and the events cannot both come from standard input\nhint: name a file of \
             events: --events FILE"
                .to_owned(),
        ));
    }
    let site = match site_piped {
        true => read("standard input", stdin().lock())?,
        false => {
            let name = args.file.display().to_string();
            read(&name, open(&args.file)?)?
        }
    };
    let policy = match site.policy {
        Policy::FairShare(_) => "fair_share",
        Policy::OnDemand(_) => "on_demand",
    };
    if args.bill && policy == "fair_share" {
        return Err(Failure::Usage(format!(
            "--bill: {} has no prices; allowed is a site with policy = \"on_demand\"",
            site.file
        )));
    }
    site.notes.iter().for_each(|note| messages.note(note));
    let (name, input): (String, Box<dyn BufRead>) = match events {
        Some(path) => (path.display().to_string(), open(path)?),
        // Unpacked streams are read in advance; a program that waits for answers could wait for
        // ever.
        None => (
            "standard input".to_owned(),
            Box::new(BufReader::new(stdin())),
        ),
    };
    let source = site.file.clone();
    let mut player = Player::new(site, &name)?;
    let mut out = Output {
        out: BufWriter::new(stdout().lock()),
        json: args.json || !(args.table || stdout().is_terminal()),
    };
    out.begin(&source, policy)?;
    let mut events = Events::new(&name, input);
    while let Some(event) = events.read_event()? {
        out.answer(&player.play(&event)?)?;
    }
    let last = [
        (args.positions, Act::Positions(None)),
        (args.estimate, Act::Estimate(None)),
        (
            args.bill,
            Act::Bill {
                from: None,
                to: None,
            },
        ),
    ];
    for (_, act) in last.into_iter().filter(|(wanted, _)| *wanted) {
        if player.now().is_some() {
            out.answer(&player.play(&asked(act))?)?;
        }
    }
    Ok(Outcome::Done)
}

/// A question of the command line, which is no line of the events.
fn asked(act: Act) -> Event {
    Event {
        time: None,
        act,
        line: 0,
        text: String::new(),
    }
}

/// Opens a file, in gzip or not.
fn open(path: &Path) -> Result<Box<dyn BufRead>, InputError> {
    let name = path.display().to_string();
    let file = named(path).map_err(|error| InputError::new(&name, error))?;
    let stream = stream::open(file).map_err(|error| InputError::new(&name, error))?;
    Ok(stream.input)
}

/// Where answers go, and how they look.
struct Output<W> {
    out: W,
    json: bool,
}

impl<W: Write> Output<W> {
    fn begin(&mut self, source: &str, policy: &str) -> Result<(), Failure> {
        match self.json {
            true => begin_json(&mut self.out, source, policy)?,
            false => begin_text(&mut self.out)?,
        }
        Ok(self.out.flush()?)
    }

    fn answer(&mut self, answers: &[Answer]) -> Result<(), Failure> {
        for answer in answers {
            match self.json {
                true => to_json(&mut self.out, answer)?,
                false => write(&mut self.out, answer, terminal::table_width())?,
            }
        }
        Ok(self.out.flush()?)
    }
}
