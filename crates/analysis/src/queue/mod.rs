//! The answers of a queue, event by event.
//!
//! A [`Player`] stands over a site and takes what happens there ([`Player::play`]): the engine
//! decides ([`fairtree::engine::queue`], [`fairtree::engine::on_demand`]), and here names become
//! positions and positions names.

mod answer;
mod band;
mod fair_share;
mod on_demand;
mod people;
mod player;

pub use answer::{
    Answer, Billed, Bills, Decision, Estimated, Finished, LimitOf, Place, Reason, Refused, Said,
};
pub use player::Player;
