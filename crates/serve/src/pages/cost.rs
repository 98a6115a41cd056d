//! Before a job is submitted: what it would be billed, and what that does to fair share.

use axum::http::StatusCode;
use fairtree::config::time::{Time, parse_time};
use fairtree_analysis::cost::{Cost, Wish, cost};
use fairtree_model::input::slurm::parse_tres;
use fairtree_render::cost::{to_html, to_json};
use maud::{Markup, html};
use serde::Deserialize;

use super::{Seen, View};
use crate::answer::Refusal;
use crate::question::Form;
use crate::sheet::Sheet;

/// The fields of the form.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Asked {
    account: String,
    partition: String,
    qos: String,
    tres: String,
    time: String,
}

/// The page.
pub(super) struct Before<'a> {
    seen: Seen<'a>,
    asked: Asked,
    /// The cost, or why it is not known; `None`: nothing was asked yet.
    cost: Option<Result<Cost, String>>,
}

impl<'a> Before<'a> {
    pub(super) fn of(seen: Seen<'a>, query: &str) -> Result<Before<'a>, Refusal> {
        let asked: Asked = serde_urlencoded::from_str(query)
            .map_err(|error| Refusal::wrong(format!("The form: {error}")))?;
        let cost = match asked.time.is_empty() && asked.tres.is_empty() {
            true => None,
            false => Some(seen.cost(&asked)),
        };
        Ok(Before { seen, asked, cost })
    }
}

impl Seen<'_> {
    fn cost(self, asked: &Asked) -> Result<Cost, String> {
        let said = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let secs = match parse_time(&asked.time) {
            _ if asked.time.is_empty() => None,
            Ok(Time::Secs(secs)) if secs > 0 => Some(secs),
            _ => {
                return Err(format!(
                    "Time: found {:?}, allowed is a time above 0, such as 2-0 (days), 12:00:00 or 90 (minutes)",
                    asked.time
                ));
            }
        };
        let tres = match asked.tres.is_empty() {
            true => None,
            false => Some(parse_tres(&asked.tres).filter(|tres| !tres.is_empty()).ok_or_else(|| {
                format!(
                    "Resources: found {:?}, allowed are resources as cpu=64,mem=256G,gres/gpu=4",
                    asked.tres
                )
            })?),
        };
        let wish = Wish {
            user: Some(self.viewer.user.clone()),
            account: said(&asked.account),
            partition: said(&asked.partition),
            qos: said(&asked.qos),
            tres,
            secs,
            ..Wish::default()
        };
        let cluster = &self.picture.cluster;
        let request = wish.request(cluster).map_err(|error| error.to_string())?;
        let mut cost = cost(cluster, &request);
        // Accounts above are shown as far as their usage may be seen.
        cost.effects.retain(|effect| {
            let at = cluster
                .find_any(&effect.name)
                .or_else(|_| cluster.find(&effect.name));
            effect.is_user || at.is_ok_and(|at| self.viewer.sees_usage(self.picture, at.get()))
        });
        Ok(cost)
    }
}

impl View for Before<'_> {
    fn title(&self) -> String {
        "Before I submit".to_owned()
    }

    fn html(&self) -> Markup {
        let (picture, viewer) = (self.seen.picture, self.seen.viewer);
        let names = viewer
            .own
            .iter()
            .map(|at| &*picture.cluster.names[*at].account);
        let field = |name: &str, label: &str, value: &str, example: &str| {
            html! { p { label { (label) " " input name=(name) value=(value) placeholder=(example); } } }
        };
        html! {
            form method="get" action="/cost" {
                p { label { "Account " select name="account" {
                    @for name in names { option value=(name) selected[name == self.asked.account] { (name) } }
                } } }
                p { label { "Partition " select name="partition" {
                    option value="" { "the default one" }
                    @for partition in &picture.cluster.partitions {
                        option value=(partition.name) selected[partition.name == self.asked.partition] { (partition.name) }
                    }
                } } }
                (field("qos", "QOS", &self.asked.qos, "normal"))
                (field("tres", "Resources", &self.asked.tres, "cpu=64,mem=256G"))
                (field("time", "Time", &self.asked.time, "12:00:00"))
                p { button type="submit" { "Compute" } }
            }
            @match &self.cost {
                None => {}
                Some(Err(why)) => p class="error" { (why) "." },
                Some(Ok(cost)) => (to_html(cost)),
            }
        }
    }

    fn json(&self, out: &mut Vec<u8>) -> std::io::Result<()> {
        match &self.cost {
            Some(Ok(cost)) => to_json(out, cost),
            Some(Err(why)) => Ok(serde_json::to_writer(
                out,
                &serde_json::json!({"schema": "fairtree.error/1", "error": why}),
            )?),
            None => Ok(serde_json::to_writer(
                out,
                &serde_json::json!({"schema": "fairtree.error/1", "error": "say how long: ?time=12:00:00&tres=cpu=4"}),
            )?),
        }
    }

    fn status(&self, form: Form) -> StatusCode {
        match &self.cost {
            Some(Ok(_)) => StatusCode::OK,
            // The empty form.
            None if form == Form::Html => StatusCode::OK,
            Some(Err(_)) | None => StatusCode::BAD_REQUEST,
        }
    }

    fn csv(&self) -> Sheet {
        let mut sheet = Sheet::new(&["name", "value"]);
        if let Some(Ok(cost)) = &self.cost {
            for (name, value) in [
                ("billing", Some(cost.bill.billing)),
                ("charged", Some(cost.charged)),
                ("left_at_end", Some(cost.left_at_end)),
                ("fairshare_points", cost.fairshare_points),
            ] {
                let Some(value) = value else { continue };
                sheet.rows.push(vec![name.into(), value.into()]);
            }
        }
        sheet
    }
}
