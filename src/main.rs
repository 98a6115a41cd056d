//! The `fairtree` command.

fn main() {}
