//! One page with every kind of chart, fed with data as they come: gaps, infinities, one point, forty series, long names.
//!
//! `cargo run -p sapwood-report --example gallery > gallery.html`

#![expect(clippy::print_stdout, reason = "an example prints its page")]

use sapwood_report::{Block, Cell, Chart, Column, Figure, KeyFigure, Prose, Report, Section, Table, Unit};

mod fields;
mod schedules;
mod series;

const GIB: f64 = 1_073_741_824.0;

fn main() {
    let report = Report::new("Every chart, and what is hard about it")
        .subtitle("The same values give the same bytes; what cannot be drawn is left out and said")
        .date("1 January 2026")
        .made_by("sapwood-report, example gallery")
        .section(summary())
        .section(series::lines())
        .section(series::bars())
        .section(series::differences())
        .section(fields::distributions())
        .section(fields::maps())
        .section(schedules::schedules())
        .section(schedules::graphs())
        .section(schedules::nothing());
    println!("{}", report.html());
}

/// A number between 0 and 1 that looks like chance and is none.
fn wobble(i: usize) -> f64 {
    (i as f64 * 0.618_033_988_75 + (i as f64 * 1.7).sin() * 0.3).rem_euclid(1.0)
}

fn figure(chart: impl Into<Chart>, caption: &str) -> Figure {
    Figure::new(chart).caption(caption)
}

fn summary() -> Section {
    let table = Table::new("Accuracy on Cora, six paired seeds")
        .columns([
            Column::new("sampler"),
            Column::new("mean").unit("%"),
            Column::new("sd").unit("points"),
            Column::new("against none").unit("points"),
            Column::new("95 % interval"),
            Column::new("sign-flip p"),
            Column::new("edges dropped"),
            Column::new("time of an epoch").unit("ms"),
        ])
        .row([
            Cell::text("none"),
            Cell::fixed(81.43, 2),
            Cell::fixed(0.61, 2),
            Cell::missing(),
            Cell::missing(),
            Cell::missing(),
            Cell::count(0),
            Cell::fixed(12.9, 1),
        ])
        .row([
            Cell::text("dropedge"),
            Cell::fixed(81.97, 2),
            Cell::fixed(0.48, 2),
            Cell::fixed(0.54, 2),
            Cell::figure("−0.12 to 1.15"),
            Cell::fixed(0.1562, 3),
            Cell::count(1583),
            Cell::fixed(14.2, 1),
        ])
        .row([
            Cell::text("ranked"),
            Cell::fixed(82.61, 2).strong(),
            Cell::fixed(0.39, 2),
            Cell::fixed(1.18, 2),
            Cell::figure("0.47 to 1.86"),
            Cell::fixed(0.0313, 3),
            Cell::count(1583),
            Cell::fixed(14.8, 1),
        ])
        .row([
            Cell::text("a sampler & its <options>"),
            Cell::fixed(f64::NAN, 2),
            Cell::fixed(f64::INFINITY, 2),
            Cell::fixed(-12.5, 2),
            Cell::figure("n/a (needs 6 seeds)"),
            Cell::missing(),
            Cell::count(u64::MAX),
            Cell::fixed(12345.6, 1),
        ])
        .note("Bold: the highest mean. Invented numbers.");
    Section::new("Summary")
        .key_figures([
            KeyFigure::new("test accuracy, ranked", Unit::Percent.format(0.826)).note("sd 0.4 over six seeds"),
            KeyFigure::new("against none", "+1.2 points").note("95 % interval 0.5 to 1.9"),
            KeyFigure::new("time of an epoch", Unit::Seconds.format(0.0148)).note("14.2 ms with dropedge"),
            KeyFigure::new("peak memory", Unit::Bytes.format(3.25 * GIB)),
        ])
        .paragraph(
            Prose::new("RankedDrop drops edges by the rank of what they connect. The runs below were started with ")
                .code("sapwood train cora --sampler ranked")
                .plain("; each seed shares its split, its first weights and its dropout with the same seed of every other method. A difference is called ")
                .emphasis("better")
                .plain(" only if its interval leaves out zero ")
                .strong("and")
                .plain(" the sign-flip test agrees."),
        )
        .warning("Two of the six runs had not converged when the time limit was reached; their values are those of the last epoch.")
        .table(table)
        .details(
            "Settings",
            [
                Block::Paragraph("Everything that is needed to run this again.".into()),
                Block::Code("model     gcn, 2 layers, hidden 64\noptimiser adam, lr 0.01, l2 5e-4\nsampler   ranked, p 0.3, score \"pagerank\" <alpha 0.85>".into()),
            ],
        )
}
