//! A standing in a sentence.

use fairtree::engine::{Claim, Standing};

/// Use against what is due, and the place, for a reader who does not know the terms.
pub(super) fn standing(standing: &Standing) -> String {
    let claim = match standing.claim {
        Claim::Entitled(_) => "is entitled to",
        Claim::Due(_) => "is due",
    };
    let used = match standing.ratio {
        None => "is entitled to nothing, so everybody else comes first".to_owned(),
        Some(0.0) => "has used nothing".to_owned(),
        Some(ratio) if ratio < 0.1 => format!("used less than a tenth of what it {claim}"),
        Some(ratio) if ratio < 0.95 => format!("used {:.0} % of what it {claim}", ratio * 100.0),
        Some(ratio) if ratio <= 1.05 => format!("used about what it {claim}"),
        Some(ratio) => format!("used {ratio:.1} times what it {claim}"),
    };
    match standing.place {
        Some(place) if place.place == 1 => format!("{used}; of {} nobody comes first", place.of),
        Some(place) => format!("{used}; {} of {} come first", place.place - 1, place.of),
        None => used,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairtree::fairshare::Place;

    #[test]
    fn a_standing_is_a_sentence() {
        let of = |ratio, place| {
            standing(&Standing {
                share_of_level: 0.5,
                share_of_whole: 0.25,
                claim: Claim::Due(100.0),
                used: 200.0,
                ratio,
                level_fs: None,
                fs_factor: None,
                place: Some(Place { place, of: 380 }),
            })
        };
        assert_eq!(
            of(Some(2.0), 215),
            "used 2.0 times what it is due; 214 of 380 come first"
        );
        assert_eq!(
            of(Some(0.0), 1),
            "has used nothing; of 380 nobody comes first"
        );
        assert_eq!(
            of(Some(0.5), 2),
            "used 50 % of what it is due; 1 of 380 come first"
        );
    }
}
