//! Share against use over time, as charts.

use fairtree::tree::AssocIndex;
use fairtree_model::cluster::Names;
use fairtree_render::chart::panels;
use fairtree_render::page::moment;
use maud::{Markup, PreEscaped, html};

use super::Seen;
use crate::store::{Store, StoreError};

/// At most this many associations are drawn, those that used most.
const DRAWN: usize = 12;

impl Seen<'_> {
    /// Charts of associations that the person may see; nothing before there are two pictures an hour apart.
    pub(super) fn over_time(self, of: &[usize]) -> Markup {
        let Some(store) = self.around.store else {
            return html! {};
        };
        let mut of = of.to_vec();
        of.retain(|at| self.viewer.sees_usage(self.picture, *at));
        of.sort_by(|a, b| {
            let used = |at: &usize| self.picture.standing(*at).used;
            used(b).total_cmp(&used(a)).then(a.cmp(b))
        });
        let left_out = of.len().saturating_sub(DRAWN);
        of.truncate(DRAWN);
        let drawn = self.picture.drawn.get((of, left_out), |(of, left_out)| {
            let chart = self.drawn(store, of, *left_out);
            chart.map(PreEscaped::into_string)
        });
        match drawn {
            Ok(chart) => PreEscaped(chart.to_string()),
            Err(error) => html! { p class="warning" { "Over time: " (error) "." } },
        }
    }

    /// The charts of associations, and the number of those that are not drawn.
    fn drawn(self, store: &Store, of: &[usize], left_out: usize) -> Result<Markup, StoreError> {
        let cluster = &self.picture.cluster;
        let mut drawn = Vec::new();
        let (mut recorded, mut computed) = (None, None);
        for at in of.iter().copied().map(AssocIndex::new) {
            if let Some(over) = store.course(cluster.name(at))? {
                recorded = earlier(recorded, over.recorded_from);
                computed = earlier(computed, over.computed_from);
                drawn.push((cluster.assoc(at), over.course, over.times));
            }
        }
        Ok(html! {
            @if !drawn.is_empty() {
                h2 { "Share and use over time" }
                (panels(&drawn))
                (origin(recorded, computed))
                @if left_out > 0 { p class="hint" { (left_out) " with less use are not drawn." } }
            }
        })
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
