//! Operators against dense matrices built by the definitions.

use crate::support::{build, graph, random_ends, runtime, small_ends};
use sapwood_graph::{
    After, BitMask, Edge, Graph, GraphOptions, Normalisation, Operator, Sampled, SelfLoops, normalise,
};
use sapwood_sparse::Block;

/// Adjacency without self-loops, and the self-loops; the draw already applied.
fn dense(graph: &Graph, sampled: &Sampled<'_>) -> (Vec<Vec<f64>>, Vec<f64>) {
    let n = graph.nodes();
    let mut a = vec![vec![0.0; n]; n];
    let rows = graph.rows();
    for (i, row) in a.iter_mut().enumerate() {
        for e in rows.pattern().row_range(i) {
            if sampled.keeps(rows.unit()[e]) {
                row[rows.pattern().columns()[e] as usize] = rows.weights().map_or(1.0, |w| f64::from(w[e]));
            }
        }
    }
    let mut own = vec![0.0; n];
    graph.self_loops().iter().for_each(|&(node, w)| own[node.index()] = f64::from(w));
    (a, own)
}

/// Â by the formula with the form's name, written with whole matrices.
fn definition(name: &str, self_loops: SelfLoops, a0: &[Vec<f64>], own: &[f64]) -> Vec<Vec<f64>> {
    let n = a0.len();
    let with_diagonal = |diagonal: &dyn Fn(usize) -> f64| -> Vec<Vec<f64>> {
        let mut m = a0.to_vec();
        (0..n).for_each(|i| m[i][i] = diagonal(i));
        m
    };
    let a = with_diagonal(&|i| own[i]);
    let a_plus_i = with_diagonal(&|i| if self_loops == SelfLoops::Add { 1.0 + own[i] } else { 1.0 });
    let identity: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let degree = |m: &[Vec<f64>]| -> Vec<f64> { m.iter().map(|row| row.iter().sum()).collect() };
    let power = |d: &[f64], e: f64| -> Vec<f64> { d.iter().map(|&x| if x == 0.0 { 0.0 } else { x.powf(e) }).collect() };
    let scaled = |m: &[Vec<f64>], l: &[f64], r: &[f64]| -> Vec<Vec<f64>> {
        (0..n).map(|i| (0..n).map(|j| l[i] * m[i][j] * r[j]).collect()).collect()
    };
    let combine = |x: &[Vec<f64>], f: f64, y: &[Vec<f64>]| -> Vec<Vec<f64>> {
        (0..n).map(|i| (0..n).map(|j| x[i][j] + f * y[i][j]).collect()).collect()
    };
    let ones = vec![1.0; n];
    let symmetric = |m: &[Vec<f64>]| scaled(m, &power(&degree(m), -0.5), &power(&degree(m), -0.5));
    let walk = |m: &[Vec<f64>]| scaled(m, &power(&degree(m), -1.0), &ones);
    let laplacian = || {
        let d = degree(&a);
        let mut m = scaled(&a, &vec![-1.0; n], &ones);
        (0..n).for_each(|i| m[i][i] += d[i]);
        m
    };
    match name {
        "aug" => symmetric(&a_plus_i),
        "aug-rw" => walk(&a_plus_i),
        "first-order" => combine(&identity, 1.0, &symmetric(&a)),
        "bingge" => combine(&identity, 1.0, &symmetric(&a_plus_i)),
        "sym" => symmetric(&a),
        "rw" => walk(&a),
        "lap" => laplacian(),
        "sym-lap" => combine(&identity, -1.0, &symmetric(&a)),
        "rw-lap" => combine(&identity, -1.0, &walk(&a)),
        "identity-plus" => a_plus_i,
        "none" => a,
        other => panic!("no definition of {other}"),
    }
}

fn graphs() -> Vec<Graph> {
    let mut looped: Vec<Edge> =
        small_ends().iter().map(|&(from, to)| Edge { from, to, weight: 0.5 + to as f32 / 8.0 }).collect();
    looped.push(Edge { from: 2, to: 2, weight: 0.75 });
    looped.push(Edge { from: 11, to: 11, weight: 2.0 }); // otherwise isolated
    let options = |directed, weighted| GraphOptions { directed, weighted };
    let with_loops = |o| Graph::build(12, looped.clone(), o).unwrap().0;
    vec![
        graph(12, &small_ends()),
        with_loops(options(false, false)),
        with_loops(options(false, true)),
        with_loops(options(true, false)),
        with_loops(options(true, true)),
        graph(3, &[]),
    ]
}

/// Every form, with and without a draw, against its definition: the entries, Â X and Âᵀ X.
#[test]
fn every_form_is_its_definition() {
    let runtime = runtime(2);
    for g in graphs() {
        let mut some = BitMask::new(g.pairs() as usize, true);
        (0..some.len()).filter(|e| e % 3 == 1).for_each(|e| some.set(e, false));
        let none = BitMask::new(g.pairs() as usize, false);
        for sampled in [Sampled::All, Sampled::Pairs(&some), Sampled::Pairs(&none)] {
            let (a0, own) = dense(&g, &sampled);
            for form in normalise::ALL {
                for self_loops in [SelfLoops::Remaining, SelfLoops::Add] {
                    let expected = definition(form.name, self_loops, &a0, &own);
                    let norm = Normalisation { form, self_loops };
                    let mut op = Operator::<f64>::full(runtime.exec(), &g, norm).unwrap();
                    op.redraw(runtime.exec(), &g, &sampled, After::Renorm).unwrap();
                    check(&op, &expected, &runtime, form.name);
                }
            }
        }
    }
}

fn check(op: &Operator<f64>, expected: &[Vec<f64>], runtime: &sapwood_skeleton::Runtime, name: &str) {
    let n = op.nodes();
    let mut found = vec![vec![0.0; n]; n];
    for (i, row) in found.iter_mut().enumerate() {
        op.row(i).for_each(|(j, x)| row[j as usize] = x);
        row[i] = op.diagonal()[i];
    }
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + b.abs());
    for i in 0..n {
        assert!(
            (0..n).all(|j| close(found[i][j], expected[i][j])),
            "{name}, row {i}: {:?} {:?}",
            found[i],
            expected[i]
        );
    }
    let x = Block::from_fn(n, 3, |i, k| ((31 * i + 17 * k) % 101) as f64 / 50.0 - 1.0).unwrap();
    let (mut y, mut z) = (Block::zeros(n, 3).unwrap(), Block::zeros(n, 3).unwrap());
    op.apply(runtime.exec(), &x, &mut y).unwrap();
    op.apply_transposed(runtime.exec(), &x, &mut z).unwrap();
    for i in 0..n {
        for k in 0..3 {
            let dot = |entry: &dyn Fn(usize) -> f64| (0..n).map(|j| entry(j) * x.row(j)[k]).sum::<f64>();
            assert!(close(y.row(i)[k], dot(&|j| expected[i][j])), "{name}: product");
            assert!(close(z.row(i)[k], dot(&|j| expected[j][i])), "{name}: transposed product");
        }
    }
}

fn path(name: &str) -> Operator<f64> {
    let norm = Normalisation::new(name, SelfLoops::Remaining).unwrap();
    Operator::full(runtime(1).exec(), &graph(3, &[(0, 1), (1, 2)]), norm).unwrap()
}

#[test]
fn golden_values_on_the_path() {
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-10, "{a} {b}");
    let aug = path("aug");
    close(aug.diagonal()[0], 0.5);
    close(aug.diagonal()[1], 1.0 / 3.0);
    close(aug.row(0).next().unwrap().1, 1.0 / 6f64.sqrt());
    close(path("first-order").row(0).next().unwrap().1, 1.0 / 2f64.sqrt());
    let walk = path("aug-rw");
    let rows: [&[f64]; 3] = [&[0.5, 0.5], &[1.0 / 3.0; 3], &[0.5, 0.5]];
    for (i, expected) in rows.iter().enumerate() {
        let mut row: Vec<(u32, f64)> = walk.row(i).collect();
        row.push((i as u32, walk.diagonal()[i]));
        row.sort_by_key(|e| e.0);
        assert_eq!(row.len(), expected.len());
        row.iter().zip(*expected).for_each(|(e, x)| close(e.1, *x));
    }
}

/// A node without a surviving pair: the self entry alone, or an empty row, never NaN.
#[test]
fn nodes_without_pairs_have_the_right_rows() {
    let (g, runtime) = (graph(3, &[(0, 1)]), runtime(1));
    let none = BitMask::new(1, false);
    for (name, own) in [("aug", 1.0), ("aug-rw", 1.0), ("first-order", 1.0), ("sym", 0.0), ("rw", 0.0)] {
        let norm = Normalisation::new(name, SelfLoops::Remaining).unwrap();
        let mut op = Operator::<f32>::full(runtime.exec(), &g, norm).unwrap();
        op.redraw(runtime.exec(), &g, &Sampled::Pairs(&none), After::Renorm).unwrap();
        let x = Block::from_fn(3, 2, |i, k| (2 * i + k) as f32 + 1.0).unwrap();
        let mut y = Block::from_fn(3, 2, |_, _| f32::NAN).unwrap();
        op.apply(runtime.exec(), &x, &mut y).unwrap();
        assert!(y.as_slice().iter().zip(x.as_slice()).all(|(&y, &x)| y == own * x), "{name}: {y:?}");
    }
}

#[test]
fn threads_and_earlier_draws_do_not_matter() {
    let g = build(2000, &random_ends(2000, 30_000), GraphOptions { directed: false, weighted: true });
    let x = Block::from_fn(2000, 5, |i, k| ((31 * i + 17 * k) % 101) as f32 - 50.0).unwrap();
    let mut mask = BitMask::new(g.pairs() as usize, true);
    (0..mask.len()).filter(|e| e % 5 < 2).for_each(|e| mask.set(e, false));
    let product = |threads: usize, warm: bool| {
        let runtime = runtime(threads);
        let mut op = Operator::<f32>::full(runtime.exec(), &g, Normalisation::default()).unwrap();
        if warm {
            op.redraw(runtime.exec(), &g, &Sampled::Pairs(&BitMask::new(mask.len(), false)), After::Renorm).unwrap();
            op.redraw(runtime.exec(), &g, &Sampled::All, After::Renorm).unwrap();
        }
        op.redraw(runtime.exec(), &g, &Sampled::Pairs(&mask), After::Renorm).unwrap();
        let mut y = Block::zeros(2000, 5).unwrap();
        op.apply(runtime.exec(), &x, &mut y).unwrap();
        y.as_slice().iter().map(|v| v.to_bits()).collect::<Vec<u32>>()
    };
    let expected = product(1, false);
    for threads in [1, 2, 3, 8] {
        assert_eq!(product(threads, true), expected, "{threads} threads");
    }
}

#[test]
fn symmetric_forms_apply_alike_both_ways() {
    let g = build(400, &random_ends(400, 3000), GraphOptions { directed: false, weighted: true });
    let runtime = runtime(2);
    let x = Block::from_fn(400, 4, |i, k| ((37 * i + 11 * k) % 97) as f32 / 48.0 - 1.0).unwrap();
    for form in normalise::ALL.iter().filter(|f| f.symmetric) {
        let op = Operator::<f32>::full(runtime.exec(), &g, Normalisation { form, ..Default::default() }).unwrap();
        let (mut y, mut z) = (Block::zeros(400, 4).unwrap(), Block::zeros(400, 4).unwrap());
        op.apply(runtime.exec(), &x, &mut y).unwrap();
        op.apply_transposed(runtime.exec(), &x, &mut z).unwrap();
        assert_eq!(y, z, "{}", form.name);
    }
}

#[test]
fn redraws_reuse_the_storage() {
    let g = graph(2000, &random_ends(2000, 30_000));
    let runtime = runtime(2);
    let mut op = Operator::<f32>::full(runtime.exec(), &g, Normalisation::default()).unwrap();
    let first = op.bytes();
    let mut mask = BitMask::new(g.pairs() as usize, true);
    for round in 0..5 {
        (0..mask.len()).for_each(|e| mask.set(e, e % 5 != round));
        op.redraw(runtime.exec(), &g, &Sampled::Pairs(&mask), After::Renorm).unwrap();
    }
    op.redraw(runtime.exec(), &g, &Sampled::All, After::Renorm).unwrap();
    assert_eq!(op.bytes(), first);
}

#[test]
fn operators_refuse_another_graph_or_mask() {
    let (g, other, runtime) = (graph(3, &[(0, 1)]), graph(4, &[(0, 1)]), runtime(1));
    let mut op = Operator::<f32>::full(runtime.exec(), &g, Normalisation::default()).unwrap();
    assert!(op.redraw(runtime.exec(), &other, &Sampled::All, After::Renorm).is_err());
    let long = BitMask::new(2, true);
    let e = op.redraw(runtime.exec(), &g, &Sampled::Pairs(&long), After::Renorm).unwrap_err();
    assert_eq!(e.to_string(), "the mask has pairs: 2, but the graph has 1");
    let mut y = Block::zeros(3, 1).unwrap();
    assert!(op.apply(runtime.exec(), &Block::zeros(4, 1).unwrap(), &mut y).is_err());
}

#[test]
fn the_tail_of_an_arc_is_not_isolated() {
    let options = GraphOptions { directed: true, weighted: false };
    let arc = Edge { from: 0, to: 1, weight: 1.0 };
    let graph = Graph::build(3, vec![arc], options).unwrap().0;
    let runtime = runtime(1);
    let normalisation = Normalisation::new("aug", SelfLoops::Remaining).unwrap();
    let operator = Operator::<f32>::full(runtime.exec(), &graph, normalisation).unwrap();
    assert_eq!(operator.isolated(), 1);
}

#[test]
fn weights_whose_sum_is_too_large_are_refused() {
    let options = GraphOptions { directed: false, weighted: true };
    let edge = |from, to| Edge { from, to, weight: 3e38 };
    for edges in [vec![edge(0, 1), edge(0, 1)], vec![edge(2, 2), edge(2, 2)]] {
        assert!(Graph::build(3, edges, options).unwrap_err().to_string().contains("finite"));
    }
    assert!(Graph::build(3, vec![edge(0, 1)], options).is_ok());
}

/// Entries and diagonal of an operator, dense.
fn entries(op: &Operator<f64>) -> Vec<Vec<f64>> {
    let n = op.nodes();
    let mut dense = vec![vec![0.0; n]; n];
    for (i, row) in dense.iter_mut().enumerate() {
        op.row(i).for_each(|(j, x)| row[j as usize] = x);
        row[i] = op.diagonal()[i];
    }
    dense
}

#[test]
fn without_renormalisation_entries_keep_their_value_or_their_mean() {
    let (g, runtime) = (graphs().remove(2), runtime(2));
    let m = g.pairs() as usize;
    let q: Vec<f64> = (0..m).map(|e| if e % 4 == 3 { 0.25 } else { 0.5 }).collect();
    let quotas = sapwood_graph::draw::Quotas::independent(&q).unwrap();
    for name in ["aug", "rw", "sym-lap"] {
        let norm = Normalisation::new(name, SelfLoops::Add).unwrap();
        let whole = entries(&Operator::<f64>::full(runtime.exec(), &g, norm).unwrap());
        let mut op = Operator::<f64>::full(runtime.exec(), &g, norm).unwrap();
        let mut mean = vec![vec![0.0; 12]; 12];
        for kept in 0..1u32 << m.min(10) {
            // All masks of the first ten pairs, the others staying; weighed by their probability.
            let mut mask = BitMask::new(m, true);
            let mut probability = 1.0;
            for e in 0..m.min(10) {
                let stays = kept >> e & 1 == 1;
                mask.set(e, stays);
                probability *= if stays { 1.0 - q[e] } else { q[e] };
            }
            if kept == 5 {
                op.redraw(runtime.exec(), &g, &Sampled::Pairs(&mask), After::Renorm).unwrap();
                op.redraw(runtime.exec(), &g, &Sampled::Pairs(&mask), After::Fixed).unwrap();
                for (i, row) in entries(&op).iter().enumerate() {
                    for (j, &x) in row.iter().enumerate() {
                        assert!(x == 0.0 || (x - whole[i][j]).abs() < 1e-15, "{name}: fixed");
                    }
                }
            }
            op.redraw(runtime.exec(), &g, &Sampled::Pairs(&mask), After::Unbiased(&quotas)).unwrap();
            for (mean, row) in mean.iter_mut().zip(entries(&op)) {
                mean.iter_mut().zip(row).for_each(|(m, x)| *m += probability * x);
            }
        }
        let first_ten: Vec<(usize, usize)> = g.pair_ends().take(10).map(|(i, j)| (i.index(), j.index())).collect();
        for (i, j) in first_ten {
            assert!((mean[i][j] - whole[i][j]).abs() < 1e-6 && (mean[j][i] - whole[j][i]).abs() < 1e-6, "{name}");
        }
        (0..12).for_each(|i| assert!((mean[i][i] - whole[i][i]).abs() < 1e-12, "{name}: diagonal"));
    }
}

#[test]
fn by_arc_is_the_same_graph_with_more_units() {
    let runtime = runtime(2);
    for g in graphs() {
        let arcs = g.by_arc();
        assert_eq!((arcs.nodes(), arcs.arcs(), arcs.pairs()), (g.nodes(), g.arcs(), g.arcs()));
        let (a, b) = (
            Operator::<f64>::full(runtime.exec(), &g, Normalisation::default()).unwrap(),
            Operator::<f64>::full(runtime.exec(), &arcs, Normalisation::default()).unwrap(),
        );
        assert_eq!(entries(&a), entries(&b));
        for j in 0..g.nodes() {
            let rows = arcs.reverse().pattern().row_range(j);
            for e in rows {
                let (i, arc) = (arcs.reverse().pattern().columns()[e] as usize, arcs.reverse().unit()[e] as usize);
                assert!(arcs.rows().pattern().row_range(i).contains(&arc));
                assert_eq!(arcs.rows().pattern().columns()[arc] as usize, j);
            }
        }
    }
}

/// Arcs and self-loops that go one by one, against the dense definition.
#[test]
fn arcs_go_one_by_one_and_self_loops_with_them() {
    let runtime = runtime(2);
    let g = graphs().remove(2).by_arc();
    let mut mask = BitMask::new(g.pairs() as usize + g.self_loops().len(), true);
    (0..mask.len()).filter(|e| e % 3 == 0).for_each(|e| mask.set(e, false));
    mask.set(g.pairs() as usize, false); // the self-loop of node 2
    let sampled = Sampled::Arcs(&mask);
    let (a0, mut own) = dense(&g, &sampled);
    own[2] = 0.0;
    for form in normalise::ALL {
        let norm = Normalisation { form, self_loops: SelfLoops::Add };
        let mut op = Operator::<f64>::full(runtime.exec(), &g, norm).unwrap();
        op.redraw(runtime.exec(), &g, &sampled, After::Renorm).unwrap();
        let mut kept_own = own.clone();
        if !mask.get(g.pairs() as usize + 1) {
            kept_own[11] = 0.0;
        }
        check(&op, &definition(form.name, SelfLoops::Add, &a0, &kept_own), &runtime, form.name);
        op.redraw(runtime.exec(), &g, &Sampled::All, After::Renorm).unwrap();
        let (whole, own) = dense(&g, &Sampled::All);
        check(&op, &definition(form.name, SelfLoops::Add, &whole, &own), &runtime, form.name);
    }
}

/// Lost coordinates: Â′ᵀ is the transpose of Â′ for each column, what is kept is scaled, threads do not matter.
#[test]
fn messages_lose_the_same_coordinates_both_ways() {
    let key = sapwood_graph::DrawKey { seed: 3, epoch: 2, layer: 1, micro: 0 };
    for g in graphs() {
        let g = g.by_arc();
        let (n, k) = (g.nodes(), 5);
        let unit = |i: usize| Block::from_fn(n, k, |row, _| if row == i { 1.0 } else { 0.0 }).unwrap();
        let run = |threads: usize, x: &Block<f64>, transposed: bool, p: f64| {
            let runtime = runtime(threads);
            let op = Operator::<f64>::full(runtime.exec(), &g, Normalisation::default()).unwrap();
            let mut y = Block::zeros(n, k).unwrap();
            if transposed {
                let set = sapwood_sparse::Affine::SET;
                op.apply_messages_transposed_onto(runtime.exec(), &g, (key, p), x, &mut y, set).unwrap();
            } else {
                op.apply_messages(runtime.exec(), &g, (key, p), x, &mut y).unwrap();
            }
            y
        };
        let whole = entries(&Operator::<f64>::full(runtime(1).exec(), &g, Normalisation::default()).unwrap());
        let (mut lost, mut all) = (0, 0);
        let columns: Vec<Block<f64>> = (0..n).map(|j| run(1, &unit(j), false, 0.4)).collect();
        for i in 0..n {
            let row = run(3, &unit(i), true, 0.4);
            for j in 0..n {
                for c in 0..k {
                    assert!((columns[j].row(i)[c] - row.row(j)[c]).abs() < 1e-15, "{i} {j} {c}");
                    let (entry, scaled) = (columns[j].row(i)[c], whole[i][j] / 0.6);
                    assert!(entry == 0.0 || (entry - scaled).abs() < 1e-15);
                    all += u32::from(scaled != 0.0);
                    lost += u32::from(scaled != 0.0 && entry == 0.0);
                }
            }
        }
        let z = (f64::from(lost) - 0.4 * f64::from(all)) / (f64::from(all) * 0.24).sqrt();
        assert!(z.abs() < 4.0, "{lost} of {all}");
        let x = Block::from_fn(n, k, |i, c| ((31 * i + 17 * c) % 101) as f64).unwrap();
        assert_eq!(run(1, &x, false, 0.4), run(8, &x, false, 0.4));
        assert!(run(1, &x, false, 1.0).as_slice().iter().all(|&y| y == 0.0));
    }
}
