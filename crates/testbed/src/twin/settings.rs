//! Random lines of slurm.conf about priorities.

use super::draw::Draw;

const WEIGHTS: [&str; 6] = [
    "PriorityWeightAge",
    "PriorityWeightAssoc",
    "PriorityWeightFairshare",
    "PriorityWeightJobSize",
    "PriorityWeightPartition",
    "PriorityWeightQOS",
];

const FLAGS: [&str; 11] = [
    "ACCRUE_ALWAYS",
    "MAX_TRES",
    "SMALL_RELATIVE_TO_TIME",
    "CALCULATE_RUNNING",
    "INCR_ONLY",
    "NO_NORMAL_ALL",
    "NO_NORMAL_ASSOC",
    "NO_NORMAL_PART",
    "NO_NORMAL_QOS",
    "NO_NORMAL_TRES",
    "FAIR_TREE",
];

/// A weight: often 0, mostly ordinary, now and then the largest possible.
fn weight(draw: &mut Draw) -> u32 {
    match draw.weighted(&[30, 60, 8, 2]) {
        0 => 0,
        1 => draw.magnitude(1_000_000),
        2 => draw.magnitude(u32::MAX),
        _ => u32::MAX,
    }
}

/// `PriorityFlags`, which choose the ranking.
fn flags(draw: &mut Draw) -> String {
    let mut chosen: Vec<&str> = match draw.weighted(&[60, 25, 15]) {
        0 => vec![],
        1 => vec!["NO_FAIR_TREE"],
        _ => vec!["DEPTH_OBLIVIOUS"],
    };
    let fair_tree = chosen.is_empty();
    for flag in FLAGS {
        if draw.chance(12) && (flag != "FAIR_TREE" || fair_tree) {
            chosen.push(flag);
        }
    }
    if chosen.is_empty() {
        chosen.push("FAIR_TREE");
    }
    chosen.join(",")
}

/// Decay by half-life, or no decay and a reset period.
fn decay(draw: &mut Draw) -> [String; 2] {
    const PERIODS: [&str; 6] = ["NOW", "DAILY", "WEEKLY", "MONTHLY", "QUARTERLY", "YEARLY"];
    let half_life = draw.pick(&["7-0", "7-0", "1-0", "14-0", "0:30", "5", "0"]);
    let period = if half_life == "0" || draw.chance(15) {
        draw.pick(&PERIODS)
    } else {
        "NONE"
    };
    [
        format!("PriorityDecayHalfLife={half_life}"),
        format!("PriorityUsageResetPeriod={period}"),
    ]
}

fn tres_weights(draw: &mut Draw) -> String {
    let mut terms = vec![];
    for name in ["cpu", "mem", "node", "gres/gpu", "billing"] {
        if draw.chance(50) {
            terms.push(format!("{name}={}", draw.between(0, 5000)));
        }
    }
    if terms.is_empty() {
        terms.push("cpu=0".to_owned());
    }
    format!("PriorityWeightTRES={}", terms.join(","))
}

/// One setting that a reconfigure may also change.
pub fn change(draw: &mut Draw) -> String {
    match draw.below(7) {
        0 => format!("PriorityFlags={}", flags(draw)),
        1 => decay(draw).join(" "),
        2 => tres_weights(draw),
        3 => format!(
            "PriorityFavorSmall={}",
            if draw.chance(50) { "YES" } else { "NO" }
        ),
        4 => format!(
            "PriorityMaxAge={}",
            draw.pick(&["0", "1", "60", "7-0", "365-0"])
        ),
        5 => format!(
            "FairShareDampeningFactor={}",
            draw.one_of(&[1, 1, 2, 5, 100])
        ),
        _ => {
            let key = WEIGHTS[draw.below(WEIGHTS.len())];
            format!("{key}={}", weight(draw))
        }
    }
}

/// The settings of a start.
pub fn initial(draw: &mut Draw) -> Vec<String> {
    let mut lines: Vec<String> = WEIGHTS
        .iter()
        .map(|key| format!("{key}={}", weight(draw)))
        .collect();
    lines.push(format!("PriorityFlags={}", flags(draw)));
    lines.extend(decay(draw));
    if draw.chance(50) {
        lines.push(tres_weights(draw));
    }
    for _ in 0..draw.below(4) {
        lines.push(change(draw));
    }
    if draw.chance(75) {
        let enforced = ["associations", "limits", "limits", "limits,qos", "safe"];
        lines.push(format!("AccountingStorageEnforce={}", draw.pick(&enforced)));
    }
    for (percent, line) in [
        (3, "AccountingStorageType=accounting_storage/none"),
        (5, "DebugFlags=Priority"),
        (10, "PrivateData=jobs"),
        (10, "PriorityCalcPeriod=1"),
    ] {
        if draw.chance(percent) {
            lines.push(line.to_owned());
        }
    }
    lines
}
