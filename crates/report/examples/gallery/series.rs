//! Lines, bars and paired differences.

use crate::{figure, wobble};
use sapwood_report::{Axis, BarSeries, Bars, Forest, Interval, Lines, Section, Series, Unit};

pub(crate) fn lines() -> Section {
    let epochs = 200;
    let curve = |rate: f64, end: f64, s: usize| {
        (0..epochs).map(move |e| end * (1.0 - (-(e as f64) * rate).exp()) + 0.01 * wobble(e + 31 * s))
    };
    let mut accuracy = Lines::new(
        "Validation accuracy by epoch",
        Axis::new("epoch").unit(Unit::Count),
        Axis::new("validation accuracy").unit(Unit::Percent),
    );
    for (s, (name, rate, end)) in
        [("none", 0.05, 0.80), ("dropedge", 0.035, 0.815), ("ranked", 0.04, 0.83), ("gca-pagerank", 0.06, 0.79)]
            .into_iter()
            .enumerate()
    {
        let y: Vec<f64> = curve(rate, end, s).collect();
        let band: Vec<_> =
            y.iter().enumerate().map(|(e, v)| ((v - 0.02 - 0.2 / (e + 5) as f64).max(0.0), v + 0.02)).collect();
        accuracy = accuracy.series(Series::counted(name, 1, y).band(band));
    }
    let loss =
        Lines::new("Loss, with a run that failed", Axis::new("epoch").unit(Unit::Count), Axis::new("loss").log())
            .series(Series::counted("ranked", 1, (0..60).map(|e| 2.0 * (-(e as f64) / 9.0).exp() + 1e-3)))
            .series(Series::counted(
                "diverged at epoch 31",
                1,
                (0..60).map(|e| match e {
                    0..=25 => 2.0 * (-(e as f64) / 14.0).exp(),
                    26..=30 => f64::NAN,
                    31..=33 => f64::INFINITY,
                    34..=36 => -1.0,
                    _ => 0.4 + 0.1 * wobble(e),
                }),
            ))
            .mark_x(31.0, "the step was too long")
            .mark_y(0.01, "target");
    let forty = (0..40).fold(
        Lines::new("Forty seeds", Axis::new("step").unit(Unit::Count), Axis::new("gradient norm")),
        |chart, s| {
            let y = (0..120).map(move |e| (1.0 + s as f64 / 8.0) / (1.0 + e as f64 / 20.0) + 0.1 * wobble(e * 7 + s));
            chart.series(Series::counted(format!("seed {s}"), 0, y))
        },
    );
    let long = Lines::new(
        "Names that do not fit",
        Axis::new("x"),
        Axis::new("an axis whose title goes on for longer than anybody who reads it on a telephone would ever wish"),
    )
    .series(Series::new(
        "the sampler that drops the pairs whose endpoints are both central, directed, without guards",
        [(0.0, 1.0), (1.0, 2.0)],
    ))
    .series(Series::new("<script>alert('x')</script> & \"quotes\"", [(0.0, 2.0), (1.0, 1.0), (2.0, 1.98)]))
    .series(Series::new("мера и 尺度", [(0.0, 1.5), (1.0, 1.9), (2.0, 2.0)]));
    let constant = Lines::new("A constant, and numbers near a billion", Axis::new("step"), Axis::new("value"))
        .series(Series::new("constant", [(0.0, 1e9), (1.0, 1e9), (2.0, 1e9)]));
    let tiny = Lines::new("Tiny numbers", Axis::new("learning rate").log(), Axis::new("change"))
        .series(Series::new("", [(1e-8, 1.3e-9), (1e-5, 4.1e-9), (1e-2, 2.2e-9), (10.0, f64::NAN)]));
    Section::new("Lines with bands")
        .figure(figure(
            accuracy,
            "Mean of six seeds, band from the lowest to the highest. Names stand at the ends of the lines.",
        ))
        .figure(figure(
            loss,
            "A logarithmic axis. What is NaN leaves a gap; what is infinite or not above zero is counted below.",
        ))
        .figure(figure(forty, "Forty series: seven colours, six dashes, eight markers."))
        .figure(figure(long, "Long names are shortened and shown whole when pointed at."))
        .figure(figure(constant, "One value, three times."))
        .figure(figure(tiny, "Both ends of the scale."))
        .figure(figure(
            Lines::new("One point", Axis::new("x"), Axis::new("y")).series(Series::new("alone", [(3.0, 4.0)])),
            "One point is a dot.",
        ))
}

pub(crate) fn bars() -> Section {
    let kernels =
        Bars::new("Time of a reduction", Axis::new("time").unit(Unit::Seconds), ["softmax", "layer norm", "loss"])
            .series(BarSeries::new("ours, fused", [0.0012, 0.0019, 0.0004]).whiskers([
                (0.0011, 0.0014),
                (0.0018, 0.0021),
                (0.0004, 0.0005),
            ]))
            .series(BarSeries::new("peer", [0.0031, 0.0024, f64::NAN]).whiskers([
                (0.003, 0.0036),
                (0.0022, 0.0029),
                (f64::NAN, f64::NAN),
            ]));
    let signed = Bars::new(
        "Change of each class",
        Axis::new("change").unit(Unit::Percent),
        [
            "theory",
            "genetic algorithms",
            "neural networks",
            "probabilistic methods",
            "reinforcement learning",
            "rule learning",
            "case based",
        ],
    )
    .series(BarSeries::new("", [0.012, -0.03, 0.041, 0.0, 0.022, -0.004, f64::INFINITY]))
    .mark(0.02, "two points");
    let many = Bars::new(
        "Time of each of a hundred layers",
        Axis::new("time").unit(Unit::Seconds).log(),
        (0..100).map(|i| format!("layer {i}")),
    )
    .series(BarSeries::new("forward", (0..100).map(|i| 1e-4 * (1.0 + 40.0 * wobble(i)))));
    let counts = Bars::new("Tokens", Axis::new("tokens").unit(Unit::Count), ["small", "large", "2⁶⁴ − 1"])
        .series(BarSeries::new("", [3e18, 9e18, u64::MAX as f64]));
    Section::new("Bars")
        .figure(figure(
            kernels,
            "Whiskers from the lowest to the highest of nine repetitions. A missing value is a dash.",
        ))
        .figure(figure(signed, "Names too long for upright bars: the bars lie."))
        .figure(figure(counts, "Counts as large as they get."))
        .figure(figure(many, "A hundred categories on a logarithmic axis."))
}

pub(crate) fn differences() -> Section {
    let forest = Forest::new(
        "Difference in test accuracy against none",
        Axis::new("difference").unit(Unit::Named("points".into())),
    )
    .row(Interval::new("ranked", 1.18, 0.47, 1.86).dots([0.2, 0.9, 1.1, 1.4, 1.5, 2.0]).note("p = 0.03"))
    .row(Interval::new("dropedge", 0.54, -0.12, 1.15).dots([-0.4, 0.1, 0.6, 0.7, 1.0, 1.3]).note("p = 0.16"))
    .row(Interval::new("a sampler with a rather long name, directed", -0.4, f64::NAN, f64::NAN).note("needs 6 seeds"))
    .row(Interval::new("diverged", f64::NAN, f64::NAN, f64::NAN))
    .sides("worse", "better");
    let ratio = Forest::new("Speed against the peer", Axis::new("ratio of times, peer to ours").log())
        .row(Interval::new("SpMM, Cora", 2.4, 2.1, 2.7))
        .row(Interval::new("SpMM, R-MAT 20", 1.1, 0.9, 1.35))
        .row(Interval::new("SDDMM", 0.7, 0.62, 0.8));
    Section::new("Paired differences")
        .figure(figure(forest, "Mean of the paired differences with its bootstrap interval; small dots are seeds."))
        .figure(figure(ratio, "Ratios on a logarithmic axis around one."))
}
