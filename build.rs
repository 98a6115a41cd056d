//! Build script: nothing to do for the command; the shared library gets its name.

#[path = "packaging/soname.rs"]
mod soname;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    soname::link();
}
