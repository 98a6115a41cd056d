//! Metrics as text: Prometheus' format, version 0.0.4, and OpenMetrics 1.0.

use std::io::{self, Write};

use fairtree_analysis::metrics::{Family, Kind, Sample};

/// The media type of Prometheus' format.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The media type of OpenMetrics.
pub const OPENMETRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Writes families in Prometheus' format, in their order.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut impl Write, families: &[Family]) -> io::Result<()> {
    write_families(out, families, |family| &family.name)
}

/// Writes families in the format of OpenMetrics, in their order: the name of a family of counters is
/// without the `_total` of its samples, and `# EOF` ends the text.
///
/// # Errors
/// Those of `out`.
pub fn write_openmetrics(out: &mut impl Write, families: &[Family]) -> io::Result<()> {
    write_families(out, families, |family| match family.kind {
        Kind::Gauge => &family.name,
        Kind::Counter => family.name.strip_suffix("_total").unwrap_or(&family.name),
    })?;
    out.write_all(b"# EOF\n")
}

fn write_families(
    out: &mut impl Write,
    families: &[Family],
    name: impl Fn(&Family) -> &str,
) -> io::Result<()> {
    for family in families {
        let help = family.help.replace('\\', "\\\\").replace('\n', "\\n");
        let kind = match family.kind {
            Kind::Gauge => "gauge",
            Kind::Counter => "counter",
        };
        writeln!(out, "# HELP {} {help}", name(family))?;
        writeln!(out, "# TYPE {} {kind}", name(family))?;
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
            kind: Kind::Gauge,
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
    // OpenMetrics 1.0: "# EOF", and MetricFamily names of counters without _total.
    #[test]
    fn counters_in_both_formats() {
        let family = Family {
            name: "fairtree_captures_total".to_owned(),
            kind: Kind::Counter,
            help: "Captures.",
            samples: vec![Sample {
                labels: vec![("outcome", "taken".to_owned())],
                value: 3.0,
            }],
        };
        let text = |write: fn(&mut Vec<u8>, &[Family]) -> io::Result<()>| {
            let mut text = Vec::new();
            write(&mut text, std::slice::from_ref(&family)).unwrap();
            String::from_utf8(text).unwrap()
        };
        let sample = "fairtree_captures_total{outcome=\"taken\"} 3\n";
        assert_eq!(
            text(write),
            format!(
                "# HELP fairtree_captures_total Captures.\n# TYPE fairtree_captures_total counter\n{sample}"
            )
        );
        assert_eq!(
            text(write_openmetrics),
            format!(
                "# HELP fairtree_captures Captures.\n# TYPE fairtree_captures counter\n{sample}# EOF\n"
            )
        );
    }
}
