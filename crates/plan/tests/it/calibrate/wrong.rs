//! Files of measured peaks that are wrong: each message says where, nothing panics.

use super::{measured, wrong};
use proptest::prelude::*;
use sapwood_plan::calibrate::memory::fit;
use sapwood_plan::calibrate::times::{self, Options};
use sapwood_plan::calibrate::{Constant, parse};

const TOML: &str =
    "stages = 4\nkinds = [\"full\"]\n[[run]]\nlayers = [2, 3, 4, 2]\nfull = [0, 1, 2, 0]\npeak = [9, 8.5, \"-\", 6]\n";

const YAML: &str = "pipeline_config: {pipeline_num: 4, num_layer: 11, offset: [0, 1, 2, 0]}\n\
    recompute_config: {recompute: [0, 1, 2, 0], select_recompute: true, select_comm_recompute: false}\n\
    memory_usage:\n  head_memory: 9\n  tail_memory: 6\n  body_memories: {stage_id: [1, 2], memories: [8.5, 7]}\n\
    time_config: {head: 1, body: 2, tail: 3}\n";

#[test]
fn good_files_are_read_whole() {
    let toml = measured(TOML);
    assert_eq!((toml.stages, toml.chunks, toml.schedule.as_str(), toml.constant), (4, 1, "1f1b", Constant::Yes));
    assert_eq!(toml.kinds, ["none", "full"]);
    assert_eq!(toml.runs[0].counts, [[2, 0], [2, 1], [2, 2], [2, 0]]);
    assert_eq!(toml.runs[0].peaks, [Some(9.0), Some(8.5), None, Some(6.0)]);
    let yaml = measured(&format!("\u{feff}{}", YAML.replace('\n', "\r\n")));
    assert_eq!(
        (yaml.unit.as_deref(), yaml.times, yaml.constant),
        (Some("MB"), Some([1.0, 2.0, 3.0]), Constant::IfEnough)
    );
    assert_eq!(yaml.kinds, ["none", "selective", "communication", "both", "full"]);
    // Select is all layers, cumulative: what is not full is selective.
    assert_eq!(yaml.runs[0].counts[2], [0, 2, 0, 0, 2]);
    assert_eq!(yaml.runs[0].peaks, [Some(9.0), Some(8.5), Some(7.0), Some(6.0)]);
    let all = YAML.replace("select_recompute: true", "select_recompute: [1, 1, 3, 0]");
    let all = measured(&all.replace("select_comm_recompute: false", "select_comm_recompute: [2, 0, 4, 0]"));
    assert_eq!(all.runs[0].counts, [[0, 0, 1, 1, 0], [2, 0, 0, 0, 1], [0, 0, 1, 1, 2], [2, 0, 0, 0, 0]]);
    let chunks = "stages = 2\nchunks = 2\nlayers = 8\nmicro_batches = 6\ngroup = 3\nconstant = false\ntransient = true\n\
        [unit]\nmemory = \"GiB\"\n[[run]]\npeak = [1, 2]\n[[run]]\nlayers = [[1, 2], [3, 2]]\npeak = [1, 2]\n";
    let chunks = measured(chunks);
    assert_eq!(
        (chunks.schedule.as_str(), chunks.micro_batches, chunks.group.to_string()),
        ("interleaved", Some(6), "uniform:3".into())
    );
    assert_eq!((chunks.transient, chunks.constant, chunks.unit.as_deref()), (true, Constant::No, Some("GiB")));
    assert_eq!(
        (&chunks.runs[0].counts[..], &chunks.runs[1].counts[..]),
        (&[[2], [2], [2], [2]].map(Vec::from)[..], &[[1], [2], [3], [2]].map(Vec::from)[..])
    );
}

#[test]
fn toml_says_line_run_and_key() {
    let with = |from: &str, to: &str| wrong(&TOML.replacen(from, to, 1));
    let cases = [
        (with("stages = 4", "stages = "), "line 1: "),
        (with("stages = 4\n", ""), "the key stages is missing"),
        (with("stages = 4", "stages = 99999"), "line 1: 99999 stages of 1 chunks"),
        (with("stages = 4", "stages = 0"), "line 1: stages must be a whole number from 1 to"),
        (with("stages = 4", "stages = 99999999999"), "line 1: stages must be a whole number from 1 to"),
        (
            with("stages = 4", "stages = 4\nchunks = 2"),
            "line 5: run 1: layers: write 2 lists, one for each chunk, not 1",
        ),
        (with("stages = 4", "stages = 5"), "line 4: run 1: layers: a list of 4 for 5 stages"),
        (
            with("stages = 4", "stages = 4\nlayers = 12"),
            "line 5: run 1: its stages have 11 layers together, and layers says 12",
        ),
        (with("kinds", "kindz"), "line 2: unknown key kindz, did you mean kinds?"),
        (with("[\"full\"]", "[\"full\", \"full\"]"), "line 2: the kind full is there twice"),
        (with("[\"full\"]", "[3]"), "line 2: kinds must be a list of texts"),
        (with("[\"full\"]", "[\"peak\"]"), "line 2: peak is no kind"),
        (with("[\"full\"]", "\"full\""), "line 2: kinds must be a list of texts"),
        (with("[[run]]", "[[runs]]"), "line 3: unknown key runs, did you mean run?"),
        (with("[[run]]", "[run]"), "line 3: run must be an array of tables, write [[run]]"),
        (with("full = [", "fulll = ["), "line 5: run 1: unknown key fulll, did you mean full?"),
        (
            with("[0, 1, 2, 0]", "[0, 1, 5, 0]"),
            "line 5: run 1: stage 2 chunk 0 has 4 layers, and its kinds are 5 together",
        ),
        (with("[0, 1, 2, 0]", "[0, 1, -2, 0]"), "line 5: run 1: full must be whole numbers from 0 to 16384"),
        (with("[0, 1, 2, 0]", "[0, 1]"), "line 5: run 1: full: a list of 2 for 4 stages"),
        (with("full = [0, 1, 2, 0]", "none = [2, 2, 2, 2]"), "line 5: run 1: stage 1 chunk 0 has 3 layers"),
        (with("layers = [2, 3, 4, 2]\n", ""), "run 1: the key layers is missing"),
        (with("[2, 3, 4, 2]", "[2, 3, 4, 99999]"), "line 4: run 1: layers must be whole numbers from 0 to 16384"),
        (with("8.5", "-8.5"), "line 6: run 1: peak must be a list of numbers from 0 on"),
        (with("8.5", "nan"), "line 6: run 1: peak must be a list of numbers from 0 on"),
        (with("8.5", "\"x\""), "line 6: run 1: peak must be a list of numbers from 0 on"),
        (with("[9, 8.5, \"-\", 6]", "[9]"), "line 6: run 1: peak: a list of 1 for 4 stages"),
        (with("[9, 8.5, \"-\", 6]", "[\"-\", \"-\", \"-\", \"-\"]"), "no peak is measured"),
        (with("peak = [9, 8.5, \"-\", 6]\n", ""), "run 1: the key peak is missing"),
        (with("stages = 4", "stages = 4\nunit = {memory = \"xB\"}"), "\"xB\" is no unit of memory"),
        (with("stages = 4", "stages = 4\nunit = 3"), "line 2: unit must be a table"),
        (with("stages = 4", "stages = 4\nschedule = 3"), "line 2: schedule must be a text"),
        (with("stages = 4", "stages = 4\nconstant = 3"), "line 2: constant must be true or false"),
        (with("stages = 4", "stages = 4\nstages = 4"), "line 2: duplicate key"),
    ];
    for (found, part) in cases {
        assert!(found.starts_with("measured: ") && found.contains(part), "{found}\nlacks {part}");
    }
    let bytes = parse("m.toml", b"stages = 4\n\xff").unwrap_err().to_string();
    assert_eq!(bytes, "m.toml: line 2: no UTF-8 text");
    let fit_error = |text: &str| fit(&measured(text)).unwrap_err().to_string();
    assert!(
        wrong(&TOML.replacen("kinds", "schedule = \"1f1bb\"\nkinds", 1))
            .contains("line 2: unknown schedule '1f1bb', did you mean 1f1b?")
    );
    assert!(fit_error(&TOML.replacen("kinds", "schedule = \"gpipe\"\nkinds", 1)).contains("write micro_batches"));
    assert!(
        fit_error(&TOML.replacen("kinds", "micro_batches = 9000000\nkinds", 1)).contains("too many to walk through")
    );
}

#[test]
fn yaml_says_its_key() {
    let with = |from: &str, to: &str| {
        assert!(YAML.contains(from), "{from}");
        wrong(&YAML.replacen(from, to, 1))
    };
    let cases = [
        (with("pipeline_num: 4, ", ""), "pipeline_config: the key pipeline_num is missing"),
        (with("pipeline_num: 4", "pipeline_num: 0"), "pipeline_num is 0"),
        (with("pipeline_num: 4", "pipeline_num: 3"), "offset: [0,1,2,0] is no list of 3 numbers"),
        (with("num_layer: 11", "num_layer: 99999999"), "are too many"),
        (with("offset", "ofset"), "pipeline_config: unknown key ofset, did you mean offset?"),
        (with("[0, 1, 2, 0]}", "[0, 1, x, 0]}"), "offset: \"x\" is no whole number"),
        (with("[0, 1, 2, 0]}", "[0, 1, -9, 0]}"), "offset: -9 does not fit the 2 layers"),
        (
            with("recompute: [0, 1, 2, 0]", "recompute: [0, 1, 7, 0]"),
            "recompute: 7 of the 4 layers of stage 2 in run 1",
        ),
        (
            with("select_comm_recompute: false", "select_comm_recompute: [1, 1, 1]"),
            "select_comm_recompute: [1,1,1] is no list of 4",
        ),
        (
            with("select_comm_recompute: false", "select_comm_recompute: [[1], [2]]"),
            "select_comm_recompute: 2 lists for 1 runs",
        ),
        (with("select_recompute", "select_recompte"), "unknown key select_recompte, did you mean select_recompute?"),
        (with("  head_memory: 9\n", ""), "memory_usage: the key head_memory is missing"),
        (with("head_memory: 9", "head_memory: x"), "head_memory: \"x\" is no number"),
        (with("tail_memory: 6", "tail_memory: [6, 7]"), "tail_memory: 2 peaks for 1 runs"),
        (with("stage_id: [1, 2]", "stage_id: [1]"), "body_memories: 1 stages and 2 memories in run 1"),
        (with("stage_id: [1, 2]", "stage_id: [1, 3]"), "stage_id: 3 is no stage between the first and the last of 4"),
        (with("stage_id: [1, 2]", "stage_id: [1, 1]"), "stage_id: stage 1 is there twice in run 1"),
        (with("stage_id: [1, 2]", "stage_id: 1"), "stage_id: 1 is no list"),
        (with("memories: [8.5, 7]", "memories: [8.5, -7]"), "memories: -7 is no number from 0 on"),
        (with("body: 2", "body: -2"), "time_config: body must be a number"),
        (with("memory_usage:\n", "memory_usage:\n\t: {\n"), "measured: "),
    ];
    for (found, part) in cases {
        assert!(found.starts_with("measured: ") && found.contains(part), "{found}\nlacks {part}");
    }
    // One peak of the head for runs in which it holds different layers is of neither.
    let two = "pipeline_config: {pipeline_num: 4, num_layer: 8, offset: [[0, 1, -1, 0], [1, 0, -1, 0]]}\n\
        memory_usage: {head_memory: 9, tail_memory: 6, body_memories: {stage_id: [[1, 2], [1]], memories: [[8, 7], [8]]}}\n";
    assert!(
        wrong(two).contains("head_memory: one peak for runs in which stage 0 holds different layers"),
        "{}",
        wrong(two)
    );
    let both = measured(&two.replace("head_memory: 9", "head_memory: [9, \"-\"]"));
    assert_eq!((both.runs[0].peaks[0], both.runs[1].peaks[0], both.runs[1].peaks[3]), (Some(9.0), None, None));
    let off = measured(&YAML.replace("num_layer: 11", "num_layer: 9"));
    assert!(off.warnings[0].contains("the stages of run 1 have 11 layers, and num_layer is 9"), "{off:?}");
}

/// A text with a few places changed.
fn mutated(text: &'static str) -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "",
        "0",
        "-1",
        "[",
        "]",
        "{",
        "}",
        "\"",
        "'",
        ",",
        ":",
        "\n",
        "1e999",
        "99999999999999999999",
        "nan",
        "true",
        "null",
        "[[run]]",
        "layers",
        "&a",
        "*a",
        "\u{feff}",
        "é",
        "- ",
        "\t",
        "#",
        "fwd a",
        "\"ts\"",
    ]);
    prop::collection::vec((0usize..text.len(), 0usize..9, pieces), 1..5).prop_map(move |changes| {
        let mut chars: Vec<char> = text.chars().collect();
        for (at, length, piece) in changes {
            let at = at.min(chars.len());
            let end = (at + length).min(chars.len());
            chars.splice(at..end, piece.chars());
        }
        chars.into_iter().collect()
    })
}

const TRACE: &str = r#"{"traceEvents":[{"ph":"X","cat":"user_annotation","name":"forward:a.1","pid":1,"tid":2,"ts":1.5,"dur":2,
    "args":{"External id":3}},{"ph":"B","name":"bwd a","pid":1,"tid":2,"ts":"4"},{"ph":"E","pid":1,"tid":2,"ts":9}]}"#;
const TABLE: &str = "Name,Start (ns),Duration (ns),PID\nfwd a,1,2,3\n\"bwd a\",3,4,5\nfwd a,5,6,7\n";

/// Reads a text as everything; a message is all that may come of it.
fn read_all(bytes: &[u8]) {
    if let Ok(measured) = parse("any", bytes) {
        // Whatever is read can be judged, or refused.
        drop(fit(&measured));
    }
    let options = Options { warm_up: 0, ..Options::default() };
    if let Ok(times) = times::parse([("any", bytes)], &options) {
        assert!(times.layers.iter().all(|layer| layer.forward.value.is_finite() && layer.backward.value.is_finite()));
        times.toml().parse::<toml::Table>().unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_all(&bytes);
    }

    #[test]
    fn any_change_is_read_or_refused(
        toml in mutated(TOML), yaml in mutated(YAML), trace in mutated(TRACE), table in mutated(TABLE),
    ) {
        for text in [toml, yaml, trace, table] {
            read_all(text.as_bytes());
        }
    }
}
