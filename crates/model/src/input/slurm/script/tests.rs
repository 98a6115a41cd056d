//! Scripts of sacctmgr, by its manual.

use super::*;

// Source: sacctmgr(1).
#[test]
fn commands_are_carried_out_in_their_order() {
    let text = "# a comment\nmodify qos normal set priority=10\nadd qos high priority=100 \
        MaxJobsPerUser=2 GrpTRES=cpu=20,gres/gpu=1\nadd account science fairshare=70\n\
        add account physics parent=science fairshare=2\nadd user anna account=physics \
        fairshare=3 qos=normal,high defaultqos=high\nmodify account science set GrpTRES=cpu=8\n\
        modify user anna set MaxJobs=4 where account=physics\nlist associations\n";
    let found = read("f", text, &mut LeftOut::default()).unwrap();
    let names: Vec<&str> = found.assocs.iter().map(|row| &*row.row.account).collect();
    assert_eq!(names, ["root", "root", "science", "physics", "physics"]);
    let anna = &found.assocs[4];
    assert_eq!(anna.row.shares, Shares::Raw(3));
    assert_eq!(anna.default_qos.as_deref(), Some("high"));
    assert_eq!((anna.limits.jobs, anna.is_default), (Some(4), true));
    assert_eq!(found.assocs[2].limits.group_tres.get("cpu"), Some(8));
    assert_eq!(found.assocs[3].limits.group_tres.get("cpu"), None);
    let high = &found.qos[1];
    assert_eq!((high.row.priority, high.limits.user_jobs), (100, Some(2)));
    assert_eq!(high.limits.all.group_tres.get("gres/gpu"), Some(1));
    assert_eq!(found.qos[0].row.priority, 10);
}

#[test]
fn one_broken_command_hides_no_other() {
    let mut left = LeftOut::default();
    let text = "add account a fairshare=many\nadd account b parent=x\nadd account c\n";
    let found = read("f", text, &mut left).unwrap();
    assert_eq!(left.count(), 2);
    assert!(found.assocs.iter().any(|row| row.row.account == "c"));
    let text = "ad account a\ndelete user b\nadd acount c\nadd coordinator d\nadd account e\n\
        modify account e set fairshear=2\nmodify account x set fairshare=2\nadd user\n\
        modify account e fairshare=2\nadd user zoe\nmodify account e set fairsh=3\n";
    let mut left = LeftOut::default();
    let found = read("f", text, &mut left).unwrap();
    assert_eq!(left.count(), 8);
    // sacctmgr takes shortened words.
    assert_eq!(found.assocs[2].row.shares, Shares::Raw(3));
}
