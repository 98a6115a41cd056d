//! Metrics in Prometheus' text format, version 0.0.4.

use std::io::{self, Write};

use fairtree_analysis::metrics::{Family, Sample};

/// The media type of the text.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Writes families as gauges, in their order.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut impl Write, families: &[Family]) -> io::Result<()> {
    for family in families {
        let help = family.help.replace('\\', "\\\\").replace('\n', "\\n");
        writeln!(out, "# HELP {} {help}", family.name)?;
        writeln!(out, "# TYPE {} gauge", family.name)?;
        for sample in &family.samples {
            write!(out, "{}", family.name)?;
            write_labels(out, sample)?;
            writeln!(out, " {}", number(sample.value))?;
        }
    }
    Ok(())
}

/// Labels with a value; an empty value is the same as none.
fn write_labels(out: &mut impl Write, sample: &Sample) -> io::Result<()> {
    let said = sample.labels.iter().filter(|(_, value)| !value.is_empty());
    let mut before = "{";
    for (name, value) in said {
        let value = value
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n");
        write!(out, "{before}{name}=\"{value}\"")?;
        before = ",";
    }
    match before {
        "{" => Ok(()),
        _ => write!(out, "}}"),
    }
}

fn number(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned()
    } else {
        value.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // prometheus.io/docs/instrumenting/exposition_formats: escapes of labels and help, +Inf.
    #[test]
    fn the_format() {
        let sample = |account: &str, value| Sample {
            labels: vec![("cluster", String::new()), ("account", account.to_owned())],
            value,
        };
        let family = Family {
            name: "fairtree_x_ratio".to_owned(),
            help: "A \\ in it.",
            samples: vec![
                sample("a\"b\\c\nd", 0.5),
                sample("", f64::INFINITY),
                sample("e", 1e300),
            ],
        };
        let mut text = Vec::new();
        write(&mut text, &[family]).unwrap();
        let text = String::from_utf8(text).unwrap();
        let expected = format!(
            "# HELP fairtree_x_ratio A \\\\ in it.\n\
             # TYPE fairtree_x_ratio gauge\n\
             fairtree_x_ratio{{account=\"a\\\"b\\\\c\\nd\"}} 0.5\n\
             fairtree_x_ratio +Inf\n\
             fairtree_x_ratio{{account=\"e\"}} 1{}\n",
            "0".repeat(300)
        );
        assert_eq!(text, expected);
    }
}
