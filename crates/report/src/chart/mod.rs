//! The kinds of charts, one file each, and what they share: a title, a description, a picture of any width.
//!
//! A chart is a value: building one cannot fail, drawing one cannot fail, and equal charts give equal bytes. What cannot
//! be drawn (NaN, infinities, values not above zero on a logarithmic axis) leaves a gap, and a note below the chart counts
//! what is not NaN. Without data there is a sentence in place of the chart.
//! To add a kind: a file here with a type that is [`Draw`], one line in the list at the end of this file.

mod bars;
mod forest;
mod gantt;
mod heat_map;
mod histogram;
mod lines;
mod marks;
mod node_link;
mod placing;
mod scatter;
mod series;
mod steps;

pub use bars::{BarSeries, Bars};
pub use forest::{Forest, Interval};
pub use gantt::{Gantt, Task};
pub use heat_map::HeatMap;
pub use histogram::Histogram;
pub use lines::Lines;
pub use node_link::{Link, Node, NodeLink};
pub use scatter::Scatter;
pub use series::Series;
pub use steps::Steps;

use crate::canvas::{Anchor, Canvas};
use crate::{palette, plot};

/// What every kind of chart can do.
pub(crate) trait Draw {
    /// The title, one sentence without a full stop.
    fn title(&self) -> &str;

    /// What the chart shows, in words, for those who do not see it.
    fn describe(&self) -> String;

    /// A sentence, when there is nothing to draw.
    fn nothing(&self) -> Option<String>;

    /// Draws and returns the height that was needed.
    fn draw(&self, canvas: &mut Canvas) -> f64;
}

/// Width of the picture for a desktop, in CSS pixels.
pub(crate) const WIDE: u32 = 720;
/// Width of the picture for a phone.
pub(crate) const NARROW: u32 = 360;

/// A chart of any kind, made from one of the kinds by `into`.
///
/// ```
/// use sapwood_report::{Axis, Chart, Lines, Series};
/// let lines = Lines::new("Loss by epoch", Axis::new("epoch"), Axis::new("loss").log())
///     .series(Series::new("dropedge", [(0.0, 2.0), (1.0, 0.5), (2.0, 0.2)]));
/// let svg = Chart::from(lines).svg();
/// assert!(svg.starts_with("<svg ") && svg.contains("<title id=\"chart-title\">Loss by epoch</title>"));
/// ```
#[derive(Debug, Clone)]
pub struct Chart {
    kind: Kind,
    description: Option<String>,
}

impl Chart {
    /// Replaces the description that is made from the data.
    #[must_use]
    pub fn described(mut self, description: impl Into<String>) -> Chart {
        self.description = Some(description.into());
        self
    }

    /// The title.
    pub fn title(&self) -> &str {
        self.kind.draw().title()
    }

    /// The chart as an SVG file that needs nothing else, 720 units wide.
    pub fn svg(&self) -> String {
        self.svg_of_width(WIDE)
    }

    /// [`Chart::svg`] laid out for another width, from 240 to 4000 units. Text keeps its size.
    pub fn svg_of_width(&self, width: u32) -> String {
        let style = format!("{}{}", palette::css(), include_str!("../chart.css"));
        self.picture("chart", width.clamp(240, 4000), &[("xmlns", "http://www.w3.org/2000/svg")], &style)
    }

    /// What to say when there is nothing to draw.
    pub(crate) fn nothing(&self) -> Option<String> {
        self.kind.draw().nothing()
    }

    /// The chart as part of a page, which brings the style.
    pub(crate) fn inline(&self, id: &str, width: u32) -> String {
        self.picture(id, width, &[], "")
    }

    fn picture(&self, id: &str, width: u32, attributes: &[(&str, &str)], style: &str) -> String {
        let draw = self.kind.draw();
        // A file of its own has a margin; a page has its own.
        let margin = if style.is_empty() { 0.0 } else { 12.0 };
        let mut canvas = Canvas::new(id, f64::from(width) - 2.0 * margin);
        let height = match draw.nothing() {
            None => draw.draw(&mut canvas),
            Some(sentence) => say(&mut canvas, &sentence),
        };
        let (width, height) = (f64::from(width), height.ceil().clamp(1.0, 1e5) + 2.0 * margin);
        let body = std::mem::take(&mut canvas.svg).finish();
        let (title_id, desc_id) = (format!("{id}-title"), format!("{id}-desc"));
        let mut tag = canvas.svg.tag("svg");
        for (name, value) in attributes {
            tag = tag.attr(name, value);
        }
        let tag = tag.class("chart").attr("role", "img").attr("aria-labelledby", &format!("{title_id} {desc_id}"));
        let view = format!("{0} {0} {width} {height}", -margin);
        tag.attr("viewBox", &view.replace("-0 ", "0 ")).num("width", width).num("height", height).open();
        canvas.svg.tag("title").attr("id", &title_id).text(&crate::text::one_line(draw.title()));
        let made = draw.describe();
        canvas.svg.tag("desc").attr("id", &desc_id).text(self.description.as_ref().unwrap_or(&made));
        if !style.is_empty() {
            canvas.svg.raw(&format!("<style>{style}</style>\n"));
            canvas.svg.tag("rect").class("paper").area(-margin, -margin, width, height).end();
        }
        canvas.svg.raw(&body);
        canvas.svg.close("svg");
        canvas.svg.finish()
    }
}

/// A sentence in place of a picture. Returns its height.
fn say(canvas: &mut Canvas, sentence: &str) -> f64 {
    let lines = plot::wrapped(sentence, canvas.width);
    for (i, line) in lines.iter().enumerate() {
        canvas.text("", (0.0, 20.0 + 15.0 * i as f64), Anchor::Start, line, canvas.width);
    }
    30.0 + 15.0 * lines.len() as f64
}

/// One variant and one conversion for each kind.
macro_rules! kinds {
    ($($kind:ident),+) => {
        #[derive(Debug, Clone)]
        enum Kind { $($kind($kind)),+ }

        impl Kind {
            fn draw(&self) -> &dyn Draw {
                match self { $(Kind::$kind(chart) => chart),+ }
            }
        }

        $(impl From<$kind> for Chart {
            fn from(chart: $kind) -> Chart {
                Chart { kind: Kind::$kind(chart), description: None }
            }
        })+
    };
}

kinds!(Lines, Bars, Forest, Histogram, HeatMap, Scatter, Gantt, Steps, NodeLink);
