//! Charts as SVG: lines with a label at their end. No script and nothing from elsewhere. A picture is
//! drawn in the colours for light, and [`style`] replaces each by its counterpart where the reader
//! prefers dark. Called by `report`, and by `main` for the chart of a README.

use std::io;
use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::case::Kind;
use crate::results::{Figure, Results};
use crate::words::round_nanos;

/// The size of a chart, and the space around what is plotted.
const WIDTH: u32 = 760;
const HEIGHT: u32 = 360;
const LEFT: u32 = 80;
const MARGIN: u32 = 8;
const RIGHT: u32 = 180;
const TOP: u32 = 26;
const BOTTOM: u32 = 48;

/// How far labels at the ends of lines are apart, at least.
const LABELS: i32 = 16;

/// Names of colours, in light and in dark. A kind of contender has the same colour and mark in every
/// chart of contenders.
const COLOURS: [(&str, u32, u32); 14] = [
    ("ground", 0xffffff, 0x14171c),
    ("ink", 0x1f2328, 0xe6e9ed),
    ("quiet", 0x59636e, 0x9aa5b1),
    ("grid", 0xdde2e8, 0x2c323b),
    ("shade", 0xf3f5f8, 0x1c2027),
    ("batched", 0x0b5fd0, 0x5aa9ff),
    ("mutex", 0xbc4c00, 0xff9a52),
    ("queue", 0x117a37, 0x4fd07a),
    ("heap", 0x7d3cc8, 0xc79bff),
    ("unsync", 0x0b7285, 0x45cfe3),
    ("box", 0x57606a, 0xb3bcc6),
    ("vec", 0x8a6100, 0xe3b341),
    ("words", 0xbf2c74, 0xff85b8),
    ("clock", 0x8c959f, 0x79828d),
];

/// The marks of lines: the corners of a polygon, and the degrees by which it is turned. In a star,
/// every other corner is nearer to the centre.
const MARKS: [(&str, u32, f64, bool); 9] = [
    ("batched", 8, 22.5, false),
    ("mutex", 4, 45.0, false),
    ("queue", 4, 0.0, false),
    ("heap", 3, 0.0, false),
    ("unsync", 3, 180.0, false),
    ("box", 8, 0.0, true),
    ("vec", 10, 0.0, true),
    ("words", 8, 45.0, true),
    ("clock", 4, 45.0, false),
];

/// The colours for a `<style>`: variables with their names, and what dark makes of a picture.
pub(crate) fn style() -> String {
    let (mut light, mut dark, mut swapped) = (String::new(), String::new(), String::new());
    for (name, day, night) in COLOURS {
        light += &format!(" --{name}: #{day:06x};");
        dark += &format!(" --{name}: #{night:06x};");
        for part in ["fill", "stroke"] {
            swapped += &format!("  [{part}=\"#{day:06X}\"] {{ {part}: #{night:06x}; }}\n");
        }
    }
    format!(
        ":root {{ color-scheme: light dark;{light} }}\n\
         @media (prefers-color-scheme: dark) {{\n  :root {{{dark} }}\n{swapped}}}\n"
    )
}

fn colour(name: &str) -> RGBColor {
    let named = COLOURS.iter().find(|(other, ..)| *other == name);
    let (_, day, _) = named.expect("a name of the table");
    let [_, red, green, blue] = day.to_be_bytes();
    RGBColor(red, green, blue)
}

/// The corners of a mark around the origin.
fn mark(name: &str) -> Vec<(i32, i32)> {
    let named = MARKS.iter().find(|(other, ..)| *other == name);
    let &(_, corners, turn, star) = named.expect("a name of the table");
    let corner = |corner: u32| {
        let radius = if star && corner % 2 == 1 { 2.2 } else { 5.0 };
        let angle = (turn + 360.0 * f64::from(corner) / f64::from(corners)).to_radians();
        (
            (radius * angle.sin()).round() as i32,
            (-radius * angle.cos()).round() as i32,
        )
    };
    (0..corners).map(corner).collect()
}

/// What `plotters` divides the size of a font by.
const EM: f64 = 1.24;

/// Text beside, before or around a point.
fn text<'a>(size: u32, colour: RGBColor, at: HPos) -> TextStyle<'a> {
    let font = "system-ui, -apple-system, Segoe UI, DejaVu Sans, sans-serif";
    let mut style = TextStyle::from((font, f64::from(size) * EM).into_font());
    style.color = colour.to_backend_color();
    style.pos(Pos::new(at, VPos::Center))
}

/// A line of a chart.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// The label at its end.
    pub(crate) name: String,
    /// The name of its colour and mark.
    pub(crate) look: &'static str,
    /// The heights, one for each place of the chart; `None` where there is none.
    pub(crate) heights: Vec<Option<f64>>,
    /// Whether it is a reference rather than a subject.
    pub(crate) dashed: bool,
}

/// Lines over a few places.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    /// What the chart shows, for readers who cannot see it.
    pub(crate) title: String,
    /// The places, from left to right.
    pub(crate) places: Vec<String>,
    /// The name of the axis of places.
    pub(crate) across: &'static str,
    /// The name of the axis of heights.
    pub(crate) up: &'static str,
    /// Whether heights count from 0, in millions; otherwise they are nanoseconds, each power of ten
    /// as high as the next.
    pub(crate) millions: bool,
    /// The lines.
    pub(crate) lines: Vec<Line>,
    /// The place from which on the ground is shaded, and what that means.
    pub(crate) beyond: Option<(usize, String)>,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<io::Error>>;

/// An `<svg>` element of such a height.
fn picture(title: &str, height: u32, head: &str, draw: impl FnOnce(&Area<'_>) -> Drawn) -> String {
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
    let drawn = draw(&area).and_then(|()| area.present());
    drop(area);
    drawn.expect("a String takes whatever is written");
    let (_, drawing) = svg.split_once('>').expect("there is an element");
    let title = askama::filters::escape(title, askama::filters::Html).expect("text can be escaped");
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}">
<title>{title}</title>{head}{drawing}"#
    )
}

/// The whole powers of ten, or 0 and the round number, that such heights lie between.
fn bounds(millions: bool, heights: impl Iterator<Item = f64>) -> Range<f64> {
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    for height in heights {
        low = low.min(height);
        high = high.max(height);
    }
    if high <= 0.0 {
        (low, high) = (1.0, 10.0);
    }
    let power = |exponent: f64| 10_f64.powf(exponent);
    if millions {
        let step = power(high.log10().floor()) / 2.0;
        0.0..(high / step).ceil() * step
    } else {
        let low = power(low.max(1e-3).log10().floor());
        low..power(high.log10().ceil()).max(low * 10.0)
    }
}

impl Lines {
    /// The chart as an `<svg>` element.
    pub(crate) fn svg(&self) -> String {
        picture(&self.title, HEIGHT, "", |area| self.draw(area))
    }

    fn draw(&self, area: &Area<'_>) -> Drawn {
        let heights = self
            .lines
            .iter()
            .flat_map(|line| line.heights.iter().flatten().copied());
        let bounds = bounds(self.millions, heights);
        match self.millions {
            true => self.plot(area, bounds, |millions| format!("{millions:.0}")),
            false => self.plot(area, bounds.log_scale(), |nanos| round_nanos(*nanos)),
        }
    }

    fn plot<Up>(&self, area: &Area<'_>, up: Up, unit: fn(&f64) -> String) -> Drawn
    where
        Up: AsRangedCoord<Value = f64>,
        Up::CoordDescType: ValueFormatter<f64>,
    {
        let across = (0..self.places.len().saturating_sub(1)).into_segmented();
        let mut chart = ChartBuilder::on(area)
            .margin_top(TOP)
            .margin_right(RIGHT)
            .margin_left(MARGIN)
            .x_label_area_size(BOTTOM)
            .y_label_area_size(LEFT - MARGIN)
            .build_cartesian_2d(across, up)?;
        let (quiet, grid) = (colour("quiet"), colour("grid"));
        if let Some((place, meaning)) = &self.beyond {
            let Range { start, end } = chart.y_range();
            let corners = [
                (SegmentValue::Exact(*place), start),
                (SegmentValue::Last, end),
            ];
            chart.draw_series([Rectangle::new(corners, colour("shade").filled())])?;
            let place = ((WIDTH - RIGHT - 6) as i32, (TOP - 10) as i32);
            area.draw_text(meaning, &text(11, quiet, HPos::Right), place)?;
        }
        let at_place = |place: &SegmentValue<usize>| match place {
            SegmentValue::CenterOf(place) => self.places.get(*place).cloned().unwrap_or_default(),
            _ => String::new(),
        };
        let label = text(12, quiet, HPos::Center);
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(grid)
            .light_line_style(TRANSPARENT)
            .axis_style(grid)
            .x_labels(self.places.len())
            .y_labels(8)
            .x_label_formatter(&at_place)
            .y_label_formatter(&unit)
            .x_desc(self.across)
            .y_desc(self.up)
            .axis_desc_style(label.clone())
            .label_style(label)
            .draw()?;
        let mut labels = Vec::new();
        for line in &self.lines {
            let points = line.heights.iter().enumerate();
            let point = |(place, height): (_, &Option<f64>)| {
                Some((SegmentValue::CenterOf(place), (*height)?))
            };
            let points: Vec<_> = points.filter_map(point).collect();
            let (colour, mark) = (colour(line.look), mark(line.look));
            if line.dashed {
                let style = colour.stroke_width(1);
                chart.draw_series(DashedLineSeries::new(points.clone(), 5, 4, style))?;
            } else {
                let style = colour.stroke_width(if line.look == "batched" { 3 } else { 2 });
                chart.draw_series(LineSeries::new(points.clone(), style))?;
                let marked =
                    |at: &_| EmptyElement::at(Clone::clone(at)) + Polygon::new(&*mark, colour);
                chart.draw_series(points.iter().map(marked))?;
            }
            labels.extend(
                points
                    .last()
                    .map(|last| (chart.backend_coord(last).1, line)),
            );
        }
        labels.sort_by_key(|(y, _)| *y);
        let wanted: Vec<_> = labels.iter().map(|label| label.0).collect();
        let places = apart(&wanted, TOP as i32 + 4, (HEIGHT - BOTTOM) as i32);
        for ((_, line), y) in labels.iter().zip(places) {
            let x = (WIDTH - RIGHT + 14) as i32;
            let colour = colour(line.look);
            area.draw(&(EmptyElement::at((x, y)) + Polygon::new(mark(line.look), colour)))?;
            let mut style = text(12, colour, HPos::Left);
            style.font = style.font.style(FontStyle::Bold);
            area.draw_text(&line.name, &style, (x + 10, y))?;
        }
        Ok(())
    }
}

/// Sorted heights, moved apart so far that labels do not touch, and kept between the two ends.
fn apart(wanted: &[i32], top: i32, bottom: i32) -> Vec<i32> {
    let mut places = Vec::with_capacity(wanted.len());
    let mut least = top;
    for &wanted in wanted {
        let place = wanted.max(least);
        places.push(place);
        least = place + LABELS;
    }
    let mut most = bottom;
    for place in places.iter_mut().rev() {
        *place = (*place).min(most);
        most = *place - LABELS;
    }
    places
}

/// Objects a second in millions, or nanoseconds an object, against threads, for the kinds given.
pub(crate) fn against_threads(results: &Results, kinds: &[Kind], millions: bool) -> Lines {
    let counts = results.thread_counts();
    let height = |figure: &Figure| match millions {
        true => figure.millions_a_second,
        false => figure.ns.median,
    };
    let line = |&kind: &Kind| {
        let points = results
            .threads
            .iter()
            .filter(|point| point.entrant.kind == kind);
        let at = |count: &usize| {
            points
                .clone()
                .find(|point| point.threads == *count)
                .map(height)
        };
        Some(Line {
            name: points.clone().next()?.entrant.to_string(),
            look: kind.name(),
            heights: counts.iter().map(at).collect(),
            dashed: false,
        })
    };
    let (title, up) = match millions {
        true => ("Throughput", "million objects a second, all threads"),
        false => ("Nanoseconds an object", "an object, acquired and released"),
    };
    let cores = results.circumstances.cores;
    let alone = counts.iter().filter(|&&threads| threads <= cores).count();
    Lines {
        title: format!(
            "{title} against threads: {}",
            results.case.whatever_the_threads()
        ),
        places: counts.iter().map(usize::to_string).collect(),
        across: "threads",
        up,
        millions,
        lines: kinds.iter().filter_map(line).collect(),
        beyond: (alone > 0 && alone < counts.len())
            .then(|| (alone, format!("more threads than {cores} cores"))),
    }
}

/// The chart of a README: a file of its own, with its colours and its circumstances.
///
/// # Errors
///
/// If the results hold no threads to show cost against.
pub(crate) fn standalone(results: &Results) -> Result<String, String> {
    let kinds = [
        Kind::Batched,
        Kind::Mutex,
        Kind::Queue,
        Kind::Heap,
        Kind::Box,
    ];
    if results.threads.is_empty() {
        return Err("the results say nothing about numbers of threads; measure again".to_owned());
    }
    let chart = against_threads(results, &kinds, false);
    let caption = format!(
        "An object acquired, used and released: {}; medians. {}; on {}",
        results.case.whatever_the_threads(),
        results.circumstances,
        results.allocator,
    );
    let style = format!("<style>\n{}</style>", style());
    Ok(picture(&chart.title, HEIGHT + 60, &style, |area| {
        area.fill(&colour("ground"))?;
        let (drawing, below) = area.split_vertically(HEIGHT);
        chart.draw(&drawing)?;
        for (y, line) in (8..).step_by(15).zip(textwrap::wrap(&caption, 118)) {
            below.draw_text(&line, &text(11, colour("quiet"), HPos::Left), (12, y))?;
        }
        Ok(())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_moved_apart_and_stay_inside() {
        assert_eq!(apart(&[10, 12, 13, 200], 10, 210), [10, 26, 42, 200]);
        assert_eq!(apart(&[205, 208, 209], 10, 210), [178, 194, 210]);
    }

    #[test]
    fn bounds_are_round() {
        assert_eq!(bounds(true, [3.0, 47.0].into_iter()), 0.0..50.0);
        assert_eq!(bounds(false, [4.0, 70_000.0].into_iter()), 1.0..100_000.0);
        assert_eq!(bounds(false, std::iter::empty()), 1.0..10.0);
    }
}
