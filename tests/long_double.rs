//! `Extended` compared with the C compiler's `long double`, bit by bit. Expected values: results of
//! a C program for the same operands on x86-64.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod common;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::random::Random;
use fairtree::extended::Extended;

type Operand = (u64, u16);

const TOP: u64 = 1 << 63;
const NOTHING: Operand = (0, 0);

/// Compiles the calculator, once per test, because tests run in parallel.
fn calculator(test: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/long_double.c");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("long_double_{test}"));
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let status = Command::new(compiler)
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-o"])
        .args([&program, &source])
        .arg("-lm")
        .status()
        .expect("a C compiler");
    assert!(status.success(), "the C program must compile");
    program
}

/// The calculator's answers, one line per question.
fn answers(test: &str, questions: &[(char, Operand, Operand)]) -> Vec<String> {
    let mut input = String::new();
    for (operation, a, b) in questions {
        writeln!(input, "{operation} {:x} {:x} {:x} {:x}", a.0, a.1, b.0, b.1).expect("a line");
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("long_double_{test}.in"));
    std::fs::write(&path, input).expect("a writable target folder");
    let output = Command::new(calculator(test))
        .stdin(std::fs::File::open(&path).expect("just written"))
        .stderr(Stdio::inherit())
        .output()
        .expect("runs");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("text");
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), questions.len());
    lines
}

fn operand_text((mantissa, sign_exponent): Operand) -> String {
    format!("{mantissa:016x} {sign_exponent:04x}")
}

fn extended((mantissa, sign_exponent): Operand) -> Extended {
    Extended::from_x87(mantissa, sign_exponent).expect("a number")
}

/// Zeros, ones, limits, subnormal numbers, infinities, both signs.
fn edges() -> Vec<Operand> {
    let magnitudes = [
        (0, 0),
        (1, 0),
        (2, 0),
        (TOP - 1, 0),
        (TOP, 1),
        (u64::MAX, 1),
        (TOP, 64),
        (TOP, 0x3fff - 64),
        (u64::MAX, 0x3ffe),
        (TOP, 0x3fff),
        (TOP | 1, 0x3fff),
        (3 << 62, 0x3fff),
        (u64::MAX, 0x3fff + 63),
        (TOP, 0x3fff + 64),
        (TOP, 0x7ffe),
        (u64::MAX, 0x7ffe),
        (TOP, 0x7fff),
    ];
    let signs = [0, 0x8000];
    let with_signs = magnitudes
        .iter()
        .flat_map(|(m, e)| signs.map(|s| (*m, e | s)));
    // Negative zero is not a number here: it is read as zero.
    with_signs
        .filter(|operand| *operand != (0, 0x8000))
        .collect()
}

/// Any encoding of a number except negative zero.
fn random(source: &mut Random) -> Operand {
    let sign = (source.below(2) as u16) << 15;
    // Sparse and dense mantissas, so that exact results and ties occur.
    let mantissa = match source.below(3) {
        0 => source.next(),
        1 => source.next() & source.next() & source.next(),
        _ => source.next() << source.below(64),
    };
    match source.below(20) {
        0 => (mantissa >> 1 | 1, sign),
        1 => (mantissa | TOP, (1 + source.below(0x7ffe) as u16) | sign),
        _ => (
            mantissa | TOP,
            (0x3fff - 70 + source.below(140) as u16) | sign,
        ),
    }
}

#[test]
fn arithmetic() {
    let edges = edges();
    let mut pairs: Vec<(Operand, Operand)> = Vec::new();
    for a in &edges {
        pairs.extend(edges.iter().map(|b| (*a, *b)));
    }
    let mut source = Random::new(1);
    for _ in 0..20_000 {
        pairs.push((random(&mut source), random(&mut source)));
    }
    let mut questions = Vec::new();
    for (a, b) in pairs {
        questions.extend(['+', '-', '*', '/', '?'].map(|operation| (operation, a, b)));
    }
    for ((operation, a, b), answer) in questions.iter().zip(answers("arithmetic", &questions)) {
        let (x, y) = (extended(*a), extended(*b));
        let result = match operation {
            '+' => x + y,
            '-' => x - y,
            '*' => x * y,
            '/' => x / y,
            _ => {
                assert_eq!(format!("{:?}", x.cmp(&y)).to_lowercase(), answer);
                continue;
            }
        };
        // Zero represents results without meaning, and has no sign.
        let expected = match answer.as_str() {
            "nan" | "0000000000000000 8000" => operand_text(NOTHING),
            _ => answer,
        };
        let question = format!("{} {operation} {}", operand_text(*a), operand_text(*b));
        assert_eq!(operand_text(result.to_x87()), expected, "{question}");
    }
}

#[test]
fn conversions() {
    let mut source = Random::new(2);
    let mut operands = edges();
    operands.extend((0..5_000).map(|_| random(&mut source)));
    // Around the smallest and largest f64, where to_f64 rounds in different places.
    for exponent in [0x3fff - 1080..0x3fff - 1015, 0x3fff + 1020..0x3fff + 1026] {
        operands.extend(exponent.map(|e| (source.next() | TOP, e)));
    }
    let mut questions: Vec<(char, Operand, Operand)> = Vec::new();
    questions.extend(operands.iter().map(|a| ('d', *a, NOTHING)));
    questions.extend((0..5_000).map(|_| ('f', (source.next(), 0), NOTHING)));
    questions.extend((0..64).map(|e| ('u', (source.next() | TOP, 0x3fff + e), NOTHING)));
    for ((operation, a, _), answer) in questions.iter().zip(answers("conversions", &questions)) {
        let got = match operation {
            'd' => format!("{:016x}", extended(*a).to_f64().to_bits()),
            'u' => extended(*a).to_u64_truncated().to_string(),
            _ => match Extended::from_f64(f64::from_bits(a.0)) {
                Some(number) => operand_text(number.to_x87()),
                None => "nan".to_owned(),
            },
        };
        assert_eq!(got, answer, "{operation} {}", operand_text(*a));
    }
}

#[test]
fn printing() {
    let mut source = Random::new(3);
    let mut questions: Vec<(char, Operand, Operand)> = Vec::new();
    for operand in edges() {
        questions.extend([0, 6, 40].map(|decimals| ('p', operand, (decimals, 0))));
    }
    for _ in 0..2_000 {
        questions.push(('p', random(&mut source), (source.below(25), 0)));
    }
    for ((_, a, b), answer) in questions.iter().zip(answers("printing", &questions)) {
        let decimals = b.0 as usize;
        assert_eq!(
            format!("{:.decimals$}", extended(*a)),
            answer,
            "{}",
            operand_text(*a)
        );
    }
}
