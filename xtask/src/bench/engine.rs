//! The engine alone: through the C ABI, and in Rust.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::command::{cargo_in_checkout, checked};
use crate::progress::Progress;
use crate::project;

use super::Bench;
use super::served::Answer;
use super::table::{Row, Table, Unit};
use super::world::count;

const MILLION: u32 = 1_000_000;
const TURNS: u32 = 11;

/// The tables of this section, in Markdown.
///
/// # Errors
/// A library or a program that does not build or run.
pub fn measure(bench: &Bench, progress: &Progress) -> Result<String> {
    progress.step("the engine: building");
    let program = build()?;
    let mut text = String::new();
    for assocs in [MILLION / 10, MILLION] {
        if bench.quick && assocs == MILLION {
            break;
        }
        progress.step(format!("the engine: {} associations", count(assocs)));
        let table = Table {
            title: format!("{} associations, {} jobs", count(assocs), count(MILLION)),
            heads: ("engine", "copying"),
            rows: rows(&program, assocs)?,
        };
        text.push_str(&table.to_string());
        text.push('\n');
    }
    Ok(text.trim_end().to_owned() + "\n")
}

/// The library with nothing but the C ABI, and the program that calls it.
fn build() -> Result<PathBuf> {
    let folder = project::root().join("target/bench");
    let mut cargo = cargo_in_checkout();
    cargo.args(["build", "--quiet", "--release", "--lib"]);
    cargo.args(["--no-default-features", "--features", "capi"]);
    checked(cargo.arg("--target-dir").arg(&folder))?;
    let program = folder.join("engine");
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O2"]);
    gcc.args(["-Wall", "-Wextra", "-Werror"]);
    gcc.arg("-I").arg(project::root().join("include"));
    gcc.arg("-o").arg(&program);
    gcc.arg(project::root().join("benches/c/engine.c"));
    // Statically: the folder has no link of the library's SONAME.
    gcc.arg(folder.join("release/libfairtree.a"));
    checked(gcc.args(["-lm", "-lpthread", "-ldl", "-lgcc_s"]))?;
    Ok(program)
}

fn rows(program: &PathBuf, assocs: u32) -> Result<Vec<Row>> {
    let words = [assocs, MILLION, TURNS].map(|number| number.to_string());
    let c = Answer::parse(&checked(Command::new(program).args(words))?);
    let mut cargo = cargo_in_checkout();
    cargo.args(["bench", "--quiet", "--bench", "figures", "--"]);
    let rust = checked(cargo.arg(assocs.to_string()))?;
    // cargo adds a word of its own to what a program gets.
    let rust = Answer::parse(&rust);
    let ms = |what: &str, from: &Answer, name: &str| -> Result<Row> {
        let value = from.get(name).context("the engine's figures")?;
        Ok(Row::new(what, Unit::Milliseconds, value))
    };
    let ns = |what: &str, name: &str| -> Result<Row> {
        let row = Row::new(what, Unit::Nanoseconds, c.get(&format!("{name}_ns"))?);
        Ok(row.beside(c.get(&format!("{name}_copy_ns"))?))
    };
    // Bounds are for a million; less is less.
    let part = f64::from(assocs) / f64::from(MILLION);
    Ok(vec![
        ms("loading (ft_tree_load)", &c, "load_ms")?
            .beside(c.get("load_copy_ms")?)
            .at_most(1000.0 * part),
        ms(
            "factors from scratch (ft_fairshare_compute)",
            &c,
            "compute_ms",
        )?
        .at_most(250.0 * part),
        ms("ranks from scratch", &rust, "scratch_ms")?.at_most(250.0 * part),
        ms("ranks again, nobody charged", &rust, "charged_0_ms")?,
        ms("ranks again, 10 users charged", &rust, "charged_10_ms")?.at_most(0.1),
        ms("ranks again, 100 users charged", &rust, "charged_100_ms")?.at_most(1.0),
        ns("pricing a job (ft_jobs_price)", "price")?.at_most(15.0),
        ns("with every term written", "price_terms")?,
        ns("with PriorityWeightTRES", "price_tres")?,
        ns("with every term written", "price_tres_terms")?,
    ])
}
