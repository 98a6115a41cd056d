//! Colours, and which they are in the light and in the dark.

/// For which surroundings a picture is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the reader's system has it; light where that is not known.
    #[default]
    Auto,
    /// Dark on white.
    Light,
    /// Light on black.
    Dark,
}

/// Colours for lines, of the Okabe-Ito palette; yellow, which white swallows, is left out.
pub(super) const LINES: usize = 7;

struct Palette {
    paper: &'static str,
    ink: &'static str,
    soft: &'static str,
    grid: &'static str,
    account: &'static str,
    within: &'static str,
    beyond: &'static str,
    /// Of text about it, which needs more contrast than an area.
    beyond_text: &'static str,
    /// From much less used than due to much more.
    ratio: [&'static str; 7],
    /// Text on these.
    on_ratio: [&'static str; 7],
    none: &'static str,
    lines: [&'static str; LINES],
}

const LIGHT: Palette = Palette {
    paper: "#ffffff",
    ink: "#1a1d21",
    soft: "#5b6470",
    grid: "#e3e6ea",
    account: "#f3f5f7",
    within: "#0072b2",
    beyond: "#d55e00",
    beyond_text: "#b84f00",
    ratio: [
        "#08519c", "#3b83c0", "#9dc6e4", "#e6e4df", "#fdc78f", "#f08535", "#b34700",
    ],
    on_ratio: [
        "#ffffff", "#ffffff", "#10222f", "#1a1d21", "#2b1700", "#1c0f00", "#ffffff",
    ],
    none: "#eceff2",
    lines: [
        "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#1a1d21",
    ],
};

const DARK: Palette = Palette {
    paper: "#14171a",
    ink: "#e8eaed",
    soft: "#9aa4b0",
    grid: "#2b3036",
    account: "#1d2125",
    within: "#4fa9e0",
    beyond: "#f28e3c",
    beyond_text: "#f28e3c",
    ratio: [
        "#8cc4ec", "#4a97d0", "#2a5f8c", "#474a4e", "#85521f", "#cf7526", "#ffb066",
    ],
    on_ratio: [
        "#08151f", "#06121b", "#f2f7fb", "#f0f0f0", "#fff3e6", "#160a00", "#1c0d00",
    ],
    none: "#24292e",
    lines: [
        "#4fa9e0", "#f28e3c", "#2cc295", "#dd9bc0", "#8fd0f5", "#f0bd45", "#e8eaed",
    ],
};

fn rules(palette: &Palette) -> String {
    use std::fmt::Write as _;
    let mut css = String::new();
    let Palette {
        paper,
        ink,
        soft,
        grid,
        account,
        within,
        beyond,
        none,
        ..
    } = palette;
    // Writing to a string does not fail.
    let _ = write!(
        css,
        ".paper{{fill:{paper}}}.ink{{fill:{ink}}}.soft{{fill:{soft}}}\
         .grid{{stroke:{grid};fill:none}}.axis{{stroke:{soft};fill:none}}\
         .back{{fill:{account}}}\
         .within{{fill:{within}}}.beyond{{fill:{beyond}}}\
         .share{{stroke:{ink};fill:none}}.use{{stroke:{soft};fill:none}}\
         .cell{{stroke:{paper}}}.rn{{fill:{none}}}.tn{{fill:{soft}}}\
         .other{{stroke:{soft};fill:none}}"
    );
    for (at, (fill, text)) in palette.ratio.iter().zip(palette.on_ratio).enumerate() {
        let _ = write!(css, ".r{at}{{fill:{fill}}}.t{at}{{fill:{text}}}");
    }
    for (at, color) in palette.lines.iter().enumerate() {
        let _ = write!(
            css,
            ".l{at}{{stroke:{color};fill:none}}.d{at}{{fill:{color}}}"
        );
    }
    css
}

/// The rules of a stylesheet for all classes that pictures use.
pub(super) fn css(theme: Theme) -> String {
    let fonts = "text{font-family:'Noto Sans',system-ui,'Segoe UI',Helvetica,Arial,sans-serif}\
                 .share{stroke-width:1.6}.use{stroke-width:1.2}.grid,.axis{stroke-width:1}\
                 .cell{stroke-width:1}.line{stroke-width:1.8;stroke-linejoin:round}\
                 .dash1{stroke-dasharray:9 4}.dash2{stroke-dasharray:2 3}\
                 .other{stroke-width:.7;stroke-opacity:.35}.bold{font-weight:600}\
                 .within,.beyond{fill-opacity:.85}.end{text-anchor:end}.mid{text-anchor:middle}";
    match theme {
        Theme::Light => format!("{fonts}{}", rules(&LIGHT)),
        Theme::Dark => format!("{fonts}{}", rules(&DARK)),
        Theme::Auto => format!(
            "{fonts}{}@media (prefers-color-scheme:dark){{{}}}",
            rules(&LIGHT),
            rules(&DARK)
        ),
    }
}

/// The variables of a page, one set for each surroundings, and the rules of its pictures.
pub(crate) fn page_css() -> String {
    let variables = |p: &Palette| {
        format!(
            "--paper:{};--ink:{};--soft:{};--grid:{};--back:{};--within:{};--beyond:{};--beyond-text:{}",
            p.paper, p.ink, p.soft, p.grid, p.account, p.within, p.beyond, p.beyond_text
        )
    };
    let scoped = |scope: &str, palette: &Palette| {
        let rules = rules(palette);
        let each = rules
            .split_inclusive('}')
            .map(|rule| format!("{scope} {rule}"));
        format!(
            "{scope}{{{}}}{}",
            variables(palette),
            each.collect::<String>()
        )
    };
    format!(
        "{}{}@media (prefers-color-scheme:dark){{{}}}{}",
        css(Theme::Light),
        scoped(":root", &LIGHT),
        scoped(":root:not([data-theme=light])", &DARK),
        scoped(":root[data-theme=dark]", &DARK)
    )
}

/// Ways in which a line is drawn: whole, with dashes, with dots.
const DASHES: usize = 3;

/// Colour and dashes of a user's line, from 0: by the name alone, so that they are the same in every
/// picture of a site.
pub(super) fn line_of(user: &str) -> (usize, usize) {
    // FNV-1a: as even as need be, and the same on every machine.
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let hash = user.bytes().fold(0xcbf2_9ce4_8422_2325, mix);
    let way = usize::try_from((hash ^ (hash >> 32)) % (LINES * DASHES) as u64).unwrap_or(0);
    (way % LINES, way / LINES)
}

/// The step of use over share, from 0, at most a quarter, over 3, about equal, to 6, four times
/// and more; `None` where it is not known.
pub(super) fn step(ratio: Option<f64>) -> Option<usize> {
    let bounds = [0.25, 0.5, 0.8, 1.25, 2.0, 4.0];
    let ratio = ratio.filter(|ratio| !ratio.is_nan())?;
    Some(bounds.iter().filter(|&&bound| ratio >= bound).count())
}

/// The names of the steps.
pub(super) const STEPS: [&str; 7] = [
    "under ¼",
    "¼ to ½",
    "½ to 0.8",
    "about 1",
    "1.25 to 2",
    "2 to 4",
    "over 4",
];
