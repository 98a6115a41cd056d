//! Calls that are refused.

use super::*;

#[test]
fn what_is_refused_says_why_and_changes_nothing() {
    let rows = [row(1, 0, 1), row(2, 1, 2), row(3, 2, 1)];
    let tree = Tree::from_rows(rows).unwrap();
    let refused = |settings| Queue::new(&tree, settings, 0).unwrap_err().to_string();
    let with = |id, rule| Settings {
        accounts: vec![(id, rule)],
        ..Settings::default()
    };
    let since = AccountRule {
        minutes: None,
        counted: Some(Counted::Since(0)),
    };
    assert_eq!(
        refused(with(2, since)),
        "account 2 counts all use since a moment, so it must be given minutes"
    );
    assert_eq!(
        refused(with(9, AccountRule::default())),
        "account 9 has a rule of its own, but is not in the tree"
    );
    assert_eq!(
        refused(with(1, AccountRule::default())),
        "account 1 has a rule of its own, but shares as its parent does, or is a user where users \
         do not compete"
    );
    let counted = Counted::Window(0);
    assert_eq!(
        refused(Settings {
            counted,
            ..Settings::default()
        }),
        "the window is 0 microseconds: it must be longer than 0"
    );
    assert_eq!(
        refused(Settings {
            capacity: 0,
            ..Settings::default()
        }),
        "capacity is 0: it must be at least one unit"
    );

    let mut queue = Queue::new(&tree, Settings::default(), 0).unwrap();
    queue.add_machine("m", 1).unwrap();
    let error = queue.add_machine("m", 2).unwrap_err();
    assert_eq!(error.to_string(), "there is a machine \"m\" already");
    assert_eq!(
        queue.next("m", 5).unwrap(),
        Next::Nothing(Nothing::NoneWaits)
    );
    assert!(matches!(
        queue.next("x", 5),
        Err(QueueError::Machine(MachineError::UnknownMachine { .. }))
    ));
    let root = queue.add(&job(1, 1, 5)).unwrap_err();
    assert_eq!(
        root.to_string(),
        "job 1: neither association 1 nor an account above it has shares"
    );
    let unknown = queue.add(&job(1, 7, 5)).unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "job 1: association 7 is not in the tree"
    );
    let endless = NewJob {
        expected: None,
        ..job(1, 3, 5)
    };
    assert_eq!(queue.add(&endless), Err(QueueError::NoLength { job: 1 }));
    queue.add(&job(1, 3, 5)).unwrap();
    assert_eq!(
        queue.add(&job(1, 3, 5)),
        Err(MachineError::JobTwice { job: 1 }.into())
    );
    queue.add(&job(2, 3, 5)).unwrap();
    let done = queue.finish(1, EndState::Completed, 0, 0, 9);
    assert_eq!(done, Err(MachineError::NotRunning { job: 1 }.into()));
    queue.start(1, 10).unwrap();
    assert_eq!(
        queue.start(1, 10),
        Err(MachineError::NotWaiting { job: 1 }.into())
    );
    assert_eq!(
        queue.cancel(1),
        Err(MachineError::NotWaiting { job: 1 }.into())
    );
    assert!(matches!(
        queue.start(2, 10),
        Err(QueueError::Busy { running: 1, .. })
    ));
    let error = queue.finish(1, EndState::Completed, 0, 11, 20).unwrap_err();
    assert_eq!(
        error.to_string(),
        "job 1 started 10 microseconds ago, it cannot have run for 11"
    );
    queue.finish(1, EndState::Completed, 0, 10, 20).unwrap();
    queue.set_paused("m", true).unwrap();
    assert_eq!(queue.next("m", 20).unwrap(), Next::Nothing(Nothing::Paused));
    assert!(matches!(
        queue.start(2, 20),
        Err(QueueError::Machine(MachineError::Paused { .. }))
    ));
    let never = queue.estimate("m", 20).unwrap();
    assert_eq!((never[0].job, never[0].start), (2, None));
    queue.set_paused("m", false).unwrap();
    assert_eq!(queue.next("m", 20).unwrap(), Next::Job(2));
    let other = Tree::from_rows([row(1, 0, 1)]).unwrap();
    let gone = queue.change(&other, Settings::default()).unwrap_err();
    assert_eq!(gone, QueueError::UnknownAssoc { job: 2, assoc: 3 });
    assert_eq!(queue.next("m", 3).unwrap(), Next::Job(2));
    assert_eq!(queue.now(), 20, "time does not run backwards");
    queue.cancel(2).unwrap();
    assert_eq!(
        queue.cancel(2),
        Err(MachineError::UnknownJob { job: 2 }.into())
    );
}
