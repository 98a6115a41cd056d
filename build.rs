//! Build script: nothing to do for the library and the command.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
