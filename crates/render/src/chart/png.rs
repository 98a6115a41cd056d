//! A picture in pixels.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

/// Why there are no pixels.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PngError {
    /// The picture is no SVG that can be drawn.
    #[error("the picture cannot be drawn: {0}")]
    Drawing(String),
    /// A drawing that takes too much memory.
    #[error(
        "too much is drawn for a PNG picture, {bytes} bytes of SVG, and {MAX_SVG} are allowed: choose SVG"
    )]
    Length {
        /// Of the SVG picture.
        bytes: usize,
    },
    /// More than 33554432 pixels, or none at all.
    #[error(
        "{width} x {height} pixels are more than {MAX_PIXELS}, or none: choose another --scale, or SVG"
    )]
    Size {
        /// Across.
        width: u32,
        /// Down.
        height: u32,
    },
}

/// The most pixels of a picture: each takes 8 bytes of memory.
const MAX_PIXELS: u64 = 1 << 25;
/// The most bytes of SVG, which take 90 times as much memory as they are drawn.
const MAX_SVG: usize = 2 << 20;

/// Draws an SVG picture, `scale` pixels to its unit, as PNG. Texts are in the typeface that the
/// program brings along, so that they look the same everywhere.
///
/// # Errors
/// [`PngError`].
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    if svg.len() > MAX_SVG {
        return Err(PngError::Length { bytes: svg.len() });
    }
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(notosans::REGULAR_TTF.to_vec());
    fonts.load_font_data(notosans::BOLD_TTF.to_vec());
    fonts.set_sans_serif_family("Noto Sans");
    let options = Options {
        font_family: "Noto Sans".to_owned(),
        fontdb: Arc::new(fonts),
        ..Options::default()
    };
    let drawing = |error: &dyn std::fmt::Display| PngError::Drawing(error.to_string());
    let tree = Tree::from_str(svg, &options).map_err(|error| drawing(&error))?;
    let size = tree.size();
    let pixels = |length: f32| (length * scale).ceil().clamp(0.0, 1e6) as u32;
    let (width, height) = (pixels(size.width()), pixels(size.height()));
    let fits = u64::from(width) * u64::from(height) <= MAX_PIXELS;
    let pixmap = fits.then(|| Pixmap::new(width, height)).flatten();
    let mut pixmap = pixmap.ok_or(PngError::Size { width, height })?;
    resvg::render(
        &tree,
        Transform::from_scale(scale, scale),
        &mut pixmap.as_mut(),
    );
    pixmap.encode_png().map_err(|error| drawing(&error))
}
