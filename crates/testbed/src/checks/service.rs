//! The service on a real site: a coordinator plans, applies and takes back, as that person and nobody else.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::Check;
use super::fixture::{self, DEADLINE};
use crate::cluster::Cluster;
use crate::cluster::conf::PriorityType;
use crate::cluster::fairtree::Ran;
use crate::wait;
use xtask::installation::Installation;

/// The plugin of Slurm that reads tokens, where Debian's package puts it.
const JWT_PLUGIN: &str = "/usr/lib/x86_64-linux-gnu/slurm-wlm/auth_jwt.so";

/// A running service, seen from outside.
struct Service<'a> {
    cluster: &'a Cluster,
    url: String,
    metrics: String,
    munge_socket: String,
}

/// A person who signed in, by a cookie.
struct Person<'a> {
    service: &'a Service<'a>,
    cookie: String,
}

/// What a coordinator may do on pages and with `fairtree apply`, and others not. The shares in slurmdbd and the
/// actor in its transactions are Slurm's own answers.
pub fn by_coordinators(check: &Check) -> Result<()> {
    if !Installation::of(check.release, check.progress)?.is_of_this_machine() {
        check.step("skipped: people run the command on this machine only");
        return Ok(());
    }
    let mut plan = fixture::plan(check.release, PriorityType::Multifactor);
    let keys = tempfile::tempdir()?;
    let key = keys.path().join("jwt_hs256.key");
    let has_tokens = Path::new(JWT_PLUGIN).exists();
    if has_tokens {
        fs::write(&key, [7; 32])?;
        fs::set_permissions(&key, Permissions::from_mode(0o600))?;
        plan.settings.push(("AuthAltTypes", "auth/jwt".to_owned()));
        plan.settings
            .push(("AuthAltParameters", format!("jwt_key={}", key.display())));
    }
    check.in_cluster(&plan, |cluster| {
        let dan = cluster.user("dan")?.name.clone();
        let names = format!("names={dan}");
        cluster.sacctmgr(&["add", "coordinator", "account=upper", &names])?;
        if has_tokens {
            check.step("slurmdbd takes tokens");
            let file = cluster.path().join("etc/slurmdbd.conf");
            let conf = fs::read_to_string(&file)?;
            let added = format!(
                "AuthAltTypes=auth/jwt\nAuthAltParameters=jwt_key={}\n",
                key.display()
            );
            fs::write(&file, conf + &added)?;
            cluster.stop_slurmdbd()?;
            cluster.start_slurmdbd_again()?;
        }
        check.step("starting the service");
        let service = start(cluster)?;
        let (dan, bob) = (service.sign_in("dan")?, service.sign_in("bob")?);
        check.step("who sees the form");
        for (person, account, status) in [
            (&dan, "upper", "200"),
            (&dan, "left", "200"),
            (&dan, "lower", "404"),
            (&dan, "root", "404"),
            (&bob, "upper", "404"),
            (&bob, "left", "404"),
        ] {
            let (found, _) = person.get(&format!("/account/{account}/shares"))?;
            ensure!(found == status, "{account}: {found}");
        }
        check.step("a plan, applied by others");
        ensure!(dan.plan("upper", "shares:left=3")? == "1");
        let (_, document) = dan.get("/api/v1/plan/1")?;
        let file = service.cluster.path().join("run/plan.json");
        fs::write(&file, &document)?;
        let file = file.display().to_string();
        refused(&service.apply("bob", "1")?, 2, "may not see it")?;
        let of_file = service.apply("bob", &file)?;
        ensure!(of_file.code == 2, "{}{}", of_file.out, of_file.err);
        ensure!(service.shares("left")? == "2");
        check.step("a plan, applied by the coordinator");
        applied(&service.apply("dan", "1")?)?;
        ensure!(service.shares("left")? == "3");
        service.changed_by("dan", "shares=3")?;
        ensure!(dan.outcome("1")? == "applied");
        refused(&service.apply("dan", "1")?, 2, "was applied before")?;
        check.step("shares that change meanwhile");
        ensure!(dan.undo("1")? == "2");
        service.set("left", 7)?;
        refused(&service.apply("dan", "2")?, 1, "left has 7 shares")?;
        ensure!(service.shares("left")? == "7");
        service.set("left", 3)?;
        applied(&service.apply("dan", "2")?)?;
        ensure!(service.shares("left")? == "2");
        service.changed_by("dan", "shares=2")?;
        check.step("changes from outside");
        wait::until_true("root's change is listed", DEADLINE, || {
            let (_, text) = dan.get("/api/v1/changes")?;
            let document: Value = serde_json::from_str(&text)?;
            let changes = document["changes"].as_array().context("changes")?;
            Ok(changes.iter().any(|change| {
                change["actor"] == "root"
                    && change["after"] == "7"
                    && change["outcome"] == "outside"
            }))
        })?;
        let (_, text) = dan.get("/changes")?;
        ensure!(text.matches("applied, <a").count() == 2, "{text}");
        let metrics = service.curl(&format!("-s {}", service.metrics))?;
        let sample = "fairtree_changes_total{cluster=\"fairtree\",outcome=\"applied\"} 2";
        ensure!(metrics.contains(sample), "{metrics}");
        with_token(check, &service, &dan, has_tokens)
    })
}

/// The same on the page. `has_tokens`: this machine's Slurm has the plugin.
fn with_token(
    check: &Check,
    service: &Service<'_>,
    dan: &Person<'_>,
    has_tokens: bool,
) -> Result<()> {
    check.step("a token that is not one");
    let id = dan.plan("upper", "shares:right=4")?;
    let path = format!("/plan/{id}/apply");
    let (_, answer) = dan.post(&path, "jwt=a.b.c")?;
    ensure!(answer.contains("not one of"), "{answer}");
    ensure!(service.shares("right")? == "3");
    if !has_tokens {
        check.step("skipped: tokens need slurm-wlm-jwt-plugin");
        return Ok(());
    }
    let token = |user: &str| {
        let words = ["scontrol", "token", "lifespan=300"];
        let said = service
            .cluster
            .run_as(service.cluster.user(user)?, &words)?;
        Ok::<String, anyhow::Error>(said.trim().to_owned())
    };
    check.step("the token of another person");
    let (_, answer) = dan.post(&path, &format!("jwt={}", token("bob")?))?;
    ensure!(answer.contains("not one of"), "{answer}");
    check.step("a token that is forged");
    let forged = format!("{}x", token("dan")?);
    let (_, answer) = dan.post(&path, &format!("jwt={forged}"))?;
    ensure!(answer.contains("Nothing was run"), "{answer}");
    ensure!(service.shares("right")? == "3");
    check.step("the coordinator's token");
    let (_, answer) = dan.post(&path, &format!("jwt={}", token("dan")?))?;
    ensure!(
        answer.contains(&format!("location: /plan/{id}")),
        "{answer}"
    );
    ensure!(service.shares("right")? == "4");
    service.changed_by("dan", "shares=4")?;
    ensure!(dan.outcome(&id)? == "applied");
    Ok(())
}

fn start(cluster: &mut Cluster) -> Result<Service<'_>> {
    let folder = cluster.path().join("service");
    fs::create_dir_all(&folder)?;
    let munge_socket = cluster.path().join("munge/socket").display().to_string();
    let at = |name: &str| folder.join(name).display().to_string();
    let settings = format!(
        "listen = \"127.0.0.1:0\"\nmunge_socket = \"{munge_socket}\"\ndatabase = \"{}\"\n\
         [capture]\nfolder = \"{}\"\nevery_secs = 30\n[metrics]\nlisten = \"127.0.0.1:0\"\n",
        at("fairtree.db"),
        at("captures"),
    );
    let file = folder.join("serve.toml");
    fs::write(&file, settings)?;
    let said = cluster.start_service(&file)?;
    let address = |before: &str| {
        let mut lines = said.lines();
        let found = lines.find_map(|line| line.strip_prefix(before));
        found.map(str::to_owned).context("an address")
    };
    let service = Service {
        url: address("listening on ")?,
        metrics: address("metrics on ")?,
        munge_socket,
        cluster,
    };
    wait::until_true("the first picture", DEADLINE, || {
        Ok(service.curl(&format!("-s {}/healthz", service.url))? == "ok\n")
    })?;
    Ok(service)
}

impl<'a> Service<'a> {
    fn curl(&self, words: &str) -> Result<String> {
        let ran = self.cluster.shell(&format!("curl --max-time 60 {words}"))?;
        Ok(ran.out)
    }

    /// Signs in with the link that `fairtree login` prints.
    fn sign_in(&'a self, user: &str) -> Result<Person<'a>> {
        let user = self.cluster.user(user)?;
        let words = [
            "login",
            "--url",
            &self.url,
            "--munge-socket",
            &self.munge_socket,
        ];
        let ran = self.cluster.fairtree_as(user, &words)?;
        let (_, credential) = ran.out.trim().split_once("?c=").context("a link")?;
        let answer = self.curl(&format!(
            "-s -i --data 'credential={credential}' {}/login",
            self.url
        ))?;
        let mut lines = answer.lines();
        let cookie = lines.find_map(|line| line.strip_prefix("set-cookie: "));
        let cookie = cookie.and_then(|cookie| cookie.split(';').next());
        Ok(Person {
            service: self,
            cookie: cookie.with_context(|| answer.clone())?.to_owned(),
        })
    }

    /// `fairtree apply` without a question.
    fn apply(&self, user: &str, plan: &str) -> Result<Ran> {
        let words = [
            "apply",
            plan,
            "--immediate",
            "--url",
            &self.url,
            "--munge-socket",
            &self.munge_socket,
        ];
        self.cluster.fairtree_as(self.cluster.user(user)?, &words)
    }

    /// The shares of an account in slurmdbd.
    fn shares(&self, account: &str) -> Result<String> {
        let account = format!("account={account}");
        let words = [
            "sacctmgr",
            "-n",
            "-P",
            "show",
            "assoc",
            &account,
            "user=",
            "format=Share",
        ];
        Ok(self.cluster.run(&words)?.trim().to_owned())
    }

    /// Sets shares as root.
    fn set(&self, account: &str, shares: u32) -> Result<()> {
        let shares = format!("fairshare={shares}");
        self.cluster
            .sacctmgr(&["modify", "account", account, "set", &shares])?;
        Ok(())
    }

    /// Checks that slurmdbd names a person as the one who made a change.
    fn changed_by(&self, user: &str, info: &str) -> Result<()> {
        let name = &self.cluster.user(user)?.name;
        let words = [
            "sacctmgr",
            "-n",
            "-P",
            "show",
            "transactions",
            "format=Actor,Info",
        ];
        let transactions = self.cluster.run(&words)?;
        let line = format!("{name}|{info}");
        ensure!(
            transactions.lines().any(|found| found == line),
            "{transactions}"
        );
        Ok(())
    }
}

impl Person<'_> {
    /// The status and the text of a page.
    fn get(&self, path: &str) -> Result<(String, String)> {
        self.ask(path, "")
    }

    /// Sends a form; the status and the text, with the headers.
    fn post(&self, path: &str, fields: &str) -> Result<(String, String)> {
        let (_, page) = self.get("/me")?;
        let token = page.split("name=\"token\" value=\"").nth(1);
        let token = token.and_then(|rest| rest.split('"').next());
        let token = token.with_context(|| format!("a form: {page}"))?;
        self.ask(
            path,
            &format!("-i --data '{fields}' --data 'token={token}'"),
        )
    }

    fn ask(&self, path: &str, options: &str) -> Result<(String, String)> {
        let answer = self.service.curl(&format!(
            "-s -w '\\n%{{http_code}}' -H 'Cookie: {}' {options} {}{path}",
            self.cookie, self.service.url
        ))?;
        let (text, status) = answer.rsplit_once('\n').context("a status")?;
        Ok((status.to_owned(), text.to_owned()))
    }

    /// Sends a form that leads to a plan, and returns its number.
    fn leading_to_plan(&self, path: &str, fields: &str) -> Result<String> {
        let (_, answer) = self.post(path, fields)?;
        let id = answer.split("location: /plan/").nth(1);
        let id = id.and_then(|rest| rest.lines().next());
        Ok(id.with_context(|| answer.clone())?.to_owned())
    }

    fn plan(&self, account: &str, shares: &str) -> Result<String> {
        self.leading_to_plan("/plan", &format!("account={account}&{shares}"))
    }

    fn undo(&self, id: &str) -> Result<String> {
        self.leading_to_plan(&format!("/plan/{id}/undo"), "")
    }

    /// What became of a plan.
    fn outcome(&self, id: &str) -> Result<String> {
        let (_, text) = self.get(&format!("/api/v1/plan/{id}"))?;
        let document: Value = serde_json::from_str(&text)?;
        let state = document["outcome"]["state"].as_str();
        Ok(state.with_context(|| text.clone())?.to_owned())
    }
}

fn applied(ran: &Ran) -> Result<()> {
    match ran.code {
        0 if ran.err.is_empty() => Ok(()),
        _ => bail!("{}: {}{}", ran.code, ran.out, ran.err),
    }
}

fn refused(ran: &Ran, code: i32, said: &str) -> Result<()> {
    match ran.code == code && ran.err.contains(said) {
        true => Ok(()),
        false => bail!("{}: {}{}", ran.code, ran.out, ran.err),
    }
}
