//! A back end of plotters that draws a PNG.
//!
//! Everything is drawn on pixels several times as fine as those of the picture, which are averages
//! of them, so all edges are smooth. The picture has two pixels per unit of measure, for screens of
//! high resolution.

use std::convert::Infallible;

use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind, rasterizer,
};

use super::letters;

/// Fine pixels to a unit of measure, across.
const FINE: u32 = 4;
/// Fine pixels to a pixel of the picture, across.
const AVERAGED: u32 = 2;

/// The ratio of a plotters font size to its em, in SVG and therefore here.
const LETTER: f64 = 1.24;

type CanvasResult = Result<(), DrawingErrorKind<Infallible>>;

/// The fine pixels.
pub struct Pixels {
    width: u32,
    height: u32,
    /// Red, green and blue of each, row by row.
    colours: Vec<u8>,
}

impl Pixels {
    /// White ones, for a picture of `width` by `height` units.
    pub fn new(width: u32, height: u32) -> Self {
        let (width, height) = (width * FINE, height * FINE);
        Self { width, height, colours: vec![u8::MAX; width as usize * height as usize * 3] }
    }

    /// The picture as a PNG.
    pub fn encode(&self) -> Result<Vec<u8>, png::EncodingError> {
        let (width, height) = (self.width / AVERAGED, self.height / AVERAGED);
        let row = self.width as usize * 3;
        let mut picture = Vec::with_capacity(width as usize * height as usize * 3);
        for rows in self.colours.chunks_exact(row * AVERAGED as usize) {
            for column in 0..width {
                for colour in 0..3 {
                    let fine = |k: u32| {
                        let (x, y) = (column * AVERAGED + k % AVERAGED, k / AVERAGED);
                        u32::from(rows[y as usize * row + x as usize * 3 + colour])
                    };
                    let all = AVERAGED * AVERAGED;
                    let sum: u32 = (0..all).map(fine).sum();
                    // A mean of bytes.
                    picture.push(u8::try_from((sum + all / 2) / all).unwrap_or(u8::MAX));
                }
            }
        }
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header()?.write_image_data(&picture)?;
        Ok(file)
    }
}

/// The canvas, in units. The fill functions of plotters see the fine pixels.
pub struct Canvas<'a>(Raster<'a>);

impl<'a> Canvas<'a> {
    /// Draws on these pixels.
    pub const fn on(pixels: &'a mut Pixels) -> Self {
        Self(Raster(pixels))
    }

    /// A straight line with round ends, as lines that meet need them.
    fn stroke(&mut self, from: BackendCoord, to: BackendCoord, style: &impl BackendStyle) -> CanvasResult {
        let (from, to) = (fine(from), fine(to));
        let width = style.stroke_width() * FINE;
        let (dx, dy) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
        let length = dx.hypot(dy);
        if length > 0.0 {
            let half = f64::from(width) / 2.0;
            let (aside_x, aside_y) = (whole(-dy / length * half), whole(dx / length * half));
            let shape = [(from, 1), (to, 1), (to, -1), (from, -1)]
                .map(|((x, y), side)| (x + side * aside_x, y + side * aside_y));
            self.0.fill_polygon(shape, &style.color())?;
        }
        if width > FINE && style.color().alpha >= 1.0 {
            for end in [from, to] {
                self.0.draw_circle(end, width / 2, &style.color(), true)?;
            }
        }
        Ok(())
    }
}

const fn fine((x, y): BackendCoord) -> BackendCoord {
    let times = FINE.cast_signed();
    (x * times, y * times)
}

fn whole(length: f64) -> i32 {
    // No picture is that large.
    #[expect(clippy::cast_possible_truncation, reason = "it is a place in a picture")]
    let whole = length.round() as i32;
    whole
}

impl DrawingBackend for Canvas<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (self.0.0.width / FINE, self.0.0.height / FINE)
    }

    fn ensure_prepared(&mut self) -> CanvasResult {
        Ok(())
    }

    fn present(&mut self) -> CanvasResult {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, colour: BackendColor) -> CanvasResult {
        self.draw_rect(point, point, &colour, true)
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> CanvasResult {
        self.stroke(from, to, style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (left, top): BackendCoord,
        (right, bottom): BackendCoord,
        style: &S,
        is_filled: bool,
    ) -> CanvasResult {
        if is_filled {
            let (left, top) = fine((left, top));
            let (right, bottom) = fine((right, bottom));
            let shape = [(left, top), (right, top), (right, bottom), (left, bottom)];
            return self.0.fill_polygon(shape, &style.color());
        }
        self.draw_path([(left, top), (right, top), (right, bottom), (left, bottom), (left, top)], style)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> CanvasResult {
        let mut last = None;
        for point in path {
            if let Some(last) = last.replace(point) {
                self.stroke(last, point, style)?;
            }
        }
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        centre: BackendCoord,
        radius: u32,
        style: &S,
        is_filled: bool,
    ) -> CanvasResult {
        self.0.draw_circle(fine(centre), radius * FINE, &style.color(), is_filled)
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> CanvasResult {
        self.0.fill_polygon(corners.into_iter().map(fine), &style.color())
    }

    /// Letters, placed as the SVG back end places them.
    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord) -> CanvasResult {
        #[expect(clippy::cast_possible_truncation, reason = "sizes are small")]
        let em = (style.size() / LETTER) as f32 * FINE as f32;
        let anchor = style.anchor();
        let left = match anchor.h_pos {
            HPos::Left => 0.0,
            HPos::Center => -letters::width(text, em) / 2.0,
            HPos::Right => -letters::width(text, em),
        };
        // An ex of this font is 0.55 em.
        let below = match anchor.v_pos {
            VPos::Top => 0.76 * em,
            VPos::Center => 0.27 * em,
            VPos::Bottom => -0.27 * em,
        };
        let (left, below) = (whole(left.into()), whole(below.into()));
        let (at_x, at_y) = fine(at);
        let (colour, turn) = (style.color(), style.transform());
        let mut drawn = Ok(());
        letters::cover(text, em, |x, y, share| {
            let (x, y) = turn.transform(x + left, y + below);
            if drawn.is_ok() {
                drawn = self.0.draw_pixel((at_x + x, at_y + y), colour.mix(share.into()));
            }
        });
        drawn
    }
}

/// The fine pixels as a back end for the fill functions of plotters.
struct Raster<'a>(&'a mut Pixels);

impl DrawingBackend for Raster<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (self.0.width, self.0.height)
    }

    fn ensure_prepared(&mut self) -> CanvasResult {
        Ok(())
    }

    fn present(&mut self) -> CanvasResult {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, colour: BackendColor) -> CanvasResult {
        let Pixels { width, height, colours } = &mut *self.0;
        let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) else { return Ok(()) };
        if x < *width && y < *height {
            let first = (y as usize * *width as usize + x as usize) * 3;
            let (red, green, blue) = colour.rgb;
            for (old, new) in colours[first..first + 3].iter_mut().zip([red, green, blue]) {
                let mixed = f64::from(*old) + (f64::from(new) - f64::from(*old)) * colour.alpha.min(1.0);
                // Between two bytes.
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is a byte")]
                let mixed = mixed.round() as u8;
                *old = mixed;
            }
        }
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> CanvasResult {
        let corners: Vec<BackendCoord> = corners.into_iter().collect();
        rasterizer::fill_polygon(self, &corners, style)
    }
}
