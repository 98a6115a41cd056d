//! From the stream to the listings.

use std::io::{self, BufRead};
use std::sync::Arc;

use super::cells::{SprioLine, cut};
use super::column::{Column, LineFormat};
use super::header::{Header, Layout, asked, columns, header, is_command, of_format};
use super::{Listing, Queue, SprioRows};
use crate::input::error::{InputError, Problem};
use crate::input::left_out::LeftOut;
use crate::input::lines::{Lines, one_more};
use crate::input::prompt::is_prompt;

/// Reads the listings of a file. `file` names the stream in messages. A row that does not fit its
/// header is left out, a cell that sprio would not print counts as blank; [`Queue::notes`] names
/// them.
///
/// # Errors
/// A stream that breaks; no listing in it; rows without a header above them; no row that can be
/// read whole.
pub fn read(file: &str, input: impl BufRead) -> Result<Queue, InputError> {
    let mut left = LeftOut::of_file();
    let mut queue = read_answer(file, input, &mut left)?;
    queue.notes = left.notes();
    Ok(queue)
}

/// As [`read`], of the answer of a cluster: a row that cannot be read goes to `left`.
///
/// # Errors
/// Those of [`read`]; of rows, when none can be read.
pub fn read_answer(
    file: &str,
    input: impl BufRead,
    left: &mut LeftOut,
) -> Result<Queue, InputError> {
    read_rows(file, input, left, usize::MAX)
}

/// Checks that [`read_answer`] accepts the answer that `open` opens, without keeping it: the first
/// rows of each listing show that some can be read.
///
/// # Errors
/// Those of [`read_answer`], and those of `open`.
pub fn check_answer<R: BufRead>(
    file: &str,
    open: impl Fn() -> io::Result<R>,
) -> Result<(), InputError> {
    const FIRST: usize = 1000;
    let open = || open().map_err(|error| InputError::new(file, error));
    let first = read_rows(file, open()?, &mut LeftOut::default(), FIRST);
    // Where none of the first can be read one of the others may.
    let all = |_| read_rows(file, open()?, &mut LeftOut::default(), usize::MAX);
    first.or_else(all).map(drop)
}

/// As [`read_answer`]; of each listing at most `most` rows are kept.
fn read_rows(
    file: &str,
    input: impl BufRead,
    left: &mut LeftOut,
    most: usize,
) -> Result<Queue, InputError> {
    let before = left.count();
    let mut queue = Queue {
        file: file.to_owned(),
        listings: Vec::new(),
        notes: Vec::new(),
    };
    let mut open: Option<Open> = None;
    let mut lines = Lines::new(file, input);
    let (mut number, mut rows) = (0, 0);
    let mut nothing_found = false;
    // The columns of the command above, for rows without a header.
    let mut format: Option<LineFormat> = None;
    // sprio cuts names by bytes, so a cut name may end in half a character.
    while let Some(text) = lines.next()? {
        number += 1;
        let text = text.trim_start_matches('\u{feff}').trim_end();
        let head = header(text);
        let ends = head.is_some() || is_command(text);
        if ends {
            rows += open.as_ref().map_or(0, |open| open.count);
            queue
                .listings
                .extend(open.take().map(|o| o.close(file, left)).transpose()?);
            format = if head.is_some() { None } else { asked(text) };
        }
        if let Some(header) = head {
            open = Some(Open::new(number, header));
        } else if text.starts_with("Unable to find jobs matching") {
            nothing_found = true;
        } else if !ends && !text.is_empty() && !text.starts_with('#') && !is_prompt(text) {
            if open.is_none() {
                let asked = format.as_ref();
                open = asked.and_then(|format| Open::of(number, format));
            }
            let Some(open) = &mut open else {
                return Err(headless(file, number, text));
            };
            one_more(file, rows + open.count, number)?;
            left.keep(open.add(file, number, text, most))?;
        }
    }
    queue
        .listings
        .extend(open.map(|o| o.close(file, left)).transpose()?);
    if queue.listings.is_empty() {
        let problem = if nothing_found {
            Problem::Structure("sprio found no such jobs".into())
        } else {
            Problem::Empty
        };
        return Err(InputError::new(file, problem).hint("give the output of sprio -l"));
    }
    let rows = queue.listings.iter().map(|listing| listing.rows.len());
    left.any_read(rows.sum::<usize>() - left.odd_rows(), before)?;
    Ok(queue)
}

fn headless(file: &str, number: usize, text: &str) -> InputError {
    let problem =
        Problem::Structure("a row without a header above it does not tell its columns".into());
    InputError::new(file, problem).at_line(number, text).hint(
        "run sprio without -h, or put its command above the rows: `$ sprio -h -o '%i|%u|%Y|%A'`, \
             with one sign between all columns; of columns too narrow for their headings, print \
             them wider",
    )
}

/// A listing that is being read: the kinds of its columns are known only when all cells are read.
struct Open {
    line: usize,
    header: Header,
    /// The columns, where a command names them.
    columns: Option<Vec<Column>>,
    /// Facts about the columns so far.
    told: Vec<Told>,
    /// The lines, as rows take their place piece by piece.
    pieces: Vec<Piece>,
    /// Number of lines.
    count: usize,
}

/// Some lines.
struct Piece {
    /// The lines, concatenated.
    text: String,
    /// The number of each line, and where it ends in the text.
    lines: Vec<(usize, usize)>,
}

/// Bytes of a piece, and a line more at most. So much memory at a time malloc(3) takes from the
/// system, and gives back at once (mallopt(3), M_MMAP_THRESHOLD).
const PIECE: usize = 34 << 20;

/// Facts that the cells of a column show, by majority: one broken row decides nothing.
#[derive(Clone, Copy, Default)]
struct Told {
    /// Number of cells that are not blank.
    cells: usize,
    /// Number of these that have a point.
    points: usize,
    /// Number of numbers; counted only for columns called PARTITION.
    numbers: usize,
}

impl Told {
    fn is_normal(self) -> bool {
        self.points > 0 && 2 * self.points >= self.cells
    }

    fn is_number(self) -> bool {
        2 * self.numbers > self.cells || self.cells == 0
    }
}

impl Open {
    fn new(line: usize, header: Header) -> Open {
        Open {
            line,
            told: vec![Told::default(); header.names.len()],
            header,
            columns: None,
            pieces: Vec::new(),
            count: 0,
        }
    }

    /// The listing of a command, whose first row is in a line.
    fn of(line: usize, format: &LineFormat) -> Option<Open> {
        let columns = format.fields.iter().map(|field| field.column).collect();
        Some(Open {
            columns: Some(columns),
            ..Open::new(line, of_format(format)?)
        })
    }

    fn add(
        &mut self,
        file: &str,
        number: usize,
        text: &str,
        most: usize,
    ) -> Result<(), InputError> {
        let mut cells = Vec::with_capacity(self.told.len() + 1);
        cut(text, &self.header.layout, &mut cells).map_err(|(at, why)| {
            InputError::new(file, Problem::Structure(why))
                .at_line(number, text)
                .at_column(at + 1)
                .hint(
                    "separate the columns with a sign: sprio -o '%i|%r|%u|%Y|%S|%A|%F|%J|%Q|%N|%T'",
                )
        })?;
        let columns = self.told.iter_mut().zip(&self.header.names);
        for ((told, name), cell) in columns.zip(&cells) {
            let Some((cell, _)) = cell else { continue };
            told.cells += 1;
            told.points += usize::from(cell.contains('.'));
            if *name == "PARTITION" {
                told.numbers += usize::from(cell.parse::<f64>().is_ok());
            }
        }
        self.count += 1;
        if self.count > most {
            return Ok(());
        }
        if self
            .pieces
            .last()
            .is_none_or(|last| last.text.len() >= PIECE)
        {
            // The first one grows: most listings are short.
            let bytes = if self.pieces.is_empty() { 0 } else { PIECE };
            self.pieces.push(Piece {
                text: String::with_capacity(bytes),
                lines: Vec::new(),
            });
        }
        let piece = self.pieces.last_mut().expect("one was added");
        piece.text.push_str(text);
        piece.lines.push((number, piece.text.len()));
        Ok(())
    }

    fn close(self, file: &str, left: &mut LeftOut) -> Result<Listing, InputError> {
        let names = &self.header.names;
        let normal = |at: usize| self.told[at].is_normal();
        let number = |at: usize| !self.pieces.is_empty() && self.told[at].is_number();
        let columns = self
            .columns
            .unwrap_or_else(|| columns(names, normal, number));
        let lines = self.pieces.iter().map(|piece| piece.lines.len());
        let mut rows = SprioRows::with_capacity(&columns, lines.sum());
        let mut weights = None;
        for piece in self.pieces {
            let (mut cells, mut values) = (Vec::new(), Vec::new());
            let mut begin = 0;
            for &(number, end) in &piece.lines {
                let text = &piece.text[begin..end];
                begin = end;
                cut(text, &self.header.layout, &mut cells).expect("it was cut before");
                let line = SprioLine {
                    file,
                    number,
                    text,
                    cells: &cells,
                    by_place: matches!(self.header.layout, Layout::Blanks(_)),
                };
                if line.is_weights(names) {
                    weights = left.keep(line.weights(&columns))?;
                } else {
                    let odd = left.cells();
                    let read = line.row(&columns, &mut values, left);
                    if left.keep(read)?.is_some() {
                        rows.push_values(number, &mut values);
                        left.see_row(odd);
                    }
                }
            }
        }
        Ok(Listing {
            line: self.line,
            columns,
            weights,
            rows: Arc::new(rows),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Factor, Form};
    use super::*;

    fn queue(text: &str) -> Queue {
        read("f", text.as_bytes()).unwrap_or_else(|error| panic!("{}", error.explained()))
    }

    #[test]
    fn notes_with_several_listings_are_read() {
        let queue = queue(
            "# 2024-12-03\n$ sprio -w\n  JOBID PARTITION   PRIORITY       SITE        AGE\n\
             Weights                               1          5\n# later\n$ sprio -j 7\n  \
             JOBID PARTITION   PRIORITY       SITE        AGE\n      7 a,b              586          0        129\n$\n",
        );
        assert_eq!(queue.listings.len(), 2);
        let weights = queue.listings[0].weights.as_ref().unwrap();
        assert_eq!(weights.points[Factor::Age.index()], Some(5));
        let row = queue.listings[1].rows.get(0);
        assert_eq!(
            (row.job_id, row.priority, row.site),
            (Some(7), Some(586.0), Some(0))
        );
        assert_eq!(row.partition, Some("a,b"));
        assert_eq!(row.line, 8);
    }

    #[test]
    fn decimals_tell_normalised_columns() {
        let queue = queue(
            "JOBID|PARTITION|PRIORITY|PRIORITY|AGE|AGE|TRES\n\
             4|main|63206|0.00001471635187|50|0.0500000|\n\
             5|main|1|0.00000000023283|0|0.0000000|cpu=3,gres/gpu=0\n",
        );
        let listing = &queue.listings[0];
        assert!(listing.has(Column::Priority(Form::Normalised)));
        assert!(listing.has(Column::Factor(Factor::Age, Form::Weighted)));
        assert!(listing.has(Column::Factor(Factor::Age, Form::Normalised)));
        assert_eq!(listing.rows.get(0).norm[0].unwrap().value, 0.05);
        let tres = listing.rows.get(1).tres.unwrap();
        assert_eq!((tres[1].0.as_str(), tres[0].1.value), ("gres/gpu", 3.0));
    }

    #[test]
    fn one_odd_cell_hides_no_other() {
        let queue = queue("JOBID|AGE|QOS\n7|5|1\n8|many|2\n9|3|4|5\n10|6|3\n");
        let rows = &queue.listings[0].rows;
        let ids: Vec<_> = rows.job_ids().collect();
        assert_eq!(ids, [Some(7), Some(8), Some(10)]);
        assert_eq!(rows.get(1).weighted[0], None);
        assert_eq!(
            rows.get(1).weighted[Factor::Qos.index()].unwrap().value,
            2.0
        );
        let [broken, odd] = &queue.notes[..] else {
            panic!("{:?}", queue.notes)
        };
        assert!(odd.starts_with("f:3:3: AGE \"many\""), "{odd}");
        assert!(
            broken.starts_with("f:4: 4 cells") || broken.starts_with("f:4:1: 4 cells"),
            "{broken}"
        );
    }

    #[test]
    fn cut_resources_keep_what_can_be_read() {
        let header = "JOBID                 TRES\n";
        for (cell, whole, cut) in [
            ("cpu=13,mem=22,gres/g", 2, Some("gres/g")),
            ("cpu=13,mem=2,gres/a=", 2, Some("gres/a=")),
            ("cpu=0.01,mem=0.0,a=0.", 2, Some("a=0.")),
            ("cpu=13,mem=22,gpu=13", 3, Some("gpu=13")),
            ("cpu=13,", 1, Some("")),
            ("gres/gpu:a100-sxm4-8", 0, Some("gres/gpu:a100-sxm4-8")),
            ("cpu=13,mem=22", 2, None),
        ] {
            let queue = queue(&format!("{header}    7 {cell:>20}\n"));
            let row = queue.listings[0].rows.get(0);
            let terms = row.tres.or(row.norm_tres);
            assert_eq!(terms.map(<[_]>::len), Some(whole), "{cell}");
            assert_eq!(row.tres_cut.or(row.norm_tres_cut), cut, "{cell}");
        }
        let queue = queue("JOBID|TRES\n7|cpu=13,mem=22,gpu=13\n");
        assert_eq!(queue.listings[0].rows.get(0).tres_cut, None);
    }

    // Slurm 26.05 prints a SLUID for `%s`, and may print nothing.
    #[test]
    fn rows_under_their_command_are_read() {
        let queue = queue(
            &[
                "[root@h ~]# sprio -h -o '%.15i %.8u %.10Y %.14s'\n",
                "              7      bob        586  sJ3KFCZ2RT9E0\n",
                "              8      ann        500               \n",
                "[root@h ~]#\n$ sprio -h -o '%i|%A|%a'\n7|5|0.5\n",
            ]
            .concat(),
        );
        let [first, second] = &queue.listings[..] else {
            panic!("{queue:?}")
        };
        let row = first.rows.get(0);
        assert_eq!(
            (row.job_id, row.user, row.priority),
            (Some(7), Some("bob"), Some(586.0))
        );
        assert_eq!(row.sluid, Some("sJ3KFCZ2RT9E0"));
        assert_eq!(first.rows.len(), 2);
        assert_eq!(second.rows.get(0).norm[0].unwrap().value, 0.5);
    }

    #[test]
    fn one_broken_row_does_not_tell_what_a_column_is() {
        let rows = "4|main|50|0.0500000|7\n5|main|51|0.0510000|8\n";
        let header = "JOBID|PARTITION|AGE|AGE|QOS\n";
        let whole = queue(&format!("{header}{rows}"));
        for broken in ["6|main|0.05|9|0.3\n", "6|7|52|0.05|1.5\n"] {
            let mut left = LeftOut::default();
            for text in [
                format!("{header}{broken}{rows}"),
                format!("{header}{rows}{broken}"),
            ] {
                let queue = read_answer("f", text.as_bytes(), &mut left).unwrap();
                assert_eq!(queue.listings[0].columns, whole.listings[0].columns);
                let ids = |queue: &Queue| -> Vec<String> {
                    let rows = queue.listings[0].rows.iter().map(|mut row| {
                        row.line = 0;
                        format!("{row:?}")
                    });
                    rows.filter(|row| !row.contains("Some(6)")).collect()
                };
                assert_eq!(ids(&queue), ids(&whole));
            }
        }
    }

    #[test]
    fn what_is_no_listing_is_an_error_at_its_place() {
        for (text, place) in [
            ("", None),
            ("7 main 5\n", Some((1, None))),
            ("JOBID USER\n7 bob x\n", Some((2, Some(7)))),
            ("JOBID AGE\n7 -5\n", Some((2, Some(3)))),
            ("JOBID AGE\nx7 5\n", Some((2, Some(1)))),
            ("JOBID|TRES\n7|5cpu\n", Some((2, Some(3)))),
            ("JOBID|TRES\n7|cpu,mem=1\n", Some((2, Some(3)))),
            ("Unable to find jobs matching user/id(s) specified\n", None),
        ] {
            let error = read("f", text.as_bytes()).unwrap_err();
            let found = error.line.map(|line| (line, error.column));
            assert_eq!(found, place, "{text:?}: {error}");
        }
    }
}
