//! Histograms, scatter plots and heat maps.

use crate::{figure, wobble};
use sapwood_report::{Axis, HeatMap, Histogram, Scatter, Section, Unit};

pub(crate) fn distributions() -> Section {
    let scores = Histogram::new("Scores of edges", Axis::new("score"))
        .values("", (0..4000).map(|i| wobble(i) + wobble(i * 3 + 1) + wobble(i * 5 + 2)))
        .mark(1.5, "median");
    let degrees = Histogram::new("Degrees", Axis::new("degree").log())
        .values("all", (0..20_000).map(|i| 1.0 / (wobble(i) + 1e-5)))
        .values("kept", (0..9_000).map(|i| 0.7 / (wobble(2 * i) + 1e-4)))
        .log_counts();
    let cost = Scatter::new(
        "Predicted and measured time",
        Axis::new("predicted").unit(Unit::Seconds).log(),
        Axis::new("measured").unit(Unit::Seconds).log(),
    )
    .points(
        "SpMM",
        (0..40).map(|i| {
            let t = 1e-5 * 1.35f64.powi(i);
            (t, t * (0.8 + 0.5 * wobble(i as usize)))
        }),
    )
    .points(
        "reduce",
        (0..30).map(|i| {
            let t = 3e-5 * 1.3f64.powi(i);
            (t, t * (0.7 + 0.4 * wobble(9 * i as usize)))
        }),
    )
    .points("exchange", [(0.002, 0.011), (0.0, 1.0)])
    .label(0.002, 0.011, "the slow link")
    .diagonal();
    let cloud =
        Scatter::new("Embedding of 20 000 packages", Axis::new("first direction"), Axis::new("second direction"))
            .points(
                "libraries",
                (0..12_000).map(|i| (wobble(i) + wobble(i + 7) - 1.0, wobble(i * 2 + 3) * wobble(i + 11) - 0.4)),
            )
            .points(
                "programs",
                (0..8_000).map(|i| (0.8 * wobble(i * 3) + 0.1, 0.7 * wobble(i * 7 + 5) * wobble(i * 11))),
            )
            .label(0.0, 0.1, "libc6")
            .label(0.02, 0.1, "hidden by libc6")
            .label(0.5, 0.4, "python3");
    Section::new("Histograms and scatter plots")
        .figure(figure(scores, "Four thousand values."))
        .figure(figure(degrees, "Two groups on common bins, both axes logarithmic."))
        .figure(figure(cost, "On the diagonal the cost model is right."))
        .figure(figure(cloud, "Many dots flow together into what can be told apart."))
}

pub(crate) fn maps() -> Section {
    let classes = ["theory", "genetic", "neural", "probabilistic", "reinforcement", "rules", "cases"];
    let mut confusion = HeatMap::new("Confusion matrix", "predicted class", "true class", classes)
        .unit(Unit::Count)
        .shade_by_row_share();
    for (i, class) in classes.into_iter().enumerate() {
        let cell = |j: usize| if i == j { 60.0 + 90.0 * wobble(i) } else { 14.0 * wobble(i * 7 + j) };
        confusion = confusion.row(class, (0..7).map(|j| if (i, j) == (5, 1) { f64::NAN } else { cell(j).round() }));
    }
    let mut sweep =
        HeatMap::new("Difference by rate and depth", "drop rate", "layers", (1..10).map(|p| format!("0.{p}")))
            .diverging(0.0);
    for l in [2, 4, 8, 16, 32, 64] {
        sweep = sweep.row(l.to_string(), (1..10).map(|p| 2.0 * wobble(l * 3 + p) - 1.1));
    }
    let mut large = HeatMap::new("Traffic between 256 ranks", "to rank", "from rank", (0..256).map(|i| i.to_string()))
        .unit(Unit::Bytes);
    for i in 0..256usize {
        large = large.row(
            i.to_string(),
            (0..256usize).map(move |j| 1e6 / (1.0 + i.abs_diff(j) as f64 / 16.0) * (0.8 + 0.2 * wobble(i * j))),
        );
    }
    Section::new("Heat maps")
        .figure(figure(
            confusion,
            "Shades by the share of the row, numbers as counted. A gap is a pair that was not asked.",
        ))
        .figure(figure(sweep, "Two colours around zero."))
        .figure(figure(large, "Large maps are drawn as means of blocks."))
}
