//! Charts as SVG text, reports as one HTML file that needs nothing else: no script, no network, no font to load.
//!
//! A caller builds values ([`Lines`], [`Bars`], [`Table`], ... in [`Section`]s of a [`Report`]) and asks for text. Nothing
//! here reads a file, asks for the time or draws a random number: equal values give equal bytes. Nothing here can fail:
//! what cannot be drawn is left out, and said. Everything a caller hands over is escaped.
//!
//! ```
//! use sapwood_report::{Axis, Figure, Lines, Report, Section, Series, Table};
//! let loss = Lines::new("Validation loss", Axis::new("epoch"), Axis::new("loss").log())
//!     .series(Series::counted("ranked", 1, [1.9, 1.2, 0.8]));
//! let report = Report::new("Cora").section(
//!     Section::new("Results")
//!         .paragraph("Six seeds, paired.")
//!         .figure(Figure::new(loss).caption("Loss on the validation set.")),
//! );
//! let html = report.html();
//! assert!(html.starts_with("<!DOCTYPE html>") && html.contains("<figcaption"));
//! # let _ = Table::new("");
//! ```
//!
//! Charts know nothing of pages, and no kind of chart knows another. Start with `chart/mod.rs` and `html/mod.rs`.

mod axis;
mod canvas;
mod chart;
mod html;
mod legend;
pub mod number;
mod palette;
mod plot;
mod scale;
mod svg;
mod text;
mod thin;
mod ticks;

pub use axis::{Axis, Unit};
pub use chart::{
    BarSeries, Bars, Chart, Forest, Gantt, HeatMap, Histogram, Interval, Lines, Link, Node, NodeLink, Scatter, Series,
    Steps, Task,
};
pub use html::{BEGINNING, Block, Cell, Column, Figure, KeyFigure, Prose, Report, Section, Table};
