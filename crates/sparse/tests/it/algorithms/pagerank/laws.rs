//! Laws: counts of sweeps, ties, names of nodes, heavy rows, weights, sinks, storage.

use super::{Walked, arcs, close, pairs};
use crate::make::{Numbers, exec, in_own_process};
use sapwood_sparse::algorithms::{Method, PageRank, PageRankOptions, pagerank};
use sapwood_sparse::{Csr, Planned};
use stats_alloc::Region;

fn star(leaves: u32) -> Walked {
    pairs(leaves as usize + 1, &(1..=leaves).map(|i| (0, i)).collect::<Vec<_>>())
}

fn rank(graph: &Walked, method: Method) -> PageRank {
    let found = graph.rank(&PageRankOptions { method, ..Default::default() }).unwrap();
    assert!(found.converged, "{method}: {}", found.residual);
    found
}

/// From the centre of a star the residual is an eigenvector of −1: no graph needs more sweeps.
#[test]
fn the_worst_case_takes_the_sweeps_of_the_formulas() {
    let star = star(9);
    let mut centre = [0.0; 10];
    centre[0] = 1.0;
    for alpha in [0.1f64, 0.5, 0.85, 0.99] {
        for tol in [1e-4, 1e-8, 1e-10] {
            let run = |method| {
                let teleport = Some(centre.as_slice());
                let found =
                    star.rank(&PageRankOptions { alpha, tol, max_iter: 9999, method, teleport, dangling: None });
                let found = found.unwrap();
                assert!(found.converged);
                found.iterations
            };
            let power = (1.0 + (tol / (2.0 * alpha)).ln() / alpha.ln()).ceil();
            assert_eq!(run(Method::Power), power as u32, "{alpha} {tol}");
            // 2α/T_k(1/α) ≤ tol, and the sweep that sees it.
            let chebyshev = ((2.0 * alpha / tol).acosh() / (1.0 / alpha).acosh()).ceil() + 1.0;
            assert_eq!(run(Method::Chebyshev), chebyshev as u32, "{alpha} {tol}");
        }
    }
}

#[test]
fn symmetric_nodes_have_equal_bits() {
    let (few, many) = (7, 300);
    let all = (0..few).flat_map(|i| (0..many).map(move |j| (i, few + j))).collect::<Vec<_>>();
    let ring = (0..1001).map(|i| (i, (i + 1) % 1001)).collect::<Vec<_>>();
    // 5·k mod 1003: the same ring under other names, so that rows are not alike.
    let named = (0..1003).map(|k| (5 * k % 1003, 5 * (k + 1) % 1003)).collect::<Vec<_>>();
    for method in [Method::Power, Method::Chebyshev] {
        for (graph, split) in [
            (star(500), 1),
            (pairs(1001, &ring), 0),
            (pairs(1003, &named), 0),
            (pairs((few + many) as usize, &all), few as usize),
        ] {
            let scores = rank(&graph, method).scores;
            for class in [&scores[..split], &scores[split..]] {
                assert!(class.iter().all(|x| x.to_bits() == class[0].to_bits()), "{method}");
            }
        }
    }
}

#[test]
fn heavy_rows_have_the_scores_of_a_star() {
    for leaves in [4095, 4096, 4097, 20_000] {
        let n = f64::from(leaves) + 1.0;
        // All mass of the leaves goes to the centre.
        let centre = (0.15 / n + 0.85) / 1.85;
        let mut expected = vec![(1.0 - centre) / (n - 1.0); leaves as usize + 1];
        expected[0] = centre;
        for method in Method::ALL {
            let found = rank(&star(leaves), method);
            let off: f64 = found.scores.iter().zip(&expected).map(|(f, e)| (f - e).abs()).sum();
            assert!(off <= found.error_bound + 1e-14, "{method}, {leaves} leaves: off by {off:e}");
            if method != Method::GaussSeidel {
                assert!(found.scores[1..].iter().all(|x| x.to_bits() == found.scores[1].to_bits()));
            }
        }
    }
}

fn random_pairs(seed: u64, n: usize, count: usize) -> Vec<(u32, u32)> {
    let mut numbers = Numbers::new(seed);
    let mut pair = || (numbers.below(n) as u32, numbers.below(n) as u32);
    let mut list: Vec<_> = (0..count).map(|_| pair()).map(|(i, j)| (i.min(j), i.max(j))).collect();
    list.retain(|(i, j)| i != j);
    list.sort_unstable();
    list.dedup();
    list
}

#[test]
fn names_of_nodes_do_not_matter() {
    let n = 5000;
    let list = random_pairs(3, n, 12_000);
    // 2503 and 5000 have no common divisor.
    let name = |i: u32| (2503 * i + 77) % n as u32;
    let named: Vec<_> = list.iter().map(|&(i, j)| (name(i), name(j))).collect();
    for method in Method::ALL {
        let options = PageRankOptions { method, tol: 1e-14, ..Default::default() };
        let (a, b) = (pairs(n, &list).rank(&options).unwrap(), pairs(n, &named).rank(&options).unwrap());
        let renamed: Vec<f64> = (0..n as u32).map(|i| b.scores[name(i) as usize]).collect();
        close(&renamed, &a.scores, 1e-13);
    }
}

/// A weight is as many arcs, and a common factor of all weights changes nothing, huge or tiny as it may be.
#[test]
fn weights_are_numbers_of_arcs() {
    let n = 600;
    let mut list = random_pairs(9, n, 2500);
    list.extend((1..n as u32).map(|i| (0, i)));
    list.sort_unstable();
    list.dedup();
    let many: Vec<_> = list.iter().flat_map(|&(i, j)| std::iter::repeat_n((i, j), 1 + (i + j) as usize % 4)).collect();
    let (plain, counted) = (pairs(n, &list), pairs(n, &many));
    let a = plain.incoming.matrix();
    for factor in [1.0, 1e-3, 7e200, 3e-250] {
        let weight = |i: usize, j: u32| factor * f64::from(1 + (i as u32 + j) % 4);
        let values: Vec<f64> = (0..n).flat_map(|i| a.row(i).iter().map(move |&j| weight(i, j))).collect();
        let (offsets, columns) = (a.offsets().to_vec(), a.columns().to_vec());
        let weighted = Planned::new(Csr::<f64>::try_new(n, n, offsets, columns, values).unwrap());
        let out: Vec<f64> = counted.out.iter().map(|w| factor * w).collect();
        for method in Method::ALL {
            let options = PageRankOptions { method, tol: 1e-13, ..Default::default() };
            let found = pagerank(exec(2), &weighted, &out, &[], &options).unwrap();
            assert!(found.converged);
            close(&found.scores, &counted.rank(&options).unwrap().scores, 1e-12);
        }
    }
}

#[test]
fn sinks_may_send_their_mass_elsewhere() {
    let graph = arcs(2, &[(0, 1)]);
    for method in [Method::Power, Method::GaussSeidel] {
        let to = |d: &[f64]| {
            let options = PageRankOptions { method, dangling: Some(d), tol: 1e-13, ..Default::default() };
            graph.rank(&options).unwrap().scores
        };
        close(&to(&[0.0, 3.0]), &[0.075, 0.925], 1e-12);
        close(&to(&[3.0, 0.0]), &[0.5, 0.5], 1e-12);
    }
}

#[test]
fn sweeps_allocate_nothing() {
    in_own_process("algorithms::pagerank::laws::sweeps_allocate_nothing_alone");
}

#[test]
#[ignore = "counts the allocations of its process"]
fn sweeps_allocate_nothing_alone() {
    let graph = pairs(9000, &[random_pairs(4, 9000, 30_000), (1..9000).map(|i| (0, i)).collect()].concat());
    for method in Method::ALL {
        let once = |sweeps: u32| {
            let options = PageRankOptions { method, tol: 1e-300, max_iter: sweeps, ..Default::default() };
            let region = Region::new(crate::ALLOCATOR);
            assert_eq!(graph.rank(&options).unwrap().iterations, sweeps);
            region.change().allocations
        };
        once(20);
        // The least of five: the test harness has a thread that allocates now and then.
        let allocations = |sweeps| (0..5).map(|_| once(sweeps)).min();
        assert_eq!(allocations(2), allocations(20), "{method}");
    }
}
