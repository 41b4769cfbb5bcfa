//! Charts as SVG: lines with a label at their end, and pairs of bars. No script and nothing from elsewhere. A picture
//! is drawn in the colours for light, and [`style`] swaps each for its counterpart where the reader prefers dark.
//! Called by `report`, and by `main` for the chart of a README.
//!
//! A kind of contender has the same colour and the same mark in every chart.

use std::io;
use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::case::Kind;
use crate::results::{AtThreads, Operation, Place, Results};
use crate::words::{nanos, round_nanos};

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

/// Names of colours, in light and in dark.
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

/// What `plotters` divides the size of a font by.
const EM: f64 = 1.24;

/// Text beside, before or around a point.
fn text<'a>(size: u32, colour: RGBColor, at: HPos) -> TextStyle<'a> {
    let font = "system-ui, -apple-system, Segoe UI, DejaVu Sans, sans-serif";
    let mut style = TextStyle::from((font, f64::from(size) * EM).into_font());
    style.color = colour.to_backend_color();
    style.pos(Pos::new(at, VPos::Center))
}

/// The name of whose a line or a bar is.
fn name<'a>(colour: RGBColor, at: HPos) -> TextStyle<'a> {
    let mut style = text(12, colour, at);
    style.font = style.font.style(FontStyle::Bold);
    style
}

/// Whose a line or a bar is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// A contender's.
    Of(Kind),
    /// The clock's: what is there without any contender.
    Clock,
    /// That of an operation at a place where it has more to do.
    At(Place, Operation),
}

impl Whose {
    fn colour(self) -> RGBColor {
        colour(match self {
            Whose::Of(kind) => kind.name(),
            Whose::Clock => "clock",
            // Colours of contenders that are not in such a chart.
            Whose::At(place, _) => match place {
                Place::Exchange => "queue",
                Place::Growth => "heap",
                Place::Revocation => "mutex",
                Place::Exhausted => "words",
                Place::Steady | Place::Housekeeping | Place::Crowded => "batched",
            },
        })
    }

    /// The corners of a mark around the origin, told from others by its shape.
    fn mark(self) -> &'static [(i32, i32)] {
        match self {
            Whose::Of(Kind::Batched) => &[
                (-2, -4),
                (2, -4),
                (4, -2),
                (4, 2),
                (2, 4),
                (-2, 4),
                (-4, 2),
                (-4, -2),
            ],
            Whose::Of(Kind::Mutex) | Whose::At(_, Operation::Acquire) => {
                &[(-4, -4), (4, -4), (4, 4), (-4, 4)]
            }
            Whose::Of(Kind::Queue) | Whose::At(_, Operation::Release) => {
                &[(0, -5), (5, 0), (0, 5), (-5, 0)]
            }
            Whose::Of(Kind::Heap) | Whose::At(_, Operation::Trim) => &[(0, -5), (5, 4), (-5, 4)],
            Whose::Of(Kind::Unsync) => &[(0, 5), (5, -4), (-5, -4)],
            Whose::Of(Kind::Box) | Whose::At(_, Operation::Refusal) => &[
                (-5, -2),
                (-2, -2),
                (-2, -5),
                (2, -5),
                (2, -2),
                (5, -2),
                (5, 2),
                (2, 2),
                (2, 5),
                (-2, 5),
                (-2, 2),
                (-5, 2),
            ],
            Whose::Of(Kind::Vec) => &[(-5, 0), (0, -3), (5, 0), (0, 3)],
            Whose::Of(Kind::Words) => &[(-5, -2), (5, -2), (5, 2), (-5, 2)],
            Whose::Clock => &[(-2, -2), (2, -2), (2, 2), (-2, 2)],
        }
    }
}

/// A line of a chart.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// What stands at its end.
    pub(crate) name: String,
    /// Its colour and mark.
    pub(crate) whose: Whose,
    /// The heights, one for each place of the chart; `None` where there is none.
    pub(crate) heights: Vec<Option<f64>>,
    /// Whether it is a reference rather than a subject.
    pub(crate) dashed: bool,
}

/// Lines over a few places.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    /// What the chart shows, for those who cannot see it.
    pub(crate) title: String,
    /// The places, from left to right.
    pub(crate) places: Vec<String>,
    /// What the places are.
    pub(crate) across: &'static str,
    /// What the heights are.
    pub(crate) up: &'static str,
    /// How a height is written.
    pub(crate) unit: fn(f64) -> String,
    /// The scale of the heights.
    pub(crate) scale: Scale,
    /// The lines.
    pub(crate) lines: Vec<Line>,
    /// The place from which on the ground is shaded, and what that means.
    pub(crate) beyond: Option<(usize, String)>,
}

/// How heights are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// From 0.
    Even,
    /// Each power of ten as high as the next.
    Powers,
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
    let title = escaped(title);
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}">
<title>{title}</title>{head}{drawing}"#
    )
}

/// The whole powers of ten, or the round number, that such heights lie between.
fn bounds(scale: Scale, heights: impl Iterator<Item = f64>) -> Range<f64> {
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    for height in heights {
        low = low.min(height);
        high = high.max(height);
    }
    if high <= 0.0 {
        (low, high) = (1.0, 10.0);
    }
    let power = |exponent: f64| 10_f64.powf(exponent);
    match scale {
        Scale::Even => {
            let step = power(high.log10().floor()) / 2.0;
            0.0..(high / step).ceil() * step
        }
        Scale::Powers => {
            let low = power(low.max(1e-3).log10().floor());
            low..power(high.log10().ceil()).max(low * 10.0)
        }
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
        let bounds = bounds(self.scale, heights);
        match self.scale {
            Scale::Even => self.plot(area, bounds),
            Scale::Powers => self.plot(area, bounds.log_scale()),
        }
    }

    fn plot<Up>(&self, area: &Area<'_>, up: Up) -> Drawn
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
        if let Some((place, meaning)) = &self.beyond {
            let Range { start, end } = chart.y_range();
            let corners = [
                (SegmentValue::Exact(*place), start),
                (SegmentValue::Last, end),
            ];
            chart.draw_series([Rectangle::new(corners, colour("shade").filled())])?;
            let style = text(11, colour("quiet"), HPos::Right);
            area.draw_text(
                meaning,
                &style,
                ((WIDTH - RIGHT - 6) as i32, (TOP - 10) as i32),
            )?;
        }
        let at_place = |place: &SegmentValue<usize>| match place {
            SegmentValue::CenterOf(place) => self.places.get(*place).cloned().unwrap_or_default(),
            _ => String::new(),
        };
        let label = text(12, colour("quiet"), HPos::Center);
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(colour("grid"))
            .light_line_style(TRANSPARENT)
            .axis_style(colour("grid"))
            .x_labels(self.places.len())
            .y_labels(8)
            .x_label_formatter(&at_place)
            .y_label_formatter(&|height| (self.unit)(*height))
            .x_desc(self.across)
            .y_desc(self.up)
            .axis_desc_style(label.clone())
            .label_style(label)
            .draw()?;
        let mut names = Vec::new();
        for line in &self.lines {
            let points = line.heights.iter().enumerate();
            let points: Vec<_> = points
                .filter_map(|(place, height)| Some((SegmentValue::CenterOf(place), (*height)?)))
                .collect();
            let colour = line.whose.colour();
            if line.dashed {
                let style = colour.stroke_width(1);
                chart.draw_series(DashedLineSeries::new(points.clone(), 5, 4, style))?;
            } else {
                let wide = if line.whose == Whose::Of(Kind::Batched) {
                    3
                } else {
                    2
                };
                chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(wide)))?;
                chart.draw_series(points.iter().map(|at| {
                    EmptyElement::at(at.clone()) + Polygon::new(line.whose.mark(), colour)
                }))?;
            }
            names.extend(
                points
                    .last()
                    .map(|last| (chart.backend_coord(last).1, line)),
            );
        }
        names.sort_by_key(|(y, _)| *y);
        let wanted: Vec<_> = names.iter().map(|name| name.0).collect();
        let places = apart(&wanted, TOP as i32 + 4, (HEIGHT - BOTTOM) as i32);
        for ((_, line), y) in names.iter().zip(places) {
            let x = (WIDTH - RIGHT + 14) as i32;
            let colour = line.whose.colour();
            area.draw(&(EmptyElement::at((x, y)) + Polygon::new(line.whose.mark(), colour)))?;
            let style = name(colour, HPos::Left);
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

/// Two bars of one owner.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    /// What stands before them.
    pub(crate) name: String,
    /// Their colour.
    pub(crate) whose: Whose,
    /// How long they are.
    pub(crate) lengths: [f64; 2],
}

/// Pairs of bars, one below the other.
#[derive(Clone, Debug)]
pub(crate) struct Pairs {
    /// What the chart shows, for those who cannot see it.
    pub(crate) title: String,
    /// What the first and the second bar of each pair are.
    pub(crate) meaning: [&'static str; 2],
    /// The pairs.
    pub(crate) pairs: Vec<Pair>,
}

impl Pairs {
    /// The chart as an `<svg>` element.
    pub(crate) fn svg(&self) -> String {
        const BAR: i32 = 14;
        const PAIR: i32 = 2 * BAR + 14;
        const START: i32 = 110;
        let height = self.pairs.len() as i32 * PAIR + 8;
        let lengths = self.pairs.iter().flat_map(|pair| pair.lengths);
        let longest = lengths.fold(f64::MIN_POSITIVE, f64::max);
        picture(&self.title, height as u32, "", |area| {
            for (top, pair) in (8..).step_by(PAIR as usize).zip(&self.pairs) {
                let own = pair.whose.colour();
                let style = name(own, HPos::Right);
                area.draw_text(&pair.name, &style, (START - 10, top + BAR))?;
                for (bar, length) in pair.lengths.into_iter().enumerate() {
                    let end =
                        START + (length / longest * f64::from(WIDTH as i32 - START - 150)) as i32;
                    let y = top + bar as i32 * (BAR + 1);
                    let style = own.mix([0.35, 1.0][bar]).filled();
                    area.draw(&Rectangle::new([(START, y), (end, y + BAR)], style))?;
                    let meaning = format!("{} {}", nanos(length), self.meaning[bar]);
                    let style = text(12, colour("quiet"), HPos::Left);
                    area.draw_text(&meaning, &style, (end + 6, y + BAR / 2))?;
                }
            }
            Ok(())
        })
    }
}

/// Text as it may stand in XML and HTML.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            character => escaped.push(character),
        }
    }
    escaped
}

/// Nanoseconds an object against threads, for the kinds given.
pub(crate) fn cost_against_threads(results: &Results, kinds: &[Kind]) -> Lines {
    against_threads(
        results,
        kinds,
        |point| point.ns.median,
        Lines {
            title: format!(
                "Nanoseconds an object against threads: {}",
                results.case.whatever_the_threads()
            ),
            places: Vec::new(),
            across: "threads",
            up: "an object, acquired and released",
            unit: round_nanos,
            scale: Scale::Powers,
            lines: Vec::new(),
            beyond: None,
        },
    )
}

/// Objects a second against threads, for the kinds given.
pub(crate) fn throughput_against_threads(results: &Results, kinds: &[Kind]) -> Lines {
    against_threads(
        results,
        kinds,
        |point| point.millions_a_second,
        Lines {
            title: format!(
                "Throughput against threads: {}",
                results.case.whatever_the_threads()
            ),
            places: Vec::new(),
            across: "threads",
            up: "million objects a second, all threads",
            unit: |millions| format!("{millions:.0}"),
            scale: Scale::Even,
            lines: Vec::new(),
            beyond: None,
        },
    )
}

fn against_threads(
    results: &Results,
    kinds: &[Kind],
    height: fn(&AtThreads) -> f64,
    chart: Lines,
) -> Lines {
    let mut counts: Vec<_> = results.threads.iter().map(|point| point.threads).collect();
    counts.dedup();
    let mut lines = Vec::new();
    for &kind in kinds {
        let points = || {
            results
                .threads
                .iter()
                .filter(|point| point.entrant.kind == kind)
        };
        let Some(first) = points().next() else {
            continue;
        };
        let at = |&threads: &usize| points().find(|point| point.threads == threads).map(height);
        lines.push(Line {
            name: first.entrant.to_string(),
            whose: Whose::Of(kind),
            heights: counts.iter().map(at).collect(),
            dashed: false,
        });
    }
    let cores = results.circumstances.cores;
    let alone = counts.iter().filter(|&&threads| threads <= cores).count();
    let shared = (alone > 0 && alone < counts.len())
        .then(|| (alone, format!("more threads than {cores} cores")));
    Lines {
        places: counts.iter().map(usize::to_string).collect(),
        lines,
        beyond: shared,
        ..chart
    }
}

/// The chart of a README: a file of its own, with its colours and what it was measured with.
///
/// # Errors
///
/// If the results hold no threads to show cost against.
pub(crate) fn standalone(results: &Results) -> Result<String, String> {
    const KINDS: [Kind; 5] = [
        Kind::Batched,
        Kind::Mutex,
        Kind::Queue,
        Kind::Heap,
        Kind::Box,
    ];
    if results.threads.is_empty() {
        return Err("the results say nothing about numbers of threads; measure again".to_owned());
    }
    let chart = cost_against_threads(results, &KINDS);
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
        assert_eq!(bounds(Scale::Even, [3.0, 47.0].into_iter()), 0.0..50.0);
        assert_eq!(
            bounds(Scale::Powers, [4.0, 70_000.0].into_iter()),
            1.0..100_000.0
        );
        assert_eq!(bounds(Scale::Powers, std::iter::empty()), 1.0..10.0);
    }

    #[test]
    fn markup_in_names_is_escaped() {
        assert_eq!(
            escaped("Vec<Box<T>> & \"co\""),
            "Vec&lt;Box&lt;T&gt;&gt; &amp; &quot;co&quot;"
        );
    }
}
