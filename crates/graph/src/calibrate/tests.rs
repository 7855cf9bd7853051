//! Golden values and laws of the calibration.

use super::*;
use proptest::prelude::*;
use sapwood_skeleton::Runtime;

/// Mid-ranks of `two_stage` on a triangle 0, 1, 2 with a tail 2 – 3: pairs (0,1), (0,2), (1,2), (2,3).
const Z: [f64; 4] = [-1.0, 2.0 / 3.0, 2.0 / 3.0, -1.0 / 3.0];

fn runtime() -> Runtime {
    Runtime::threads(2).unwrap()
}

fn solve(guarded: &[usize], k: u64, beta: f64, curve: Curve, min: f64, max: f64) -> Solved {
    let mut mask = BitMask::new(4, false);
    guarded.iter().for_each(|&e| mask.set(e, true));
    calibrate(runtime().exec(), &Z, &mask, Target::Exact(k), beta, curve, Clip { min, max }).unwrap()
}

fn near(got: &Solved, offset: f64, q: [f64; 4]) {
    let a = got.offset.unwrap();
    assert!((a - offset).abs() < 1e-10, "offset {a}, not {offset}");
    assert!(got.q.iter().zip(q).all(|(x, y)| (x - y).abs() < 1e-10), "{:?}, not {q:?}", got.q);
}

#[test]
fn golden_ranks() {
    let scores = [0.196_742_254_871, 0.294_251_038_007, 0.294_251_038_007, 0.214_755_669_115];
    assert_eq!(mid_ranks(&scores).unwrap(), Z);
}

#[test]
fn golden_probabilities() {
    let s = Curve::Sigmoid;
    near(
        &solve(&[], 2, 2.0, s, 0.0, 1.0),
        0.062_415_024_527,
        [0.887_196_089_721, 0.219_100_093_292, 0.219_100_093_292, 0.674_603_723_696],
    );
    near(
        &solve(&[], 1, 2.0, s, 0.0, 1.0),
        -1.566_716_354_209,
        [0.606_657_499_522, 0.052_151_106_901, 0.052_151_106_901, 0.289_040_286_677],
    );
    near(
        &solve(&[], 1, -2.0, s, 0.0, 1.0),
        -1.580_074_879_237,
        [0.027_117_741_640, 0.438_625_677_535, 0.438_625_677_535, 0.095_630_903_289],
    );
}

#[test]
fn golden_probabilities_with_clips_a_guard_and_the_line() {
    let s = Curve::Sigmoid;
    near(
        &solve(&[], 1, 2.0, s, 0.0, 0.5),
        -1.246_129_570_590,
        [0.5, 0.070_471_905_587, 0.070_471_905_587, 0.359_056_188_827],
    );
    near(&solve(&[], 1, 2.0, s, 0.06, 0.4), -0.863_891_244_003, [0.4, 0.1, 0.1, 0.4]);
    near(
        &solve(&[0], 1, 2.0, s, 0.0, 1.0),
        -0.142_941_328_188,
        [0.0, 0.185_990_769_191, 0.185_990_769_191, 0.628_018_461_617],
    );
    near(&solve(&[], 2, 1.0, Curve::Linear, 0.0, 1.0), 0.5, [1.0, 1.0 / 6.0, 1.0 / 6.0, 2.0 / 3.0]);
}

#[test]
fn equal_probabilities_need_no_solving() {
    let (s, third) = (Curve::Sigmoid, 1.0 / 3.0);
    assert_eq!(solve(&[], 0, 2.0, s, 0.0, 1.0).q, [0.0; 4]);
    assert_eq!(solve(&[], 4, 2.0, s, 0.0, 1.0).q, [1.0; 4]);
    assert_eq!(solve(&[], 1, 0.0, s, 0.0, 1.0).q, [0.25; 4]);
    assert_eq!(solve(&[3], 1, 0.0, Curve::Linear, 0.0, 1.0).q, [third, third, third, 0.0]);
    assert_eq!(solve(&[0, 3], 1, 2.0, s, 0.0, 1.0).q, [0.0, 0.5, 0.5, 0.0], "equal ranks");
    let less = solve(&[1, 2], 3, 2.0, s, 0.0, 1.0);
    assert_eq!((less.q, less.sum), (vec![1.0, 0.0, 0.0, 1.0], 2.0), "guards leave two");
}

#[test]
fn bounds_that_leave_no_solution_are_named() {
    let mask = BitMask::new(4, false);
    let fail = |k, min, max| {
        let clip = Clip { min, max };
        calibrate(runtime().exec(), &Z, &mask, Target::Exact(k), 2.0, Curve::Sigmoid, clip).unwrap_err().to_string()
    };
    assert!(fail(1, 0.3, 1.0).starts_with("--q-min 0.3"), "{}", fail(1, 0.3, 1.0));
    assert!(fail(3, 0.0, 0.7).starts_with("--q-max 0.7"), "{}", fail(3, 0.0, 0.7));
    assert!(fail(0, 0.1, 1.0).starts_with("--q-min 0.1"));
    assert!(fail(4, 0.0, 0.9).starts_with("--q-max 0.9"));
    assert!(fail(1, -0.1, 1.0).starts_with("--q-min must be"));
    assert!(fail(1, 0.6, 0.5).starts_with("--q-max must be"));
    assert!(fail(1, 0.0, f64::NAN).starts_with("--q-max must be"));
    for beta in [f64::NAN, f64::INFINITY] {
        let e = calibrate(runtime().exec(), &Z, &mask, Target::Exact(1), beta, Curve::Sigmoid, Clip::default());
        assert!(e.unwrap_err().to_string().starts_with("--beta must be"));
    }
}

#[test]
fn a_score_that_is_no_number_names_its_unit() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(mid_ranks(&[1.0, bad]).unwrap_err().to_string().contains("unit 1"));
    }
}

#[test]
fn ties_and_signs_of_ranks() {
    assert_eq!(mid_ranks(&[]).unwrap(), [0.0; 0]);
    assert_eq!(mid_ranks(&[7.0]).unwrap(), [0.0]);
    assert_eq!(mid_ranks(&[0.1 + 0.2, 0.3, 0.3]).unwrap(), [0.0; 3]);
    assert_eq!(mid_ranks(&[-1.0, -0.0, 0.0, 5e-324, f64::MAX]).unwrap(), [-1.0, -0.25, -0.25, 0.5, 1.0]);
    let scores = [3.0, -2.5, 3.0, 1e-9, -7.0, 0.0];
    let negated = scores.map(|s| -s);
    let mirrored: Vec<f64> = mid_ranks(&negated).unwrap().iter().map(|z| -z).collect();
    assert_eq!(mid_ranks(&scores).unwrap(), mirrored);
}

/// Halving alone, one unit after the other: the slow twin.
fn halved(z: &[f64], guarded: &BitMask, k: f64, beta: f64, clip: Clip) -> Vec<f64> {
    let free = |e: usize| !guarded.get(e);
    let q = |a: f64, e: usize| {
        let x = 1.0 / (1.0 + (beta * z[e] - a).exp());
        if free(e) { x.max(clip.min).min(clip.max) } else { 0.0 }
    };
    let (mut low, mut high) = (-900.0, 900.0);
    for _ in 0..200 {
        let a = 0.5 * (low + high);
        let sum: f64 = (0..z.len()).map(|e| q(a, e)).sum();
        if sum < k { low = a } else { high = a }
    }
    (0..z.len()).map(|e| q(high, e)).collect()
}

/// A calibration that may be asked for.
#[derive(Debug, Clone)]
struct Case {
    scores: Vec<f64>,
    guarded: BitMask,
    free: usize,
    share: f64,
    beta: f64,
    clip: Clip,
}

fn cases() -> impl Strategy<Value = Case> {
    let scores = proptest::collection::vec(prop_oneof![0.0..1.0, (0u8..4).prop_map(f64::from)], 1..200);
    let beta = prop_oneof![Just(0.0), -4.0..4.0, -60.0..60.0];
    let clip = prop_oneof![
        Just((0.0, 1.0)),
        (0.0..0.5, 0.5..1.0),
        (0.0..1.0).prop_map(|min| (min, 1.0)),
        (0.0..1.0).prop_map(|max| (0.0, max)),
        (0.3..0.301, 0.301..0.302),
    ];
    (scores, 0u64..5, 0.0..=1.0, beta, clip).prop_map(|(scores, every, share, beta, (min, max))| {
        let mut guarded = BitMask::new(scores.len(), false);
        if every > 0 {
            (0..scores.len())
                .filter(|e| ((e * 7 + 3) as u64).is_multiple_of(every + 1))
                .for_each(|e| guarded.set(e, true));
        }
        let free = scores.len() - guarded.count_ones();
        Case { scores, guarded, free, share, beta, clip: Clip { min, max } }
    })
}

fn run(case: &Case, z: &[f64], curve: Curve, k: Target, beta: f64) -> Result<Solved> {
    let runtime = Runtime::sequential().unwrap();
    calibrate(runtime.exec(), z, &case.guarded, k, beta, curve, case.clip)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn sums_bounds_and_order(case in cases()) {
        let z = mid_ranks(&case.scores).unwrap();
        let reach = case.clip.min + case.share * (case.clip.max - case.clip.min);
        let mean = (reach * case.free as f64).min(case.free as f64);
        for curve in [Curve::Sigmoid, Curve::Linear] {
            for target in [Target::Mean(mean), Target::Exact(mean.round() as u64)] {
                let k = target.value();
                let feasible = k + 1e-9 >= case.free as f64 * case.clip.min && k - 1e-9 <= case.free as f64 * case.clip.max;
                let solved = run(&case, &z, curve, target, case.beta);
                if !feasible {
                    let refused = matches!(solved, Err(Error::Infeasible { .. }));
                    prop_assert!(refused);
                    continue;
                }
                let solved = solved.unwrap();
                let total: f64 = solved.q.iter().sum();
                prop_assert!((total - k).abs() <= 1e-9 * k.max(1.0), "sum {total}, not {k}");
                let free = || (0..z.len()).filter(|&e| !case.guarded.get(e));
                prop_assert!(free().all(|e| (case.clip.min..=case.clip.max).contains(&solved.q[e])));
                prop_assert!(case.guarded.ones().all(|e| solved.q[e] == 0.0));
                let mut order: Vec<usize> = free().collect();
                order.sort_by(|&a, &b| (case.beta * z[a]).total_cmp(&(case.beta * z[b])));
                prop_assert!(order.windows(2).all(|w| solved.q[w[0]] >= solved.q[w[1]]), "a higher score goes more");
                let flipped: Vec<f64> = z.iter().map(|z| -z).collect();
                prop_assert_eq!(&run(&case, &flipped, curve, target, -case.beta).unwrap().q, &solved.q);
                if curve == Curve::Sigmoid && case.beta != 0.0 && k > 0.0 && k < case.free as f64 {
                    let twin = halved(&z, &case.guarded, k, case.beta, case.clip);
                    prop_assert!(twin.iter().zip(&solved.q).all(|(x, y)| (x - y).abs() < 1e-8));
                }
            }
        }
    }
}

#[test]
fn a_steep_curve_still_has_its_sum() {
    let z: Vec<f64> = (0..1001).map(|e| f64::from(e % 77)).collect();
    let z = mid_ranks(&z).unwrap();
    let mask = BitMask::new(z.len(), false);
    for beta in [700.0, 1e5, 1e12, 1e200, -1e300] {
        for curve in [Curve::Sigmoid, Curve::Linear] {
            let solved =
                calibrate(runtime().exec(), &z, &mask, Target::Exact(333), beta, curve, Clip::default()).unwrap();
            let total: f64 = solved.q.iter().sum();
            assert!((total - 333.0).abs() <= 333e-9, "beta {beta}: {total}");
        }
    }
}

#[test]
fn given_probabilities_are_moved_to_a_whole_sum() {
    let q = [0.0, 1.0, 0.25, 0.5, 0.9, 0.1];
    let mask = BitMask::new(6, false);
    let moved = |k| shifted(runtime().exec(), &q, &mask, Target::Exact(k)).unwrap();
    let three = moved(3);
    let a = three.offset.unwrap();
    assert_eq!((three.q[0], three.q[1]), (0.0, 1.0));
    assert!((three.q.iter().sum::<f64>() - 3.0).abs() < 1e-9);
    assert!((2..6).all(|e| (logit(three.q[e]) - logit(q[e]) - a).abs() < 1e-9));
    assert_eq!(moved(6).q, [0.0, 1.0, 1.0, 1.0, 1.0, 1.0], "what never goes does not go");
    assert_eq!(moved(0).q, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0], "what always goes does");
}

#[test]
fn threads_do_not_matter() {
    let scores: Vec<f64> = (0..50_000u32).map(|e| f64::from(e.wrapping_mul(2_654_435_761) % 1009)).collect();
    let z = mid_ranks(&scores).unwrap();
    let mask = BitMask::new(z.len(), false);
    let at = |threads| {
        let runtime = Runtime::threads(threads).unwrap();
        calibrate(runtime.exec(), &z, &mask, Target::Exact(15_000), 2.0, Curve::Sigmoid, Clip::default()).unwrap()
    };
    let one = at(1);
    assert!([2, 3, 8].iter().all(|&threads| at(threads) == one));
}
