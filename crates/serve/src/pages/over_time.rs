//! Share against use over time, as charts.

use fairtree::tree::AssocIndex;
use fairtree_model::cluster::Names;
use fairtree_render::chart::panels;
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
        for at in of.into_iter().map(AssocIndex::new) {
            match store.course(cluster.name(at)) {
                Ok(Some((course, times))) => drawn.push((cluster.assoc(at), course, times)),
                Ok(None) => {}
                Err(error) => return html! { p class="warning" { "Over time: " (error) "." } },
            }
        }
        html! {
            @if !drawn.is_empty() {
                h2 { "Share and use over time" }
                (panels(&drawn))
                @if left_out > 0 { p class="hint" { (left_out) " with less use are not drawn." } }
            }
        }
    }
}
