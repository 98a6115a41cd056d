//! The engine alone, through the C ABI.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use xtask::command::{cargo_in_checkout, checked};
use xtask::interrupt;
use xtask::progress::Progress;
use xtask::project;

use super::Bench;
use super::machine::Memory;
use super::served::Answer;
use super::table::{Measurement, Table, Unit};
use super::workload::count;

const MILLION: u32 = 1_000_000;
const TURNS: u32 = 11;
/// Number of processes, one after the other: the measured time depends on where the pages of a
/// process happen to lie, and on other programs that use the processor's caches.
const PROCESSES: u32 = 7;

/// Bytes that pricing a job reads (its row, ft_job, and its user's rank), and bytes that it writes
/// (its priority and its terms, ft_priced).
const JOB_READ_BYTES: f64 = 48.0 + 4.0;
const PRICE_BYTES: f64 = 4.0;
const TERMS_BYTES: f64 = 72.0;
/// A row that is loaded (ft_assoc).
const ASSOC_BYTES: f64 = 16.0;

/// The tables of this section, in Markdown.
///
/// # Errors
/// Fails if the library or a program does not build or run.
pub fn measure(bench: &Bench, progress: &Progress) -> Result<String> {
    progress.step("the engine: building");
    let program = build()?;
    let mut text = String::new();
    for assocs in [MILLION / 10, MILLION] {
        if bench.quick && assocs == MILLION {
            break;
        }
        progress.step(format!("the engine: {} associations", count(assocs)));
        let title = format!("{} associations, {} jobs", count(assocs), count(MILLION));
        let table = Table {
            title,
            heads: ("engine", "copying"),
            rows: rows(&program, assocs, &bench.memory)?,
        };
        text.push_str(&table.to_string());
        text.push('\n');
    }
    Ok(text.trim_end().to_owned() + "\n")
}

/// Folder for the measured builds.
fn folder() -> PathBuf {
    project::root().join("target/bench")
}

/// The library with only the C ABI, and the program that calls it.
fn build() -> Result<PathBuf> {
    let folder = folder();
    let mut cargo = cargo_in_checkout();
    cargo.args(["build", "--quiet", "--release"]);
    cargo.args(["--package", "fairtree", "--lib"]);
    cargo.args(["--no-default-features", "--features", "capi"]);
    checked(cargo.arg("--target-dir").arg(&folder))?;
    let program = folder.join("engine");
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O2"]);
    gcc.args(["-Wall", "-Wextra", "-Werror"]);
    gcc.arg("-I").arg(project::root().join("include"));
    gcc.arg("-o").arg(&program);
    gcc.arg(project::root().join("benches/c/engine.c"));
    // Link statically: the folder has no link with the library's SONAME.
    gcc.arg(folder.join("release/libfairtree.a"));
    checked(gcc.args(["-lm", "-lpthread", "-ldl", "-lgcc_s"]))?;
    Ok(program)
}

fn rows(program: &PathBuf, assocs: u32, memory: &Memory) -> Result<Vec<Measurement>> {
    let words = [assocs, MILLION, TURNS].map(|number| number.to_string());
    let ask = |_| -> Result<Answer> {
        interrupt::check()?;
        let said = checked(Command::new(program).args(&words))?;
        Ok(Answer::parse(&said))
    };
    let answers: Result<Vec<Answer>> = (0..PROCESSES).map(ask).collect();
    let c = Answer::medians(&answers?)?;
    let ms = |what: &str, from: &Answer, name: &str| -> Result<Measurement> {
        let value = from.get(name).context("the engine's figures")?;
        Ok(Measurement::new(what, Unit::Milliseconds, value))
    };
    let ns = |what: &str, name: &str, written: f64| -> Result<Measurement> {
        let row = Measurement::new(what, Unit::Nanoseconds, c.get(&format!("{name}_ns"))?);
        let limit = 1e6 * memory.millis(JOB_READ_BYTES, written);
        Ok(row.beside(c.get(&format!("{name}_copy_ns"))?).limit(limit))
    };
    let loading = f64::from(assocs) * ASSOC_BYTES;
    // Bounds are for a million; scale them for fewer.
    let part = f64::from(assocs) / f64::from(MILLION);
    Ok(vec![
        ms("loading (ft_tree_load)", &c, "load_ms")?
            .beside(c.get("load_copy_ms")?)
            .limit(memory.millis(loading, loading))
            .at_most(1000.0 * part),
        ms(
            "factors from scratch (ft_fairshare_compute)",
            &c,
            "compute_ms",
        )?
        .at_most(250.0 * part),
        ns("pricing a job (ft_jobs_price)", "price", PRICE_BYTES)?,
        ns(
            "with every term written",
            "price_terms",
            PRICE_BYTES + TERMS_BYTES,
        )?,
        ns("with PriorityWeightTRES", "price_tres", PRICE_BYTES)?,
        ns(
            "with every term written",
            "price_tres_terms",
            PRICE_BYTES + TERMS_BYTES,
        )?,
    ])
}
