//! Developer's tools of fairtree.

fn main() {}
