//! Explanations in plain sentences: how the models display.

mod job;
mod jobs;
mod remedies;
mod users;
mod words;
