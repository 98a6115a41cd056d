//! Expected times come from `TZ=… date -d … +%s` of GNU coreutils.

use super::*;
use crate::compat::Release;
use proptest::prelude::*;

const SLURM: Compat = Compat::Slurm(Release::V22_05_8);

/// Central Europe: summer time from the last Sunday of March to the last of October.
fn europe() -> TimeZone {
    TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap()
}

/// Clocks go from 00:00 to 01:00 on the third Sunday of October.
fn no_midnight() -> TimeZone {
    TimeZone::posix("<-03>3<-02>,M10.3.0/0,M2.3.0/0").unwrap()
}

const JAN_31_10H: i64 = 1_769_850_000;
const FEB_1: i64 = 1_769_900_400;
const MAR_25_10H: i64 = 1_774_429_200;
const MAR_28_12H: i64 = 1_774_695_600;
const MAR_29: i64 = 1_774_738_800;
const MAR_29_12H: i64 = 1_774_778_400;
const MAR_30: i64 = 1_774_821_600;
const MAR_31: i64 = 1_774_908_000;
const APR_1: i64 = 1_774_994_400;
const APR_5: i64 = 1_775_340_000;
const MAY_17_8H: i64 = 1_778_997_600;
const JUN_1: i64 = 1_780_264_800;
const JUL_1: i64 = 1_782_856_800;
const OCT_25: i64 = 1_792_879_200;
const OCT_26: i64 = 1_792_969_200;
const JAN_1_2027: i64 = 1_798_758_000;

#[test]
fn next_of_each_period() {
    let zone = europe();
    for (period, last, expected) in [
        (ResetPeriod::Daily, MAR_28_12H, MAR_29),
        (ResetPeriod::Weekly, MAR_25_10H, MAR_29),
        (ResetPeriod::Weekly, MAR_29_12H, APR_5),
        (ResetPeriod::Monthly, JAN_31_10H, FEB_1),
        (ResetPeriod::Monthly, MAY_17_8H, JUN_1),
        (ResetPeriod::Quarterly, MAR_25_10H, APR_1),
        (ResetPeriod::Quarterly, APR_1, JUL_1),
        (ResetPeriod::Quarterly, OCT_26, JAN_1_2027),
        (ResetPeriod::Yearly, MAY_17_8H, JAN_1_2027),
    ] {
        let next = next_reset(period, Compat::Documented, last, last, &zone);
        assert_eq!(next, Some(expected), "{period:?} after {last}");
    }
    for period in [ResetPeriod::None, ResetPeriod::Now] {
        for compat in [Compat::Documented, SLURM] {
            assert_eq!(next_reset(period, compat, APR_1, APR_1, &zone), None);
        }
    }
}

#[test]
fn a_day_has_23_or_25_hours_when_clocks_change() {
    let zone = europe();
    let next = |compat, last| next_reset(ResetPeriod::Daily, compat, last, last, &zone).unwrap();
    assert_eq!(next(Compat::Documented, MAR_29), MAR_30);
    assert_eq!(next(Compat::Documented, OCT_25), OCT_26);
    // 86,400 s after a midnight: 01:00 in spring, 23:00 in autumn.
    assert_eq!(next(SLURM, MAR_29), MAR_30 + 3_600);
    assert_eq!(next(SLURM, OCT_25), OCT_26 - 3_600);
    // The midnight after next is right again in spring; in autumn the same day ends twice.
    assert_eq!(next(SLURM, MAR_30 + 3_600), MAR_31);
    assert_eq!(next(SLURM, OCT_26 - 3_600), OCT_26 - 3_600);
}

#[test]
fn slurm_clears_in_every_pass_for_a_day_after_clocks_went_back() {
    let zone = europe();
    let count = |compat| {
        let mut resets = ResetSchedule::new(ResetPeriod::Daily, compat, OCT_25);
        // Three days, a pass every ten minutes, from midnight to 27 October, 23:50.
        (0..73 * 6)
            .filter(|pass| resets.take_due(OCT_25 + 600 * pass, &zone))
            .count()
    };
    assert_eq!(count(Compat::Documented), 2);
    // From 25 October, 23:00, to 26 October, 23:20 (147 passes), then once at midnight.
    assert_eq!(count(SLURM), 148);
}

#[test]
fn a_week_with_a_change_of_clocks() {
    let zone = europe();
    let next = |compat, last| next_reset(ResetPeriod::Weekly, compat, last, last, &zone).unwrap();
    assert_eq!(next(Compat::Documented, MAR_29), APR_5);
    assert_eq!(next(SLURM, MAR_29), APR_5 + 3_600);
}

#[test]
fn a_midnight_that_does_not_exist() {
    let zone = no_midnight();
    let (oct_17_12h, oct_18_1h, oct_19) = (1_792_249_200, 1_792_292_400, 1_792_375_200);
    let next = |last| next_reset(ResetPeriod::Daily, Compat::Documented, last, last, &zone);
    assert_eq!(next(oct_17_12h), Some(oct_18_1h));
    assert_eq!(next(oct_18_1h), Some(oct_19));
}

#[test]
fn several_periods_behind() {
    let zone = europe();
    for (period, last, now, boundary) in [
        (ResetPeriod::Daily, MAR_25_10H, MAR_29_12H, MAR_29),
        (ResetPeriod::Weekly, JAN_31_10H, APR_1, MAR_29),
        (ResetPeriod::Monthly, JAN_31_10H, MAY_17_8H, 1_777_586_400),
        (ResetPeriod::Quarterly, JAN_31_10H, JUL_1, JUL_1),
    ] {
        let mut resets = ResetSchedule::new(period, Compat::Documented, last);
        assert!(resets.take_due(now, &zone), "{period:?}");
        assert_eq!(resets.last_reset(), boundary, "{period:?}");
        assert!(!resets.take_due(now, &zone), "{period:?}");
        let next = next_reset(period, Compat::Documented, boundary, now, &zone).unwrap();
        assert!(!resets.take_due(next - 1, &zone), "{period:?}");
        assert!(resets.take_due(next, &zone), "{period:?}");
    }
}

#[test]
fn slurm_catches_up_months_pass_by_pass_and_days_at_once() {
    let zone = europe();
    let mut months = ResetSchedule::new(ResetPeriod::Monthly, SLURM, JAN_31_10H);
    // 1 February, March, April and May, one per pass.
    let resets = (0..9)
        .filter(|pass| months.take_due(MAY_17_8H + 300 * pass, &zone))
        .count();
    assert_eq!(resets, 4);

    let mut days = ResetSchedule::new(ResetPeriod::Daily, SLURM, MAR_25_10H);
    assert!(days.take_due(MAR_28_12H, &zone));
    assert_eq!(days.last_reset(), MAR_29 - 86_400);
    assert!(!days.take_due(MAR_28_12H, &zone));
    assert!(days.take_due(MAR_29, &zone));
}

#[test]
fn now_acts_once_and_again_when_armed() {
    for compat in [Compat::Documented, SLURM] {
        let mut resets = ResetSchedule::new(ResetPeriod::Now, compat, 5);
        assert!(resets.take_due(100, &TimeZone::UTC));
        assert_eq!(resets.last_reset(), 100);
        assert!(!resets.take_due(200, &TimeZone::UTC));
        resets.set_period(ResetPeriod::Now, compat);
        assert!(!resets.take_due(300, &TimeZone::UTC));
        resets.arm();
        assert!(resets.take_due(400, &TimeZone::UTC));
    }
}

#[test]
fn nothing_is_due_without_period_or_calendar() {
    let mut resets = ResetSchedule::new(ResetPeriod::None, Compat::Documented, 0);
    assert!(!resets.take_due(i64::MAX, &TimeZone::UTC));
    for compat in [Compat::Documented, SLURM] {
        let mut resets = ResetSchedule::new(ResetPeriod::Yearly, compat, i64::MAX);
        assert!(!resets.take_due(i64::MAX, &TimeZone::UTC));
        let mut resets = ResetSchedule::new(ResetPeriod::Daily, compat, MAR_30);
        assert!(!resets.take_due(MAR_29, &TimeZone::UTC));
    }
}

/// Slurm's loop, literally: add a step as long as one more stays before now.
fn stepwise(first: i64, step: i64, now: i64) -> i64 {
    let mut time = first;
    while time + step < now {
        time += step;
    }
    time
}

proptest! {
    #[test]
    fn slurm_skips_whole_days(behind in 0i64..40_000_000) {
        let now = MAR_25_10H + behind;
        let next = next_reset(ResetPeriod::Daily, SLURM, MAR_25_10H, now, &europe());
        prop_assert_eq!(next, Some(stepwise(MAR_29 - 3 * 86_400, 86_400, now)));
    }

    #[test]
    fn documented_resets_fall_on_local_midnight(hours in 0i64..50_000) {
        let now = JAN_31_10H + 3_600 * hours;
        let zone = europe();
        for period in [ResetPeriod::Daily, ResetPeriod::Weekly, ResetPeriod::Monthly] {
            let next = next_reset(period, Compat::Documented, now, now, &zone).unwrap();
            prop_assert!(next > now);
            let local = Timestamp::from_second(next).unwrap().to_zoned(zone.clone());
            prop_assert_eq!(local.time(), jiff::civil::Time::midnight());
        }
    }
}
