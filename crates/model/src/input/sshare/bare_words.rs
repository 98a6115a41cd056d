//! Numbers that JSON does not have, as Slurm prints them.
//!
//! slurmctld keeps infinite level fairshare, and the JSON library of some releases prints it as the
//! bare word `Infinity` or `inf`. They are handed on as texts, which JSON has.

use std::io::{self, BufRead, Read};

/// The longest word that is looked at, in bytes.
const LONGEST: usize = 16;

/// JSON in which bare `Infinity`, `inf`, `NaN` and `nan`, in any case and with a sign, become
/// `"inf"`, `"-inf"` and `"nan"`. Texts are as they were.
pub(super) struct BareWords<R> {
    input: R,
    /// Output that is ready, and how much of it was taken.
    ready: Vec<u8>,
    taken: usize,
    /// A word outside texts that may continue.
    word: Vec<u8>,
    in_text: bool,
    escaped: bool,
}

impl<R: BufRead> BareWords<R> {
    /// Reads from `input`.
    pub fn new(input: R) -> BareWords<R> {
        BareWords {
            input,
            ready: Vec::new(),
            taken: 0,
            word: Vec::new(),
            in_text: false,
            escaped: false,
        }
    }

    /// Makes more ready; nothing at the end of the input.
    fn fill(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.taken = 0;
        while self.ready.is_empty() {
            let block = self.input.fill_buf()?.to_vec();
            self.input.consume(block.len());
            if block.is_empty() {
                self.end_word();
                return Ok(());
            }
            block.into_iter().for_each(|byte| self.push(byte));
        }
        Ok(())
    }

    fn push(&mut self, byte: u8) {
        if self.in_text {
            self.in_text = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            self.ready.push(byte);
        } else if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_') {
            self.word.push(byte);
            if self.word.len() > LONGEST {
                self.ready.append(&mut self.word);
            }
        } else {
            self.end_word();
            self.in_text = byte == b'"';
            self.ready.push(byte);
        }
    }

    fn end_word(&mut self) {
        let (minus, rest) = match self.word.split_first() {
            Some((b'-', rest)) => (true, rest),
            Some((b'+', rest)) => (false, rest),
            _ => (false, &self.word[..]),
        };
        let is = |name: &str| rest.eq_ignore_ascii_case(name.as_bytes());
        let text: &[u8] = match (is("inf") || is("infinity"), is("nan"), minus) {
            (true, _, false) => b"\"inf\"",
            (true, _, true) => b"\"-inf\"",
            (_, true, _) => b"\"nan\"",
            _ => &self.word,
        };
        self.ready.extend(text);
        self.word.clear();
    }
}

impl<R: BufRead> Read for BareWords<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.ready.len() {
            self.fill()?;
        }
        let count = (&self.ready[self.taken..]).read(buffer)?;
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_texts_however_they_arrive() {
        let json = r#"{"a inf":Infinity,"b\" NaN":[inf, -Infinity,+inf,NaN ,-nan,1e5,true,null],"c":"x\\"}inf"#;
        let due = r#"{"a inf":"inf","b\" NaN":["inf", "-inf","inf","nan" ,"nan",1e5,true,null],"c":"x\\"}"inf""#;
        for size in 1..=json.len() {
            let input = io::BufReader::with_capacity(size, json.as_bytes());
            let mut found = String::new();
            BareWords::new(input).read_to_string(&mut found).unwrap();
            assert_eq!(found, due, "{size}");
        }
        let long = "x".repeat(1000);
        let mut found = String::new();
        BareWords::new(long.as_bytes())
            .read_to_string(&mut found)
            .unwrap();
        assert_eq!(found, long);
    }
}
