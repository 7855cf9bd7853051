//! Importers and exporters.

mod flags;
mod megatron;
mod megatron_twin;
mod mindformers;
mod shortest;

use sapwood_plan::baseline;
use sapwood_plan::export::{self, Plan};
use sapwood_plan::import;
use sapwood_plan::layout::{Layout, Run};
use sapwood_plan::model::{KindCost, MemoryUnit, Model, Role, Segment, readers};
use sapwood_plan::problem::Problem;
use sapwood_plan::recompute::{BUILT_IN, Kind};
use sapwood_plan::schedule::{self, Dims, Grouping};
use sapwood_plan::simulate::Order;

/// A segment with all built-in kinds.
fn segment(name: &str, role: Role, count: u32) -> Segment {
    let kind = |kind: &Kind| KindCost { name: kind.name.to_owned(), activation: 1.0, extra: 0.0, transient: 0.0 };
    Segment {
        name: name.to_owned(),
        role,
        count,
        forward: 1.0,
        backward: 2.0,
        weight: 1.0,
        parameters: 1.0,
        kinds: BUILT_IN.iter().map(kind).collect(),
    }
}

/// An embedding, segments of so many layers, a loss.
fn model(body: &[u32]) -> Model {
    let mut segments = vec![segment("head", Role::Head, 1)];
    segments.extend(body.iter().enumerate().map(|(at, &n)| segment(&format!("body{at}"), Role::Body, n)));
    segments.push(segment("tail", Role::Tail, 1));
    Model {
        name: "model".to_owned(),
        segments,
        constant: Vec::new(),
        tails: Vec::new(),
        link: 0.0,
        time_unit: None,
        memory_unit: MemoryUnit::Raw,
        warnings: Vec::new(),
    }
}

/// The layout of (none, selective, communication, both, full) of one segment by virtual stage.
fn layout(rows: &[[u32; 5]]) -> Layout {
    let chunk = |(at, row): (usize, &[u32; 5])| {
        let body = (0..5).rev().map(|kind| Run { segment: 1, kind, count: row[kind] });
        let head = (at == 0).then_some(Run { segment: 0, kind: 0, count: 1 });
        let tail = (at + 1 == rows.len()).then_some(Run { segment: 2, kind: 0, count: 1 });
        head.into_iter().chain(body.filter(|run| run.count > 0)).chain(tail).collect()
    };
    Layout { chunks: rows.iter().enumerate().map(chunk).collect() }
}

fn layers(layout: &Layout) -> u32 {
    layout.chunks.iter().flatten().filter(|run| run.segment == 1).map(|run| run.count).sum()
}

/// A plan of a layout; fields are changed where a test is about them.
fn plan<'a>(model: &'a Model, layout: &'a Layout, stages: usize) -> Plan<'a> {
    let chunks = layout.chunks.len() / stages;
    let schedule = if chunks == 1 { "1f1b" } else { "interleaved" };
    Plan { model, layout, schedule, stages, chunks, micro_batches: 2 * stages, group: Grouping::First }
}

fn written(name: &str, plan: &Plan<'_>) -> Result<String, String> {
    export::write(export::find(name).unwrap(), plan).map_err(|e| e.to_string())
}

fn read(name: &str, text: &str, model: &Model, options: &import::Options) -> Result<import::Imported, String> {
    import::read(import::find(name).unwrap(), text, model, options).map_err(|e| e.to_string())
}

/// The plan of one chunk of the reference instance, in the order none, selective, communication, both, full.
const ONE_CHUNK: [[u32; 5]; 16] = [
    [0, 0, 0, 5, 1],
    [1, 0, 0, 5, 0],
    [0, 2, 0, 4, 0],
    [0, 3, 0, 3, 0],
    [0, 4, 0, 2, 0],
    [0, 5, 0, 1, 0],
    [0, 6, 0, 0, 0],
    [2, 4, 0, 0, 0],
    [5, 1, 0, 0, 0],
    [6, 0, 0, 0, 0],
    [7, 0, 0, 0, 0],
    [7, 0, 0, 0, 0],
    [7, 0, 0, 0, 0],
    [6, 0, 0, 0, 0],
    [5, 0, 0, 0, 0],
    [4, 0, 0, 0, 0],
];

/// The plan of two chunks, (none, selective, both, full) by virtual stage.
const TWO_CHUNKS: [[u32; 4]; 32] = [
    [0, 0, 0, 2],
    [0, 0, 1, 1],
    [0, 0, 0, 2],
    [0, 0, 1, 1],
    [0, 0, 1, 1],
    [0, 0, 1, 1],
    [0, 0, 1, 1],
    [0, 0, 2, 0],
    [0, 1, 0, 1],
    [0, 1, 2, 0],
    [0, 1, 2, 0],
    [1, 0, 2, 0],
    [0, 2, 1, 0],
    [1, 1, 1, 0],
    [0, 2, 2, 0],
    [1, 0, 3, 0],
    [0, 1, 3, 0],
    [0, 1, 3, 0],
    [0, 3, 1, 0],
    [0, 1, 3, 0],
    [1, 0, 3, 0],
    [0, 2, 2, 0],
    [0, 2, 2, 0],
    [0, 1, 3, 0],
    [1, 0, 3, 0],
    [0, 1, 2, 0],
    [0, 2, 1, 0],
    [1, 0, 2, 0],
    [1, 1, 1, 0],
    [0, 3, 0, 0],
    [1, 2, 0, 0],
    [1, 0, 0, 0],
];

fn two_chunks() -> Layout {
    layout(&TWO_CHUNKS.map(|[none, selective, both, full]| [none, selective, 0, both, full]))
}

#[test]
fn every_file_is_registered() {
    // Every file with an entry is a line of the registry, under the name that stands in it.
    let check = |folder: &str, names: Vec<&str>| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder);
        let source = |file: std::fs::DirEntry| {
            let path = if file.path().is_dir() { file.path().join("mod.rs") } else { file.path() };
            std::fs::read_to_string(path).unwrap()
        };
        let sources = std::fs::read_dir(path).unwrap().map(|file| source(file.unwrap()));
        let name = |text: String| {
            let entry = text.split_once("const ENTRY: Entry")?.1.split_once("name: \"")?.1;
            Some(entry.split_once('"')?.0.to_owned())
        };
        let mut found: Vec<String> = sources.filter_map(name).collect();
        found.sort();
        let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        names.sort();
        assert_eq!(found, names, "{folder}");
    };
    check("schedule", schedule::ALL.iter().map(|e| e.name).collect());
    check("baseline", baseline::ALL.iter().map(|e| e.name).collect());
    check("model/readers", readers::ALL.iter().map(|e| e.name).collect());
    check("import", import::ALL.iter().map(|e| e.name).collect());
    check("export", export::ALL.iter().map(|e| e.name).collect());
    assert!(import::find("megatron_flag").unwrap_err().to_string().contains("did you mean megatron_flags?"));
    assert!(export::find("megatro").unwrap_err().to_string().contains("did you mean megatron?"));
}

#[test]
fn plans_of_the_reference_file_are_exchanged() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/plan/llama70b-sapp.json");
    let model = readers::read(&path, &readers::Options::default()).unwrap();
    let problem = Problem::new(model, &[56_000.0; 16], &[]).unwrap();
    for (schedule, chunks) in [("1f1b", 1), ("interleaved", 2)] {
        let dims = Dims { stages: 16, chunks, micro_batches: 32, group: Grouping::First };
        let order = Order::new(schedule::find(schedule).unwrap(), &dims).unwrap();
        let rows: Vec<[u32; 5]> = if chunks == 1 {
            ONE_CHUNK.to_vec()
        } else {
            TWO_CHUNKS.map(|[none, selective, both, full]| [none, selective, 0, both, full]).to_vec()
        };
        let items = problem.items();
        let count = |row: &[u32; 5], at: usize, of: usize| match items[of].segment {
            1 => [row[0], row[1], row[3], row[4]][items[of].kind],
            0 => u32::from(at == 0),
            _ => u32::from(at + 1 == 16 * chunks),
        };
        let counts: Vec<u32> =
            rows.iter().enumerate().flat_map(|(at, row)| (0..items.len()).map(move |of| count(row, at, of))).collect();
        let layout = Layout::of_counts(&problem, &counts);
        let plan = Plan::new(&problem, &order, &layout);
        let text = written("mindformers", &plan).unwrap();
        let imported = read("mindformers_yaml", &text, problem.model(), &import::Options::default()).unwrap();
        assert_eq!((&imported.layout, imported.micro_batches), (&layout, Some(32)));
        assert!(written("megatron", &plan).unwrap_err().contains("one setting of recomputation"));
    }
}
