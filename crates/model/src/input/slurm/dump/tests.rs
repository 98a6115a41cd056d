use super::*;

const DUMP: &str = "# To edit this file\nCluster - 'c':Fairshare=1:QOS='a,b'\nParent - 'root'\n\
                    Account - 'p':Description='it's a: thing':Fairshare=40:Priority=5\nParent - 'p'\n\
                    User - 'u':DefaultAccount='p':Partition='x':Fairshare=2147483647\n";

#[test]
fn options_quotes_and_the_number_of_parent() {
    let dump = read("f", DUMP).unwrap();
    assert_eq!(dump.cluster.as_deref(), Some("c"));
    assert_eq!(dump.rows[1].shares, Shares::Raw(40));
    assert_eq!(dump.rows[1].priority, 5);
    assert_eq!(dump.rows[2].shares, Shares::Parent);
    assert_eq!(dump.rows[2].partition.as_deref(), Some("x"));
}

fn shares(text: &str) -> Vec<(String, Shares)> {
    let dump = read("f", text).unwrap_or_else(|error| panic!("{}", error.explained()));
    let name = |row: AssocRow| (row.user.unwrap_or(row.account), row.shares);
    dump.rows.into_iter().map(name).collect()
}

fn named(rows: &[(&str, u32)]) -> Vec<(String, Shares)> {
    let row = |(name, shares): &(&str, u32)| ((*name).to_owned(), Shares::Raw(*shares));
    rows.iter().map(row).collect()
}

// Expected: `_get_next_line` and `_parse_options` of sacctmgr, read.
#[test]
fn all_forms_of_load_are_read() {
    for (text, rows) in [
        (
            "MACHINE - c:\nparent - root\naccount - A1:F=3:Org='x'::S=4\nParent - 'a1'\n\
             User - u # 'not a quote'\nUser - 'v':Desc='a # b':sha=2\n",
            &[("root", 1), ("a1", 4), ("u", 1), ("v", 2)][..],
        ),
        (
            "Cluster - 'c'\nParent - 'root'\nAccount - 'a':Desc='one \\\n two':\\\nFairshare=\\\n5\n",
            &[("root", 1), ("a", 5)],
        ),
        (
            "Parent - 'root'\nAccount - 'a':Desc='x\\\\' # \\\nAccount - 'b':Fair=7\n",
            &[("root", 1), ("a", 1), ("b", 7)],
        ),
        (
            "Cluster - 'c'\nParent - 'root'\nAccount - 'a':Fairshare=5\nAccount - 'a':Priority=1\n\
             Account - 'root':Fairshare=9\n",
            &[("root", 9), ("a", 5)],
        ),
        (
            "[root@h ~]# cat x.cfg\nQOS - 'normal':Priority=1\nCluster - 'c'\nParent - 'root'\n\
             User - 'u':DefaultA='root':Partition='p'\nUser - 'u':Partition='q':Fairshare=2\n",
            &[("root", 1), ("u", 1), ("u", 2)],
        ),
    ] {
        assert_eq!(shares(text), named(rows), "{text}");
    }
}

#[test]
fn every_object_line_is_known() {
    for line in [
        "QOS - 'normal':Description='x'",
        "Cluster - 'c'",
        "machine - c",
        " Parent - \"root\"",
        "Account - 'a':",
        "User - u",
    ] {
        assert!(begins(line), "{line}");
    }
    for line in [
        "Account|User",
        "user = 'a - b'",
        "User-agent: x",
        "Cluster -",
        "# User - u",
    ] {
        assert!(!begins(line), "{line}");
    }
}

#[test]
fn wrong_lines_are_errors_at_their_place() {
    for (text, place) in [
        ("", None),
        ("Nonsense\n", Some((1, Some(1)))),
        ("Parent - 'nobody'\n", Some((1, Some(1)))),
        ("Account - 'a'\n", Some((1, Some(1)))),
        (
            "Parent - 'root'\nUser - 'u':Fairshare=-5\n",
            Some((2, Some(22))),
        ),
        (
            "Parent - 'root'\nUser - 'u:Fairshare=5\n",
            Some((2, Some(8))),
        ),
        (
            "Parent - 'root'\nUser - 'u':Fairshare\n",
            Some((2, Some(12))),
        ),
        (
            "Parent - 'root'\nUser - 'u':Fairshrae=2\n",
            Some((2, Some(12))),
        ),
        (
            "Parent - 'root'\nUser - 'u':Fairshare+=2\n",
            Some((2, Some(12))),
        ),
        ("Cluster - 'c'\nQOS - 'q'\n", Some((2, Some(1)))),
        ("Cluster - 'c'\n# x\nCluster - 'd'\n", Some((3, Some(1)))),
        (
            "Parent - 'root'\nAccount - 'a'\nAccount - 'b'\nParent - 'a'\nAccount - 'b'\n",
            Some((5, Some(1))),
        ),
    ] {
        let error = read("f", text).unwrap_err();
        assert_eq!(
            error.line.map(|line| (line, error.column)),
            place,
            "{text:?} {error}"
        );
    }
}
