//! Listings in the shapes that people keep them in. Expected: read off the text by eye.

use super::*;

fn listing(text: &str) -> Listing {
    read("f", text.as_bytes()).unwrap_or_else(|error| panic!("{}", error.explained()))
}

fn refused(text: &str) -> InputError {
    read("f", text.as_bytes()).unwrap_err()
}

const PLAIN: &str = "\
Account                    User  RawShares  NormShares    RawUsage  EffectvUsage  FairShare
-------------------- ---------- ---------- ----------- ----------- ------------- ----------
root                                          0.000000         300      1.000000
 phys                                   40    0.400000         200      0.666667
  phys                    alice     parent    0.400000         200      1.000000   0.500000
";

#[test]
fn plain_columns() {
    let listing = listing(PLAIN);
    assert_eq!(listing.fields.len(), 7);
    let [root, phys, alice] = &listing.rows[..] else {
        panic!()
    };
    assert_eq!(
        (root.depth, root.raw_shares, root.raw_usage),
        (0, None, Some(300))
    );
    assert_eq!(phys.raw_shares, Some(Shares::Raw(40)));
    assert_eq!((alice.depth, alice.line), (2, 5));
    assert_eq!(alice.account.as_deref(), Some("phys"));
    assert_eq!(alice.user.as_deref(), Some("alice"));
    assert_eq!(alice.raw_shares, Some(Shares::Parent));
    assert_eq!(alice.fs_factor.unwrap().value, 0.5);
}

#[test]
fn both_parsable_forms_keep_the_indentation() {
    for bar in ["", "|"] {
        let text = format!(
            "Account|User|LevelFS{bar}\nroot||{bar}\n phys||inf{bar}\n  phys|bob|15085.123456{bar}\n"
        );
        let rows = listing(&text).rows;
        assert_eq!(rows.iter().map(|r| r.depth).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(rows[1].level_fs.unwrap().value, f64::INFINITY);
    }
}

#[test]
fn one_column_reads_with_and_without_dashes() {
    assert_eq!(listing("RawUsage\n5\n7\n").rows[1].raw_usage, Some(7));
    assert_eq!(
        listing("   RawUsage \n----------- \n          5 \n").rows[0].raw_usage,
        Some(5)
    );
}

#[test]
fn a_prompt_above_names_the_columns_and_one_below_is_no_row() {
    let listing = listing(
        "$ sshare --format=\"Account,RawShares\" | grep phys\n phys                        40 \n$\n\n",
    );
    assert_eq!(listing.rows.len(), 1);
    assert_eq!(listing.rows[0].raw_shares, Some(Shares::Raw(40)));
}

#[test]
fn cluster_lines_carriage_returns_and_a_byte_order_mark() {
    let text = format!("\u{feff}CLUSTER: alpha\r\n{}", PLAIN.replace('\n', "\r\n"));
    let listing = listing(&text);
    assert_eq!(listing.cluster.as_deref(), Some("alpha"));
    assert_eq!(listing.rows.len(), 3);
}

#[test]
fn names_that_sshare_cut_are_marked() {
    let rows = listing("Account  User\n------- -----\nphysic+ alic+\nmath+   bob\n").rows;
    assert!(rows[0].account_cut && !rows[1].account_cut);
}

#[test]
fn accounts_flush_right_hide_their_depth() {
    let rows =
        "   Account  RawUsage\n---------- ---------\n      root         5\n       bio         3\n";
    assert!(listing(rows).depth_hidden);
    assert!(!listing(PLAIN).depth_hidden);
}

#[test]
fn notes_name_line_column_value_and_what_is_allowed() {
    let found = listing(&PLAIN.replace("        40 ", "        4x "));
    assert_eq!(
        found.notes,
        [
            "f:4:41: RawShares \"4x\" is not allowed: allowed is a whole number from 0 to 2147483646, \
             parent, or nothing for the root; this cell counts as blank"
        ]
    );
    assert_eq!((found.rows.len(), found.rows[1].raw_shares), (3, None));
    assert_eq!(found.rows[1].raw_usage, Some(200));
    let found = listing("Account|RawShares\nroot|\nphys|2147483647\n");
    assert!(
        found.notes[0].starts_with("f:3:6: RawShares"),
        "{:?}",
        found.notes
    );
    let found = listing("Account|RawShares\nroot|\nphys|1|2\nbio|3\n");
    assert!(found.notes[0].starts_with("f:3:8: "), "{:?}", found.notes);
    assert!(
        found.notes[0].ends_with("this record is left out"),
        "{:?}",
        found.notes
    );
    assert_eq!(found.rows[1].raw_shares, Some(Shares::Raw(3)));
    // Nothing else: it is no such listing.
    let error = refused("Account|LevelFS\nroot|-1.0\n");
    assert!(
        error.to_string().starts_with("f:2:6: LevelFS \"-1.0\""),
        "{error}"
    );
}

#[test]
fn two_listings_in_one_file_are_refused() {
    for second in ["CLUSTER: beta\n", "$ sprio\nx\n", "Account|RawShares\n"] {
        let text = format!("Account|RawShares\nroot|\n{second}");
        assert_eq!(refused(&text).line, Some(3), "{second}");
    }
}

#[test]
fn no_listing_and_no_header_are_refused() {
    assert!(matches!(*refused("\n \n").problem, Problem::Empty));
    assert!(matches!(*refused("$ sshare -n\n").problem, Problem::Empty));
    let error = refused("root   1  2\n");
    assert!(error.hint.unwrap().contains("without -n"));
}

#[test]
fn one_broken_row_hides_no_other() {
    let head = "Account|User|RawShares|RawUsage\n";
    let rows = [
        "root|||10",
        " root|root|1|0",
        " a||2|7",
        "  a|anna|1|7",
        " b||3|3",
        "  b|bert|1|3",
    ];
    let names = |broken: usize, text: &str| -> (Vec<String>, Vec<String>) {
        let mut rows = rows;
        rows[broken] = text;
        let text = format!("{head}{}\n", rows.join("\n"));
        let mut left = LeftOut::default();
        let listing = read_answer("f", text.as_bytes(), &mut left).unwrap();
        assert_eq!(listing.rows_left_out, left.count());
        let name = |row: &SshareRow| row.user.clone().or(row.account.clone()).unwrap_or_default();
        (listing.rows.iter().map(name).collect(), left.notes())
    };
    // A user's row, by its value and by its cells; text of another kind.
    for text in [
        "  a|anna|many|7",
        "  a|an|na|1|7",
        "CLUSTER: x",
        "$ sshare",
        "?",
        "a|?",
    ] {
        let (found, notes) = names(3, text);
        assert_eq!(found, ["root", "root", "a", "b", "bert"], "{text}");
        assert_eq!(notes.len(), 1, "{notes:?}");
    }
    // With an account those below it, but no others.
    let (found, notes) = names(2, " a||many|7");
    assert_eq!(found, ["root", "root", "b", "bert"]);
    assert!(
        notes[1].contains("the account above it cannot be read"),
        "{notes:?}"
    );
    // Of a file that somebody names the cell alone.
    let text = format!("{head}root|||10\n a||many|7\n");
    let named = read("f", text.as_bytes()).unwrap();
    assert_eq!((named.rows.len(), named.rows[1].raw_usage), (2, Some(7)));
    assert!(named.notes[0].contains("\"many\""), "{:?}", named.notes);
}
