//! Numbers in the forms of C's `printf`, as Slurm's commands print them.

use std::io::Write as _;

/// `%f`: six decimals; `inf`, `nan`.
pub fn f(value: f64) -> String {
    match non_finite(value) {
        Some(text) => text.to_owned(),
        // A sum of nothing is -0.0 in Rust; no command shows that sign.
        None => format!("{:.6}", value + 0.0),
    }
}

/// [`f`] at the end of a line, without memory of its own: a large table has a million numbers.
pub fn push_f(line: &mut Vec<u8>, value: f64) {
    let written = match non_finite(value) {
        Some(text) => line.write_all(text.as_bytes()),
        None => write!(line, "{:.6}", value + 0.0),
    };
    written.expect("memory takes all that is written");
}

/// `%.{precision}e`: one digit before the point, an exponent of at least two digits.
pub fn e(value: f64, precision: usize) -> String {
    if let Some(text) = non_finite(value) {
        return text.to_owned();
    }
    let text = format!("{:.precision$e}", value + 0.0);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}

fn non_finite(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some("nan")
    } else if value == f64::INFINITY {
        Some("inf")
    } else if value == f64::NEG_INFINITY {
        Some("-inf")
    } else {
        None
    }
}

/// A number in a column of `width` bytes, flush left where `width` is negative: `%f`, or where
/// that is too long an `%e`.
///
/// As Slurm's `print_fields_double`: the `%e` has as many decimals as the column is wide, less
/// what is then too long, or C's default of six where nothing is left; it is not padded, so it may
/// end up shorter or longer than the column.
pub fn push_fitted(line: &mut Vec<u8>, value: f64, width: i32) {
    let columns = width.unsigned_abs() as usize;
    let start = line.len();
    push_f(line, value);
    if line.len() - start <= columns {
        return pad(line, start, width);
    }
    line.truncate(start);
    let excess = e(value, columns).len().saturating_sub(columns);
    line.extend(e(value, columns.checked_sub(excess).unwrap_or(6)).bytes());
}

/// Pads the text of a line from `start` on to a column of `width` bytes, flush left where `width`
/// is negative; longer text stays.
pub fn pad(line: &mut Vec<u8>, start: usize, width: i32) {
    let length = line.len() - start;
    let blanks = (width.unsigned_abs() as usize).saturating_sub(length);
    line.resize(line.len() + blanks, b' ');
    if width > 0 {
        line[start..].rotate_right(blanks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected: printf(1) of GNU coreutils 9.1.
    #[test]
    fn forms_are_those_of_c() {
        assert_eq!(f(0.0137365), "0.013737");
        assert_eq!(f(-0.0), "0.000000");
        assert_eq!(f(f64::INFINITY), "inf");
        assert_eq!(e(15085.3, 4), "1.5085e+04");
        assert_eq!(e(0.0, 2), "0.00e+00");
        assert_eq!(e(1.6e-7, 0), "2e-07");
        assert_eq!(e(1e300, 1), "1.0e+300");
    }

    // Expected: the same steps with printf(3) of glibc 2.36.
    #[test]
    fn a_number_too_wide_becomes_the_exponent_form_that_fills_the_column() {
        let columns: Vec<String> = [
            (384.545_736, 10),
            (15_085.3, 10),
            (15_085.3, 6),
            (15_085.3, 5),
            (0.5, 7),
            (0.5, 4),
            (0.5, -12),
            (1e300, 10),
            (1e300, -7),
            (f64::INFINITY, 2),
            (f64::INFINITY, -6),
        ]
        .into_iter()
        .map(|(value, width)| {
            let mut line = b"before".to_vec();
            push_fitted(&mut line, value, width);
            String::from_utf8(line.split_off(6)).unwrap()
        })
        .collect();
        assert_eq!(
            columns,
            [
                "384.545736",
                "1.5085e+04",
                "2e+04",
                "1.508530e+04",
                "5.0e-01",
                "5.000000e-01",
                "0.500000    ",
                "1.000e+300",
                "1e+300",
                "inf",
                "inf   "
            ]
        );
    }
}
