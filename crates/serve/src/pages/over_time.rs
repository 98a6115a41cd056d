//! Share against use over time, as charts.

use fairtree::tree::AssocIndex;
use fairtree_model::cluster::Names;
use fairtree_render::chart::panels;
use fairtree_render::page::moment;
use maud::{Markup, html};

use super::Seen;

/// At most this many associations are drawn, those that used most.
const DRAWN: usize = 12;

impl Seen<'_> {
    /// Charts of associations that the person may see; nothing before there are two pictures an hour apart.
    pub(super) fn over_time(self, of: &[usize]) -> Markup {
        let Some(store) = self.around.store else {
            return html! {};
        };
        let cluster = &self.picture.cluster;
        let mut of = of.to_vec();
        of.retain(|at| self.viewer.sees_usage(self.picture, *at));
        of.sort_by(|a, b| {
            let used = |at: &usize| self.picture.standing(*at).used;
            used(b).total_cmp(&used(a)).then(a.cmp(b))
        });
        let left_out = of.len().saturating_sub(DRAWN);
        of.truncate(DRAWN);
        let mut drawn = Vec::new();
        let (mut recorded, mut computed) = (None, None);
        for at in of.into_iter().map(AssocIndex::new) {
            match store.course(cluster.name(at)) {
                Ok(Some(over)) => {
                    recorded = earlier(recorded, over.recorded_from);
                    computed = earlier(computed, over.computed_from);
                    drawn.push((cluster.assoc(at), over.course, over.times));
                }
                Ok(None) => {}
                Err(error) => return html! { p class="warning" { "Over time: " (error) "." } },
            }
        }
        html! {
            @if !drawn.is_empty() {
                h2 { "Share and use over time" }
                (panels(&drawn))
                (origin(recorded, computed))
                @if left_out > 0 { p class="hint" { (left_out) " with less use are not drawn." } }
            }
        }
    }
}

/// The earlier one of two moments.
fn earlier(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    a.into_iter().chain(b).min()
}

/// Since when the service has recorded what is drawn, and what was computed from jobs.
fn origin(recorded: Option<i64>, computed: Option<i64>) -> Markup {
    html! {
        p class="hint" {
            @match recorded {
                Some(recorded) => { "The service has recorded these numbers since " (moment("recorded_from", recorded)) ". " }
                None => { "The service has not recorded these numbers itself yet. " }
            }
            @if let Some(computed) = computed {
                "Those of before, from " (moment("computed_from", computed)) ", were computed when it started: from the jobs that "
                "sacct listed, with the shares of that day, and without use of earlier days."
            }
        }
    }
}
