//! The font of plots, built into the program, because a machine may have none.
//!
//! An SVG only names the font; its viewer has it or takes another. The letters of a PNG are drawn
//! here.

use std::sync::LazyLock;

use ab_glyph::{Font as _, FontRef, Glyph, ScaleFont as _, point};
use anyhow::anyhow;

/// The fonts that an SVG names: this one, one of the same width, or any.
pub const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

/// A subset of the font: the letters, digits and signs of plots. It is in `font/DejaVuSans.ttf`;
/// `font/LICENSE` is its licence.
const BYTES: &[u8] = include_bytes!("font/DejaVuSans.ttf");

static FONT: LazyLock<Result<FontRef<'static>, ab_glyph::InvalidFont>> =
    LazyLock::new(|| FontRef::try_from_slice(BYTES));

/// Checks that the font can be read, because drawing without it would leave letters out.
pub fn check() -> anyhow::Result<()> {
    FONT.as_ref().map(|_| ()).map_err(|_| anyhow!("The letters of plots cannot be read. This is a bug."))
}

/// The width of a text, in the unit of `em`, the height of its letters.
pub fn width(text: &str, em: f32) -> f32 {
    let mut end = 0.0;
    layout(text, em, |_, advance| end += advance);
    end
}

/// Calls back with the share of each pixel that a text covers. Its first letter is at (0, 0), y
/// goes down.
pub fn cover(text: &str, em: f32, mut pixel: impl FnMut(i32, i32, f32)) {
    let Ok(font) = FONT.as_ref() else { return };
    let mut x = 0.0;
    layout(text, em, |mut glyph, advance| {
        glyph.position = point(x, 0.0);
        x += advance;
        let Some(outline) = font.outline_glyph(glyph) else { return };
        let corner = outline.px_bounds().min;
        // The bounds are whole pixels, and few.
        #[expect(clippy::cast_possible_truncation, reason = "they are small whole numbers")]
        let (left, top) = (corner.x as i32, corner.y as i32);
        outline.draw(|x, y, share| pixel(left + x.cast_signed(), top + y.cast_signed(), share));
    });
}

/// Calls back with each glyph and the distance to the next one.
fn layout(text: &str, em: f32, mut put: impl FnMut(Glyph, f32)) {
    let Ok(font) = FONT.as_ref() else { return };
    // Fonts are scaled by the height of a line, which is more than an em.
    let scale = em * font.height_unscaled() / font.units_per_em().unwrap_or(1.0);
    let scaled = font.as_scaled(scale);
    for letter in text.chars() {
        let glyph = scaled.scaled_glyph(letter);
        let advance = scaled.h_advance(glyph.id);
        put(glyph, advance);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_of_a_plot_has_a_glyph() {
        check().unwrap();
        let font = FONT.as_ref().unwrap();
        for letter in (' '..='~').chain(['µ', '×', '–']) {
            assert_ne!(font.glyph_id(letter).0, 0, "{letter:?}");
        }
    }

    #[test]
    fn texts_are_as_wide_as_their_letters() {
        assert!(width("", 10.0).abs() < 1e-6);
        let (one, three) = (width("m", 10.0), width("mmm", 10.0));
        assert!(one > 5.0 && one < 12.0, "{one}");
        assert!((three - 3.0 * one).abs() < 1e-3);
        let mut ink = 0.0;
        let (mut low, mut high) = (0, 0);
        cover("mg", 10.0, |_, y, share| {
            ink += share;
            (low, high) = (low.max(y), high.min(y));
        });
        // Letters stand on the line, and a g reaches below it.
        assert!(ink > 10.0 && high < -4 && low > 0, "{ink} {high} {low}");
    }
}
