//! Memory: known decompositions of measured peaks.

use super::{found, measured, open, without_constant};
use sapwood_plan::calibrate::Measured;
use sapwood_plan::calibrate::memory::Fit;
use sapwood_plan::model::{Role, readers};

/// 16 stages of 6 layers; (stage, communication, full, peak).
const ONE_RUN: [(usize, u32, u32, u32); 6] =
    [(0, 1, 1, 80267), (1, 0, 1, 71519), (2, 0, 1, 67376), (3, 0, 2, 52962), (9, 2, 0, 39373), (15, 0, 1, 16386)];

fn one_run(constant: bool) -> String {
    let mut lists = [vec!["0".to_owned(); 16], vec!["0".to_owned(); 16], vec!["\"-\"".to_owned(); 16]];
    for (stage, communication, full, peak) in ONE_RUN {
        for (list, value) in lists.iter_mut().zip([communication, full, peak]) {
            list[stage] = value.to_string();
        }
    }
    let [communication, full, peak] = lists.map(|list| list.join(", "));
    format!(
        "stages = 16\nlayers = 96\nkinds = [\"communication\", \"full\"]\nconstant = {constant}\n[[run]]\n\
         communication = [{communication}]\nfull = [{full}]\npeak = [{peak}]\n"
    )
}

const DRY_RUN: &str = "
pipeline_config:
  pipeline_num: 16
  num_layer: 96
  offset: [-1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1]
recompute_config:
  recompute: false
  select_recompute: [1, 0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 1, 2, 0, 0, 1]
  select_comm_recompute: [1, 0, 0, 0, 0, 0, 0, 1, 1, 2, 1, 1, 2, 0, 0, 1]
memory_usage:
  head_memory: 77698
  tail_memory: 21822
  body_memories:
    stage_id: [6,9,10,11,12,13]
    memories: [49732,50435,32341,41228,23134,30998]
";

const TWO_RUNS: &str = "
pipeline_config:
  pipeline_num: 4
  num_layer: 80
  offset: [[0,1,-1,0],[0,-1,1,0]]
recompute_config:
  recompute: [[1,2,1,1],[1,3,4,1]]
  select_recompute: [false,false]
  select_comm_recompute: [false,false]
memory_usage:
  head_memory: 66502
  tail_memory: 25599
  body_memories:
    stage_id: [[1,2],[1,2]]
    memories: [[52536,35595],[45439,35700]]
";

fn value(fit: &Fit, name: &str) -> f64 {
    let unknown = fit.unknowns.iter().find(|unknown| unknown.name == name);
    unknown.unwrap_or_else(|| panic!("no {name} in {fit:?}")).value
}

fn assert_values(fit: &Fit, expected: &[(&str, f64)], tolerance: f64) {
    assert_eq!(fit.unknowns.len() + 2, expected.len(), "{fit:?}");
    for &(name, expected) in expected {
        let found = match name {
            "head" => fit.head.unwrap(),
            "tail" => fit.tail.unwrap(),
            name => value(fit, name),
        };
        assert!((found - expected).abs() <= tolerance, "{name}: {found}, not {expected}");
    }
}

#[test]
fn golden_a_as_many_stages_as_unknowns() {
    let fit = found(&measured(&one_run(false)));
    let expected = [
        ("parameters", 1562.33),
        ("activation.none", 822.18),
        ("activation.full", 32.10),
        ("activation.communication", 498.43),
        ("head", 9785.04),
        ("tail", 2869.00),
    ];
    assert_values(&fit, &expected, 0.01);
    assert_eq!(fit.rank, 4);
    assert!(fit.unknowns.iter().all(|unknown| unknown.ci95.is_none() && unknown.gain > 0.0), "{fit:?}");
    assert!(fit.residuals.len() == 4 && fit.residuals.iter().all(|r| (r.peak - r.fitted).abs() < 1e-4), "{fit:?}");
    assert_eq!(fit.warnings, [""; 0]);
}

#[test]
fn golden_b_cumulative_lists_and_a_constant() {
    let fit = found(&measured(DRY_RUN));
    let expected = [
        ("constant", -1896.75),
        ("parameters", 2141.75),
        ("activation.none", 852.50),
        ("activation.both", 511.50),
        ("activation.communication", 535.86),
        ("activation.selective", 767.25),
        ("head", 4245.5),
        ("tail", 1203.5),
    ];
    assert_values(&fit, &expected, 0.3);
    assert!((fit.condition - 39.0105113662).abs() < 1e-7, "{fit:?}");
    assert_eq!((fit.rank, fit.warnings.len()), (6, 1), "{fit:?}");
    assert!(fit.warnings[0].contains("constant is -1896.75, below 0"), "{fit:?}");
}

#[test]
fn golden_c_least_squares_over_two_runs() {
    let fit = found(&without_constant(TWO_RUNS));
    let expected = [
        ("parameters", 448.37),
        ("activation.none", 743.89),
        ("activation.full", 128.44),
        ("head", 485.41),
        ("tail", 2369.32),
    ];
    assert_values(&fit, &expected, 0.01);
    let largest = fit.residuals.iter().map(|r| (r.peak - r.fitted).abs()).fold(0.0, f64::max);
    assert!((largest - 57.44).abs() < 0.01, "{largest}");
    // From NumPy and SciPy: one degree of freedom is left, t = 12.706.
    let by_peers = [
        ("parameters", 151.852124, 0.25000123),
        ("activation.none", 66.07066, 0.09738207),
        ("activation.full", 232.381169, 0.3651309),
    ];
    for (unknown, (name, ci95, gain)) in fit.unknowns.iter().zip(by_peers) {
        assert_eq!(unknown.name, name);
        assert!((unknown.ci95.unwrap() - ci95).abs() < 1e-3 && (unknown.gain - gain).abs() < 1e-7, "{unknown:?}");
    }
    assert!((fit.condition - 11.658417781).abs() < 1e-7, "{fit:?}");
    assert_eq!(fit.residuals.iter().map(|r| (r.run, r.stage)).collect::<Vec<_>>(), [(0, 1), (0, 2), (1, 1), (1, 2)]);
}

#[test]
fn the_same_layers_everywhere_leave_the_constant_open() {
    let open = open(&measured(&one_run(true)));
    assert_eq!((open.rank, open.unknowns.len()), (4, 5));
    assert!(open.inseparable[0].contains(&"constant".to_owned()), "{open:?}");
    assert!(open.without_constant, "{open:?}");
    // Stages without a peak have the same number of layers, too: another number is needed.
    assert_eq!(open.measurements.len(), 1, "{open:?}");
    let first = &open.measurements[0];
    assert!(first.run.is_none() && first.layers != [6], "{open:?}");
    assert!(first.to_string().starts_with("stage 1 of a further run, with "), "{first}");
}

#[test]
fn what_no_stage_has_is_named() {
    let text = |full: &str, peak: &str| {
        format!("stages = 5\nkinds = [\"full\"]\n[[run]]\nlayers = [4, 5, 4, 6, 4]\nfull = {full}\npeak = {peak}\n")
    };
    let none = open(&measured(&text("[0, 0, 0, 0, 0]", "[90, 80, 70, 60, 50]")));
    assert_eq!((none.rank, &none.inseparable[0][..]), (3, &["activation.full".to_owned()][..]));
    assert!(!none.without_constant);
    assert!(none.measurements[0].kinds.iter().any(|(kind, n)| kind == "full" && n[0] > 0), "{none:?}");
    // The stage that would tell is there, its peak alone is missing.
    let unread = open(&measured(&text("[0, 0, 0, 2, 0]", "[90, 80, 70, \"-\", 50]")));
    let first = &unread.measurements[0];
    assert_eq!(
        (first.run, first.stage, first.to_string()),
        (Some(0), 3, "stage 3 of run 1, with 6 layers, 2 of them full".to_owned())
    );
}

#[test]
fn what_settles_it_settles_it() {
    // Measuring what is asked for makes the rank full, whatever the peaks are.
    let mut measured = measured(&one_run(true));
    for measurement in open(&measured).measurements {
        let mut run = measured.runs[0].clone();
        run.peaks = vec![None; 16];
        run.peaks[measurement.stage] = Some(50_000.0);
        let mut counts = vec![measurement.layers[0], 0, 0];
        for (kind, n) in &measurement.kinds {
            let at = measured.kinds.iter().position(|other| other == kind).unwrap();
            counts[at] = n[0];
            counts[0] -= n[0];
        }
        run.counts[measurement.stage] = counts;
        measured.runs.push(run);
    }
    assert_eq!(found(&measured).rank, 5);
}

#[test]
fn a_dry_run_with_too_few_stages_has_no_constant() {
    let text = DRY_RUN.replace("[6,9,10,11,12,13]", "[6,9,10,11,12]").replace(",30998]", "]");
    let fit = found(&measured(&text));
    assert_eq!((fit.rank, fit.unknowns[0].name.as_str()), (5, "parameters"));
    assert!(
        fit.warnings.iter().any(|warning| warning.contains("too few stages are measured to find a constant")),
        "{fit:?}"
    );
    // Kinds that no measured stage has are no unknowns of a dry run.
    let fit = found(&without_constant(TWO_RUNS));
    assert_eq!(fit.unknowns.len(), 3);
}

#[test]
fn ends_alone_tell_by_their_differences() {
    // Two stages, M 4: stage 0 keeps 2 micro-batches, stage 1 one. Parameters 5, activations 10 and 1, head 100, tail 50.
    let run = |layers: [u32; 2], full: [u32; 2]| {
        let peak = |stage: usize| {
            let kept = 10 * (layers[stage] - full[stage]) + full[stage];
            [100, 50][stage] + 5 * layers[stage] + [2, 1][stage] * kept
        };
        format!("[[run]]\nlayers = {layers:?}\nfull = {full:?}\npeak = [{}, {}]\n", peak(0), peak(1))
    };
    let head = "stages = 2\nmicro_batches = 4\nkinds = [\"full\"]\n";
    let two = head.to_owned() + &run([4, 4], [0, 1]) + &run([3, 5], [1, 1]);
    let open = open(&measured(&two));
    assert_eq!((open.rank, open.unknowns.len(), open.enough, open.measurements.len()), (2, 3, true, 1), "{open:?}");
    let fit = found(&measured(&(two + &run([5, 3], [3, 0]))));
    assert_values(
        &fit,
        &[("parameters", 5.0), ("activation.none", 10.0), ("activation.full", 1.0), ("head", 100.0), ("tail", 50.0)],
        1e-9,
    );
    assert_eq!(fit.residuals.len(), 6);
    assert!(fit.warnings[0].contains("the constant is part of both"), "{fit:?}");
    // A peak that is wrong by 6; from NumPy with head and tail as unknowns among the others.
    let mut off = measured(&(head.to_owned() + &run([4, 4], [0, 1]) + &run([3, 5], [1, 1]) + &run([5, 3], [3, 0])));
    off.runs[2].peaks[0] = off.runs[2].peaks[0].map(|peak| peak + 6.0);
    let fit = found(&off);
    let by_peer = [(2.738462, 6.215529, 3.276923), (11.892308, 4.242413, 2.415385), (3.630769, 3.904711, 2.138462)];
    for (unknown, (value, ci95, gain)) in fit.unknowns.iter().zip(by_peer) {
        let off = [unknown.value - value, unknown.ci95.unwrap() - ci95, unknown.gain - gain];
        assert!(off.iter().all(|off| off.abs() < 1e-5), "{unknown:?}");
    }
    let ends = [(fit.head, 93.938462), (fit.tail, 50.984615)];
    assert!(ends.iter().all(|(found, end)| (found.unwrap() - end).abs() < 1e-5), "{fit:?}");
    // From one peak of one end, with what to measure at it.
    let one = "stages = 2\nkinds = [\"full\"]\n[[run]]\nlayers = [4, 4]\nfull = [1, 1]\npeak = [200, \"-\"]\n";
    let open = super::open(&measured(one));
    assert!(open.enough && open.measurements.len() >= 3, "{open:?}");
    // One stage is both ends.
    let single = "stages = 1\n[[run]]\nlayers = [4]\npeak = [200]\n[[run]]\nlayers = [6]\npeak = [260]\n[[run]]\nlayers = [7]\npeak = [290]\n";
    let open = super::open(&measured(single));
    assert!(!open.enough && open.inseparable == [["parameters", "activation.none"]], "{open:?}");
}

#[test]
fn all_stages_keep_the_same_under_gpipe() {
    let text = "stages = 4\nmicro_batches = 3\nschedule = \"gpipe\"\nconstant = false\n[[run]]\nlayers = [3, 4, 5, 6]\npeak = [9, 8, 7, 6]\n";
    let open = open(&measured(text));
    assert!(!open.enough && open.measurements.is_empty(), "{open:?}");
}

#[test]
fn what_is_printed_is_a_model() {
    let text = format!("{TWO_RUNS}time_config: {{head: 10, body: 90, tail: 180}}\n");
    let measured = without_constant(&text);
    let toml = found(&measured).toml(&measured);
    let model = readers::parse("costs", toml.as_bytes(), &readers::Options::default()).unwrap();
    let of = |at: usize| (model.segments[at].role, model.segments[at].count, model.segments[at].forward);
    assert_eq!([of(0), of(1), of(2)], [(Role::Head, 1, 10.0), (Role::Body, 80, 90.0), (Role::Tail, 1, 180.0)]);
    let body = &model.segments[1];
    assert!((body.parameters - 448.37).abs() < 0.01 && (body.kinds[1].activation - 128.44).abs() < 0.01, "{body:?}");
    assert_eq!((model.memory_unit.name(), body.kinds[1].name.as_str()), ("MB", "full"));
    // Constant 7, parameters 5, activations 10 and 1, head 100, tail 50: the constant is stated apart.
    let text = "stages = 5\nkinds = [\"full\"]\n\
        [[run]]\nlayers = [4, 5, 4, 6, 4]\nfull = [0, 0, 2, 0, 0]\npeak = [327, 232, 93, 157, 117]\n\
        [[run]]\nlayers = [4, 4, 6, 5, 4]\nfull = [0, 1, 0, 0, 0]\npeak = [\"-\", 151, 217, 132, \"-\"]\n";
    let measured = Measured { times: Some([1.0; 3]), ..super::measured(text) };
    let toml = found(&measured).toml(&measured);
    let model = readers::parse("costs", toml.as_bytes(), &readers::Options::default()).unwrap();
    let memory: Vec<f64> = model.segments.iter().map(|segment| segment.parameters).collect();
    assert_eq!((model.constant, memory), (vec![7.0], vec![100.0, 5.0, 50.0]));
}
