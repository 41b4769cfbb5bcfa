//! Charts as SVG, by hand: lines with a label at their end, and pairs of bars. No script and nothing
//! from elsewhere; colours are classes, so that one picture is readable in light and dark. Called by
//! `report`, and by `main` for the chart of a README.
//!
//! A kind of contender has the same colour and the same mark in every chart.

use std::fmt::Write;

use crate::case::Kind;
use crate::results::{AtThreads, Operation, Place, Results};
use crate::words::{nanos, round_nanos, wrapped};

/// The size of a chart, in its own units, and the space around what is plotted.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 48.0;

/// How far labels at the ends of lines are apart, at least.
const LABELS: f64 = 16.0;

/// The styles of charts, for a `<style>`: `:root` has the colours, in light and in dark.
pub(crate) const STYLE: &str = include_str!("chart.css");

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
    fn class(self) -> &'static str {
        match self {
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
        }
    }

    /// A mark around the origin, told from others by its shape.
    fn mark(self) -> &'static str {
        match self {
            Whose::Of(Kind::Batched) => "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z",
            Whose::Of(Kind::Mutex) => "M-4,-4h8v8h-8z",
            Whose::Of(Kind::Queue) => "M0,-5L5,0L0,5L-5,0z",
            Whose::Of(Kind::Heap) => "M0,-5L5,4H-5z",
            Whose::Of(Kind::Unsync) => "M0,5L5,-4H-5z",
            Whose::Of(Kind::Box) => "M-5,-2h3v-3h4v3h3v4h-3v3h-4v-3h-3z",
            Whose::Of(Kind::Vec) => "M-5,0L0,-3L5,0L0,3z",
            Whose::Of(Kind::Words) => "M-5,-2h10v4h-10z",
            Whose::At(_, Operation::Acquire) => Whose::Of(Kind::Mutex).mark(),
            Whose::At(_, Operation::Release) => Whose::Of(Kind::Queue).mark(),
            Whose::At(_, Operation::Trim) => Whose::Of(Kind::Heap).mark(),
            Whose::At(_, Operation::Refusal) => Whose::Of(Kind::Box).mark(),
            Whose::Clock => "M-2,0a2,2 0 1,0 4,0a2,2 0 1,0 -4,0z",
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
    /// A place behind which the ground is shaded, and what that means.
    pub(crate) beyond: Option<(f64, String)>,
}

/// How heights are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// From 0.
    Even,
    /// Each power of ten as high as the next.
    Powers,
}

/// Where a height lies between bottom (0) and top (1), and the heights to write beside the axis.
struct Measure {
    scale: Scale,
    low: f64,
    high: f64,
}

impl Measure {
    fn of(scale: Scale, heights: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for height in heights {
            low = low.min(height);
            high = high.max(height);
        }
        if high <= 0.0 {
            (low, high) = (1.0, 10.0);
        }
        match scale {
            Scale::Even => {
                let step = step(high);
                let high = (high / step).ceil() * step;
                Measure {
                    scale,
                    low: 0.0,
                    high,
                }
            }
            Scale::Powers => {
                let low = 10_f64.powf(low.max(1e-3).log10().floor());
                let high = 10_f64.powf(high.log10().ceil()).max(low * 10.0);
                Measure { scale, low, high }
            }
        }
    }

    fn share(&self, height: f64) -> f64 {
        match self.scale {
            Scale::Even => height / self.high,
            Scale::Powers => {
                let of = |height: f64| height.max(self.low).log10() - self.low.log10();
                of(height) / of(self.high)
            }
        }
    }

    fn ticks(&self) -> Vec<f64> {
        match self.scale {
            Scale::Even => {
                let step = step(self.high);
                let steps = (self.high / step).round() as usize;
                (0..=steps).map(|count| count as f64 * step).collect()
            }
            Scale::Powers => {
                let (low, high) = (
                    self.low.log10().round() as i32,
                    self.high.log10().round() as i32,
                );
                let few = high - low <= 2;
                let powers = (low..=high).map(|power| 10_f64.powi(power));
                let between = |power: f64| {
                    let parts: &[f64] = if few { &[1.0, 2.0, 5.0] } else { &[1.0] };
                    parts
                        .iter()
                        .map(move |part| part * power)
                        .collect::<Vec<_>>()
                };
                powers
                    .flat_map(between)
                    .filter(|&tick| tick <= self.high * 1.001)
                    .collect()
            }
        }
    }
}

/// A round step of which there are 3 to 8 up to `high`.
fn step(high: f64) -> f64 {
    let power = 10_f64.powf((high / 4.0).log10().floor());
    let parts = [1.0, 2.0, 5.0, 10.0];
    let part = parts.into_iter().find(|part| high / (part * power) <= 6.0);
    part.unwrap_or(10.0) * power
}

impl Lines {
    /// The chart as an `<svg>` element.
    pub(crate) fn svg(&self) -> String {
        let mut svg = open(&self.title, HEIGHT);
        self.draw(&mut svg)
            .expect("a String takes whatever is written");
        svg + "</svg>\n"
    }

    fn across(&self, place: f64) -> f64 {
        let width = WIDTH - LEFT - RIGHT;
        match self.places.len() {
            0 | 1 => LEFT + width / 2.0,
            places => LEFT + 16.0 + place / (places - 1) as f64 * (width - 32.0),
        }
    }

    fn draw(&self, svg: &mut String) -> std::fmt::Result {
        let heights = self
            .lines
            .iter()
            .flat_map(|line| line.heights.iter().flatten().copied());
        let measure = Measure::of(self.scale, heights);
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let up = |height: f64| bottom - measure.share(height) * (bottom - TOP);
        if let Some((place, meaning)) = &self.beyond {
            let from = self.across(*place);
            writeln!(
                svg,
                r#"<rect class="beyond" x="{from:.1}" y="{TOP}" width="{:.1}" height="{:.1}"/><text class="quiet" text-anchor="end" x="{:.1}" y="{:.1}">{}</text>"#,
                right - from,
                bottom - TOP,
                right - 6.0,
                TOP - 8.0,
                escaped(meaning),
            )?;
        }
        for tick in measure.ticks() {
            let y = up(tick);
            writeln!(
                svg,
                r#"<line class="grid" x1="{LEFT}" x2="{right}" y1="{y:.1}" y2="{y:.1}"/><text class="tick" text-anchor="end" x="{:.1}" y="{:.1}">{}</text>"#,
                LEFT - 8.0,
                y + 4.0,
                escaped(&(self.unit)(tick)),
            )?;
        }
        for (place, name) in self.places.iter().enumerate() {
            writeln!(
                svg,
                r#"<text class="tick" text-anchor="middle" x="{:.1}" y="{:.1}">{}</text>"#,
                self.across(place as f64),
                bottom + 18.0,
                escaped(name),
            )?;
        }
        writeln!(
            svg,
            r#"<text class="axis" text-anchor="middle" x="{:.1}" y="{:.1}">{}</text><text class="axis" text-anchor="middle" transform="translate(12 {:.1}) rotate(-90)">{}</text>"#,
            (LEFT + right) / 2.0,
            HEIGHT - 8.0,
            escaped(self.across),
            (TOP + bottom) / 2.0,
            escaped(self.up),
        )?;
        for line in &self.lines {
            self.draw_line(svg, line, &up)?;
        }
        self.draw_names(svg, &up)
    }

    fn draw_line(
        &self,
        svg: &mut String,
        line: &Line,
        up: &dyn Fn(f64) -> f64,
    ) -> std::fmt::Result {
        let points = line.heights.iter().enumerate();
        let points: Vec<_> = points
            .filter_map(|(place, height)| Some((place, (*height)?)))
            .collect();
        let mut path = String::new();
        for &(place, height) in &points {
            let first = if path.is_empty() { 'M' } else { 'L' };
            write!(
                path,
                "{first}{:.1},{:.1}",
                self.across(place as f64),
                up(height)
            )?;
        }
        let class = line.whose.class();
        let dashed = if line.dashed { " dashed" } else { "" };
        writeln!(svg, r#"<path class="line {class}{dashed}" d="{path}"/>"#)?;
        if line.dashed {
            return Ok(());
        }
        for (place, height) in points {
            writeln!(
                svg,
                r#"<path class="mark {class}" transform="translate({:.1} {:.1})" d="{}"><title>{}, {}: {}</title></path>"#,
                self.across(place as f64),
                up(height),
                line.whose.mark(),
                escaped(&line.name),
                escaped(&self.places[place]),
                escaped(&(self.unit)(height)),
            )?;
        }
        Ok(())
    }

    /// The names at the ends of the lines, far enough apart to be read.
    fn draw_names(&self, svg: &mut String, up: &dyn Fn(f64) -> f64) -> std::fmt::Result {
        let mut names: Vec<_> = self
            .lines
            .iter()
            .filter_map(|line| {
                Some((
                    up(line.heights.iter().rev().find_map(|height| *height)?),
                    line,
                ))
            })
            .collect();
        names.sort_by(|a, b| a.0.total_cmp(&b.0));
        let wanted: Vec<_> = names.iter().map(|name| name.0).collect();
        let places = apart(&wanted, TOP + 4.0, HEIGHT - BOTTOM);
        for ((_, line), y) in names.iter().zip(places) {
            writeln!(
                svg,
                r#"<path class="mark {class}" transform="translate({:.1} {y:.1})" d="{}"/><text class="name {class}" x="{:.1}" y="{:.1}">{}</text>"#,
                WIDTH - RIGHT + 14.0,
                line.whose.mark(),
                WIDTH - RIGHT + 24.0,
                y + 4.0,
                escaped(&line.name),
                class = line.whose.class(),
            )?;
        }
        Ok(())
    }
}

/// Sorted heights, moved apart so far that labels do not touch, and kept between the two ends.
fn apart(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut places = Vec::with_capacity(wanted.len());
    let mut least = top;
    for &wanted in wanted {
        let place = wanted.max(least);
        places.push(place);
        least = place + LABELS;
    }
    let mut most = bottom;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
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
        const BAR: f64 = 14.0;
        const PAIR: f64 = 2.0 * BAR + 14.0;
        let height = self.pairs.len() as f64 * PAIR + 8.0;
        let mut svg = open(&self.title, height);
        let left = 110.0;
        let lengths = self.pairs.iter().flat_map(|pair| pair.lengths);
        let longest = lengths.fold(f64::MIN_POSITIVE, f64::max);
        for (row, pair) in self.pairs.iter().enumerate() {
            let top = row as f64 * PAIR + 8.0;
            let class = pair.whose.class();
            write!(
                svg,
                r#"<text class="name {class}" text-anchor="end" x="{:.1}" y="{:.1}">{}</text>"#,
                left - 10.0,
                top + BAR + 4.0,
                escaped(&pair.name),
            )
            .expect("a String takes whatever is written");
            for (bar, length) in pair.lengths.into_iter().enumerate() {
                let wide = length / longest * (WIDTH - left - 150.0);
                let y = top + bar as f64 * (BAR + 1.0);
                writeln!(
                    svg,
                    r#"<rect class="bar{bar} {class}" x="{left}" y="{y:.1}" width="{wide:.1}" height="{BAR}" rx="2"/><text class="tick" x="{:.1}" y="{:.1}">{} {}</text>"#,
                    left + wide + 6.0,
                    y + BAR - 3.0,
                    escaped(&nanos(length)),
                    escaped(self.meaning[bar]),
                )
                .expect("a String takes whatever is written");
            }
        }
        svg + "</svg>\n"
    }
}

fn open(title: &str, height: f64) -> String {
    let title = escaped(title);
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}">
<title>{title}</title>
"#
    )
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
    let shared = (alone > 0 && alone < counts.len()).then(|| {
        (
            alone as f64 - 0.5,
            format!("more threads than {cores} cores"),
        )
    });
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
        "An object acquired, used and released: {}; medians. {}",
        results.case.whatever_the_threads(),
        results.circumstances
    );
    let svg = chart.svg();
    let (opening, drawing) = svg
        .split_once("</title>\n")
        .expect("every chart has a title");
    let height = HEIGHT + 44.0;
    let opening = opening.replace(
        &format!(r#"viewBox="0 0 {WIDTH} {HEIGHT}""#),
        &format!(r#"viewBox="0 0 {WIDTH} {height}""#),
    );
    let drawing = drawing.trim_end().trim_end_matches("</svg>");
    let mut text = String::new();
    for (line, part) in wrapped(&caption, 118).iter().enumerate() {
        let y = HEIGHT + 14.0 + 15.0 * line as f64;
        text += &format!(
            "<text class=\"quiet\" x=\"12\" y=\"{y:.0}\">{}</text>\n",
            escaped(part)
        );
    }
    Ok(format!(
        "{opening}</title>\n<style>\n{STYLE}</style>\n<rect class=\"ground\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n{drawing}{text}</svg>\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_moved_apart_and_stay_inside() {
        let places = apart(&[10.0, 12.0, 13.0, 200.0], 10.0, 210.0);
        assert_eq!(places, [10.0, 26.0, 42.0, 200.0]);
        let low = apart(&[205.0, 208.0, 209.0], 10.0, 210.0);
        assert_eq!(low, [178.0, 194.0, 210.0]);
    }

    #[test]
    fn ticks_are_round_and_few() {
        let even = Measure::of(Scale::Even, [3.0, 47.0].into_iter());
        assert_eq!(even.ticks(), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]);
        let powers = Measure::of(Scale::Powers, [4.0, 70_000.0].into_iter());
        assert_eq!(
            powers.ticks(),
            [1.0, 10.0, 100.0, 1_000.0, 10_000.0, 100_000.0]
        );
        assert_eq!(powers.share(1.0), 0.0);
        assert_eq!(powers.share(100_000.0), 1.0);
        let nothing = Measure::of(Scale::Powers, std::iter::empty());
        assert!(nothing.ticks().len() > 1);
    }

    #[test]
    fn markup_in_names_is_escaped() {
        assert_eq!(
            escaped("Vec<Box<T>> & \"co\""),
            "Vec&lt;Box&lt;T&gt;&gt; &amp; &quot;co&quot;"
        );
    }
}
