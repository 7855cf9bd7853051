//! What samplers do to a graph over draws: against a slow twin, and against the table of Cora.

use crate::ranked::{cora, prepare};
use crate::support::{build, graph, message, random_ends, runtime, small_ends};
use sapwood_graph::sampler::{self, Direction, Stratify};
use sapwood_graph::structure::{DegreeNoise, MeanSd, statistics, statistics_with, summary};
use sapwood_graph::{DrawBuffers, DrawKey, Graph, GraphOptions, Prepared, SamplerOptions};

/// Draw after draw by [`summary`] and [`DegreeNoise::add`].
fn twin(graph: &Graph, prepared: &dyn Prepared, key: DrawKey, draws: u32) {
    let runtime = runtime(2);
    let found = statistics(runtime.exec(), graph, prepared, key, (draws, 1)).unwrap();
    let graph = prepared.graph().map_or(graph, |own| own);
    let (mut noise, mut buffers) = (DegreeNoise::new(graph), DrawBuffers::default());
    assert_eq!(found.draws.len(), draws as usize);
    for (i, facts) in (0..).zip(&found.draws) {
        let key = DrawKey { epoch: key.epoch + i, ..key };
        let sampled = prepared.kept(runtime.exec(), key, &mut buffers).unwrap();
        let left = summary(graph, &sampled);
        assert_eq!((facts.draw, facts.epoch), (i, key.epoch));
        assert_eq!((facts.isolated, facts.components, facts.largest), (left.isolated, left.components, left.largest));
        noise.add(graph, &sampled).unwrap();
    }
    assert_eq!(found.degree_sd, if draws > 1 { noise.mean_sd() } else { None });
}

#[test]
fn statistics_are_those_of_the_twin() {
    let directed = GraphOptions { directed: true, weighted: false };
    let graphs = [
        graph(1, &[]),
        graph(12, &small_ends()),
        build(12, &small_ends(), directed),
        graph(300, &random_ends(300, 900)),
        build(300, &random_ends(300, 900), directed),
    ];
    for entry in sampler::ALL {
        for graph in &graphs {
            for draws in [1, 4] {
                let prepared = prepare(entry.name, graph, &SamplerOptions::with_p(0.4)).unwrap();
                twin(graph, prepared.as_ref(), DrawKey { seed: 3, epoch: 5, layer: 0, micro: 2 }, draws);
            }
        }
    }
}

#[test]
fn each_draw_is_handed_on_once() {
    let g = graph(12, &small_ends());
    let prepared = prepare("ranked", &g, &SamplerOptions::with_p(0.4)).unwrap();
    let (mut epochs, key) = (Vec::new(), DrawKey::of_epoch(0, 8));
    let found = statistics_with(runtime(1).exec(), &g, prepared.as_ref(), key, (3, 1), |facts, sampled| {
        assert_eq!(facts.dropped, Some(14 - sampled.kept(14)));
        epochs.push(facts.epoch);
        Ok(std::ops::ControlFlow::Continue(()))
    });
    assert_eq!(epochs, [8, 9, 10]);
    assert_eq!(found.unwrap().frequency_max_z, None);
    let of = |key, draws| message(statistics(runtime(1).exec(), &g, prepared.as_ref(), key, draws));
    assert!(of(key, (0, 1)).starts_with("--draws must be 1 or more"));
    assert!(of(DrawKey::of_epoch(0, u32::MAX), (2, 1)).starts_with("--epoch must be"));
}

#[test]
fn units_go_as_often_as_their_probabilities_say() {
    let g = graph(40, &random_ends(40, 90));
    let z = |name: &str, options: &SamplerOptions| {
        let prepared = prepare(name, &g, options).unwrap();
        statistics(runtime(1).exec(), &g, prepared.as_ref(), DrawKey::of_epoch(1, 1), (2000, 1))
            .unwrap()
            .frequency_max_z
    };
    for rates in ["0.3", "linear:0.1:0.7"] {
        let options = SamplerOptions { rates: rates.parse().unwrap(), epochs: 2000, ..SamplerOptions::default() };
        let z = z("ranked", &options).unwrap();
        assert!((1.0..4.7).contains(&z), "{rates}: {z}");
    }
    let gumbel = SamplerOptions { draw: "gumbel".into(), ..SamplerOptions::with_p(0.8) };
    assert!(z("ranked", &gumbel).unwrap() > 6.0);
    assert_eq!(z("none", &SamplerOptions::default()), None);
}

/// How a row of the table draws: score, direction, β, stratification.
type Row = (&'static str, Direction, f64, Stratify);
/// Mean and standard deviation of the isolated nodes and of the components, degree sd.
type Cells = (f64, f64, f64, f64, f64);

/// Cora at p = 0.3 and p = 0.6; components at 0.6 have no standard deviation of their own: 14.
const TABLE: [(Row, Cells, Cells); 11] = {
    use Direction::{Drop, Keep};
    use Stratify::{Node, None};
    [
        (("two_stage", Keep, 0.0, None), (216.0, 12.0, 321.0, 12.0, 1.231), (699.0, 16.0, 899.0, 14.0, 1.311)),
        (("two_stage", Keep, 0.0, Node), (188.0, 14.0, 293.0, 13.0, 0.950), (578.0, 16.0, 821.0, 14.0, 0.996)),
        (("pr_mean", Keep, 2.0, None), (386.0, 15.0, 469.0, 12.0, 1.055), (991.0, 16.0, 1093.0, 14.0, 1.217)),
        (("pr_mean", Drop, 2.0, None), (110.0, 10.0, 226.0, 11.0, 1.153), (437.0, 15.0, 757.0, 14.0, 1.153)),
        (("two_stage", Keep, 2.0, None), (167.0, 10.0, 257.0, 10.0, 1.101), (710.0, 15.0, 869.0, 14.0, 1.139)),
        (("two_stage", Keep, 2.0, Node), (139.0, 10.0, 227.0, 10.0, 0.860), (623.0, 13.0, 806.0, 14.0, 0.905)),
        (("two_stage", Drop, 2.0, None), (270.0, 12.0, 377.0, 12.0, 1.076), (735.0, 15.0, 946.0, 14.0, 1.150)),
        (("flow", Keep, 2.0, None), (79.0, 8.0, 170.0, 7.0, 1.150), (525.0, 17.0, 777.0, 14.0, 1.107)),
        (("inv_degree", Keep, 2.0, None), (38.0, 5.0, 133.0, 5.0, 1.195), (365.0, 16.0, 704.0, 14.0, 1.080)),
        (("inv_degree", Keep, 4.0, None), (10.0, 3.0, 98.0, 4.0, 1.016), (302.0, 11.0, 708.0, 14.0, 0.845)),
        (("inv_degree", Keep, 4.0, Node), (6.0, 2.0, 92.0, 3.0, 0.814), (246.0, 10.0, 691.0, 14.0, 0.706)),
    ]
};

#[test]
fn the_table_of_cora() {
    let Some(cora) = cora() else { return };
    let runtime = runtime(2);
    let near = |what: &str, row: Row, p: f64, found: MeanSd, expected: f64, sd: f64| {
        let off = (found.mean - expected).abs();
        assert!(off <= sd.max(3.0), "{row:?}, p = {p}: {} {what} instead of {expected}", found.mean);
    };
    for (row, low, high) in TABLE {
        for (p, cells) in [(0.3, low), (0.6, high)] {
            let (score, direction, beta, stratify) = row;
            let options =
                SamplerOptions { score: score.into(), direction, beta, stratify, ..SamplerOptions::with_p(p) };
            let prepared = prepare("ranked", &cora.graph, &options).unwrap();
            let key = DrawKey::of_epoch(0, 0);
            let found = statistics(runtime.exec(), &cora.graph, prepared.as_ref(), key, (40, 1)).unwrap();
            near("isolated", row, p, found.isolated, cells.0, cells.1);
            near("components", row, p, found.components, cells.2, cells.3);
            let sd = found.degree_sd.unwrap();
            assert!((sd / cells.4 - 1.0).abs() <= 0.04, "{row:?}, p = {p}: degree sd {sd} instead of {}", cells.4);
        }
    }
}
