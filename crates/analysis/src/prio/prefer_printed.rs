//! Classic fair-share factors, of which sshare prints six decimals and sprio seven.

use super::{Figure, MAX_PRIORITY, PrioRow};
use fairtree_model::input::sprio::{Factor, SprioRow};
use fairtree_model::input::sshare::Printed;

/// The possible error of a factor with six decimals, twice: usage was cut off after the point, too.
const GRAIN: f64 = 1e-6;

/// How far whole points may be from those that print as they do: a little less than half a point,
/// for at half a point itself the even one is printed.
const BELOW_HALF: f64 = 0.5 - 1e-6;

/// Puts the numbers that sprio printed in the place of computed ones that differ from them by no
/// more than the digits of the printed factor leave open. `weight`: that of fair share.
pub(super) fn prefer_printed(made: &mut PrioRow<'_>, printed: &SprioRow<'_>, weight: u32) {
    let at = Factor::Fairshare.index();
    let weight = f64::from(weight);
    let (Some(factor), Some(share)) = (made.norm[at].value(), printed.norm[at]) else {
        return;
    };
    if made.set_by_hand || share.low - GRAIN > factor || share.high + GRAIN < factor {
        return;
    }
    if !(share.low < factor && factor < share.high) {
        made.norm[at] = Figure::Computed(share.value);
    }
    let points = points(share, printed.weighted[at], weight);
    let before = made.points[at].value().unwrap_or(0.0);
    made.points[at] = Figure::Computed(points);
    let (Some(sum), Some(whole), Some(part)) = (
        made.priority.value(),
        printed.priority,
        printed.norm_priority,
    ) else {
        return;
    };
    let sum = sum - before + points;
    let open = (share.high - share.low) * weight + (part.high - part.low) * MAX_PRIORITY;
    if (part.value * MAX_PRIORITY - sum).abs() <= open {
        let known = (part.value * MAX_PRIORITY).clamp(whole, whole + 1.0 - f64::EPSILON * whole);
        made.priority = Figure::Computed(known);
        made.norm_priority = Figure::Computed(part.value);
    }
}

/// The points of a printed factor: of those that its digits leave open the nearest that print as
/// the printed ones do, if any.
fn points(share: Printed, printed: Option<Printed>, weight: f64) -> f64 {
    let points = share.value * weight;
    match printed {
        Some(printed)
            if printed.low <= share.high * weight && share.low * weight <= printed.high =>
        {
            points.clamp(printed.value - BELOW_HALF, printed.value + BELOW_HALF)
        }
        _ => points,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(factor: f64) -> PrioRow<'static> {
        let mut row = PrioRow {
            priority: Figure::Computed(100.0 + factor * 1e5),
            norm_priority: Figure::Computed((100.0 + factor * 1e5) / MAX_PRIORITY),
            ..PrioRow::default()
        };
        row.norm[Factor::Fairshare.index()] = Figure::Computed(factor);
        row.points[Factor::Fairshare.index()] = Figure::Computed(factor * 1e5);
        row
    }

    // The factor 0.01855067 under a weight of 100,000, as printf(3) shows it: 1855.067 points,
    // with 100 more 1955.067, over 4294967295 0.00000045520041.
    fn printed() -> SprioRow<'static> {
        let mut row = SprioRow {
            priority: Some(1955.0),
            norm_priority: Printed::parse("0.00000045520041"),
            ..SprioRow::default()
        };
        row.norm[Factor::Fairshare.index()] = Printed::parse("0.0185507");
        row.weighted[Factor::Fairshare.index()] = Printed::parse("1855");
        row
    }

    #[test]
    fn digits_that_sshare_does_not_print_come_from_sprio() {
        let mut row = made(0.018551);
        prefer_printed(&mut row, &printed(), 100_000);
        let at = Factor::Fairshare.index();
        assert_eq!(row.norm[at], Figure::Computed(0.0185507));
        assert_eq!(row.points[at].value().unwrap().round(), 1855.0);
        assert_eq!(row.priority.value().unwrap().trunc(), 1955.0);
        assert_eq!(row.norm_priority, Figure::Computed(0.00000045520041));
    }

    // The factor 0.29964498 under a weight of 100,000: 29964.498 points, which print as 29964,
    // while the 0.2996450 that prints for the factor makes 29964.5. With 2,610 more the sum is
    // 32574.498, over 4294967295 0.00000758434134.
    #[test]
    fn half_a_point_goes_to_the_side_that_was_printed() {
        let mut printed = SprioRow {
            priority: Some(32574.0),
            norm_priority: Printed::parse("0.00000758434134"),
            ..SprioRow::default()
        };
        let at = Factor::Fairshare.index();
        printed.norm[at] = Printed::parse("0.2996450");
        printed.weighted[at] = Printed::parse("29964");
        let mut row = made(0.299646);
        row.priority = Figure::Computed(2610.0 + 29964.6);
        prefer_printed(&mut row, &printed, 100_000);
        assert_eq!(format!("{:.0}", row.points[at].value().unwrap()), "29964");
        assert_eq!(row.norm_priority, Figure::Computed(0.00000758434134));
        assert_eq!(row.priority.value().unwrap().trunc(), 32574.0);
    }

    #[test]
    fn another_factor_stays() {
        let mut row = made(0.0186);
        let before = row.clone();
        prefer_printed(&mut row, &printed(), 100_000);
        assert_eq!((row.norm, row.priority), (before.norm, before.priority));
    }
}
