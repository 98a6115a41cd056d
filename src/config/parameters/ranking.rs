//! `ranking=`.

use super::key::Key;
use crate::compat::Release;
use crate::config::{Config, PriorityFlags, ValueError};
use crate::fairshare;

/// The ranking, instead of the one that PriorityFlags choose. The rules are in [`fairshare`].
pub struct Ranking;

impl Key for Ranking {
    type Value = fairshare::Ranking;
    const NAME: &'static str = "ranking";
    const FORM: &'static str = "NAME or NAME:ARGUMENT, such as fair_tree";
    const DEFAULT: &'static str = "what PriorityFlags choose";
    const MEANING: &'static str = "who comes first: the rule behind fair-share factors";

    fn parse(text: &str, _: Option<Release>) -> Result<fairshare::Ranking, ValueError> {
        fairshare::Ranking::parse(text)
    }

    fn is_in_stock(value: &fairshare::Ranking) -> bool {
        value.is_in_stock()
    }
}

impl Config {
    /// The ranking: what `ranking=` says, else what the flags choose.
    pub fn ranking(&self) -> fairshare::Ranking {
        match self.parameters.ranking {
            Some(ranking) => ranking.with_dampening(self.fair_share_dampening_factor),
            None => self.ranking_of_flags(),
        }
    }

    /// Makes a ranking the one of these settings, with its dampening factor: by the flags where
    /// they can choose it, else by `ranking=`.
    pub fn set_ranking(&mut self, ranking: fairshare::Ranking) {
        self.fair_share_dampening_factor = ranking.dampening().unwrap_or(1);
        self.parameters.ranking = match ranking.flag() {
            None => Some(ranking),
            Some(word) => {
                let chosen = PriorityFlags::parse(word);
                self.priority_flags.no_fair_tree = chosen.no_fair_tree;
                self.priority_flags.depth_oblivious = chosen.depth_oblivious;
                None
            }
        };
    }

    /// The ranking that the flags choose: `DEPTH_OBLIVIOUS` before `NO_FAIR_TREE` before Fair
    /// Tree.
    pub fn ranking_of_flags(&self) -> fairshare::Ranking {
        let flags = &self.priority_flags;
        let dampening = self.fair_share_dampening_factor;
        if flags.depth_oblivious {
            fairshare::Ranking::depth_oblivious(dampening)
        } else if flags.no_fair_tree {
            fairshare::Ranking::classic(dampening)
        } else {
            fairshare::Ranking::FAIR_TREE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_overrules_the_flags_and_keeps_the_dampening() {
        let mut config = Config {
            fair_share_dampening_factor: 5,
            ..Config::default()
        };
        let rankings = |config: &Config| (config.ranking(), config.ranking_of_flags());
        let fair_tree = fairshare::Ranking::FAIR_TREE;
        assert_eq!(rankings(&config), (fair_tree, fair_tree));
        config.parameters.ranking = Some(fairshare::Ranking::classic(1));
        let classic = fairshare::Ranking::classic(5);
        assert_eq!(rankings(&config), (classic, fair_tree));
        config.parameters.ranking = Some(fair_tree);
        config.priority_flags.no_fair_tree = true;
        assert_eq!(rankings(&config), (fair_tree, classic));
        config.priority_flags.depth_oblivious = true;
        let depth_oblivious = fairshare::Ranking::depth_oblivious(5);
        assert_eq!(config.ranking_of_flags(), depth_oblivious);
        for ranking in [depth_oblivious, classic, fair_tree] {
            config.set_ranking(ranking);
            assert_eq!(rankings(&config), (ranking, ranking));
        }
    }

    #[test]
    fn names_of_rankings() {
        let parse = |text| Ranking::parse(text, None);
        assert_eq!(parse("Fair_Tree"), Ok(fairshare::Ranking::FAIR_TREE));
        assert_eq!(parse("classic"), Ok(fairshare::Ranking::classic(1)));
        for text in ["", "fairtree", "classic:2", "fair_tree:"] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.value, text);
            assert!(
                error
                    .allowed
                    .contains("fair_tree, classic, depth_oblivious")
            );
        }
    }
}
