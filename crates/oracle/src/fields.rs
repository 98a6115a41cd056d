//! One line of the trace: a record's kind, id and fields.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Context as _, Result, bail};
use num_traits::Zero as _;

use super::number::{self, Fraction, Number};

/// The fields of one record.
pub struct Fields<'a> {
    /// `job`, `assoc` and so on.
    pub kind: &'a str,
    /// The record's id.
    pub id: u32,
    values: HashMap<&'a str, &'a str>,
    /// Values of `part` that are names, in their order.
    pub parts: Vec<String>,
}

impl<'a> Fields<'a> {
    /// Reads `KIND ID FIELD=VALUE ...`.
    pub fn parse(line: &'a str) -> Result<Fields<'a>> {
        let mut words = line.split(' ');
        let kind = words.next().unwrap_or_default();
        let id = words.next().unwrap_or_default();
        let mut fields = Fields {
            kind,
            id: id.parse().with_context(|| format!("no id: {line}"))?,
            values: HashMap::new(),
            parts: vec![],
        };
        for word in words {
            let (name, value) = word.split_once('=').with_context(|| word.to_owned())?;
            // For a job, `part` is the name of both the factor and its partitions.
            if name == "part" && !value.starts_with("f64:") && kind == "job" {
                fields.parts.push(value.to_owned());
            } else {
                fields.values.insert(name, value);
            }
        }
        Ok(fields)
    }

    fn text(&self, name: &str) -> Result<&'a str> {
        let value = self.values.get(name).copied();
        value.with_context(|| format!("{} {} has no {name}", self.kind, self.id))
    }

    /// The text after `=`; `None` for `-`.
    pub fn word(&self, name: &str) -> Result<Option<&'a str>> {
        Ok(Some(self.text(name)?).filter(|text| *text != "-"))
    }

    /// A whole number.
    pub fn int<T: std::str::FromStr>(&self, name: &str) -> Result<T> {
        let text = self.text(name)?;
        let value = text.parse().ok();
        value.with_context(|| format!("{name}={text}: not such a number"))
    }

    /// A number with a fraction, from its bits in memory.
    pub fn number(&self, name: &str) -> Result<Number> {
        number_of(self.text(name)?)
    }

    /// A finite number.
    pub fn fraction(&self, name: &str) -> Result<Fraction> {
        Ok(finite(self.number(name)?))
    }

    /// An unconverted `f64`.
    pub fn float(&self, name: &str) -> Result<f64> {
        float_of(self.text(name)?)
    }

    /// The elements of an array; empty if it is absent.
    fn elements(&self, name: &str) -> Vec<&'a str> {
        (0..)
            .map_while(|at| self.values.get(format!("{name}[{at}]").as_str()).copied())
            .collect()
    }

    /// Arrays of whole numbers whose names have this prefix, by the rest of the name.
    pub fn arrays(&self, prefix: &str) -> Result<BTreeMap<String, Vec<u64>>> {
        let names = self
            .values
            .keys()
            .filter_map(|name| name.strip_suffix("[0]"));
        let named = names.filter_map(|name| Some((name.strip_prefix(prefix)?, name)));
        named
            .map(|(rest, name)| Ok((rest.to_owned(), self.ints(name)?)))
            .collect()
    }

    /// An array of whole numbers.
    pub fn ints<T: std::str::FromStr>(&self, name: &str) -> Result<Vec<T>> {
        let parse = |text: &str| text.parse().ok().with_context(|| format!("{name}: {text}"));
        self.elements(name).into_iter().map(parse).collect()
    }

    /// An array of numbers.
    pub fn fractions(&self, name: &str) -> Result<Vec<Fraction>> {
        let elements = self.elements(name).into_iter();
        elements.map(|text| Ok(finite(number_of(text)?))).collect()
    }

    /// A list such as `1,2,3`.
    pub fn list(&self, name: &str) -> Result<Vec<u32>> {
        let Some(text) = self.word(name)? else {
            return Ok(vec![]);
        };
        let parse = |id: &str| id.parse().with_context(|| format!("{name}={text}"));
        text.split(',').map(parse).collect()
    }
}

fn finite(number: Number) -> Fraction {
    match number {
        Number::Finite(value) => value,
        _ => Fraction::zero(),
    }
}

fn float_of(text: &str) -> Result<f64> {
    let bits = text.strip_prefix("f64:").context("no f64")?;
    Ok(f64::from_bits(u64::from_str_radix(bits, 16)?))
}

fn number_of(text: &str) -> Result<Number> {
    if text.starts_with("f64:") {
        return Ok(number::of_f64(float_of(text)?));
    }
    let Some(bits) = text.strip_prefix("f80:").filter(|bits| bits.len() == 20) else {
        bail!("{text}: no bits of a number");
    };
    let high = u16::from_str_radix(&bits[..4], 16)?;
    Ok(number::of_x87(high, u64::from_str_radix(&bits[4..], 16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record() {
        let line = "job 7 part=p1 part=p2 part=f64:3ff0000000000000 n=5 a[0]=1 a[1]=2 l=3,4 \
                    x=f80:3ffe8000000000000000 none=-";
        let fields = Fields::parse(line).unwrap();
        assert_eq!((fields.kind, fields.id), ("job", 7));
        assert_eq!(fields.parts, ["p1", "p2"]);
        assert_eq!(fields.float("part").unwrap(), 1.0);
        assert_eq!(fields.int::<u32>("n").unwrap(), 5);
        assert_eq!(fields.ints::<u64>("a").unwrap(), [1, 2]);
        assert_eq!(fields.list("l").unwrap(), [3, 4]);
        assert_eq!(fields.fraction("x").unwrap(), number::exact(0.5));
        assert!(fields.list("none").unwrap().is_empty());
        assert!(fields.int::<u32>("x").is_err());
    }
}
