//! Which runs to measure so that the costs come out, and come out well.
//!
//! A guide is a few runs, their layers and kinds of recomputation by stage, whose equations have full rank and a small condition
//! number. It is found by improving random configurations step by step; the random numbers are fixed, so the same question has
//! the same answer. All chunks of a stage hold the same, so that its heaviest moment does not depend on the costs.

use super::linear::Factors;
use super::measured::{Constant, MOST_LAYERS, Measured, Run, virtual_stages};
use super::memory::inverse;
use super::rows::{Moments, Row};
use super::system::{Column, System, guess};
use crate::schedule::Grouping;
use crate::solve::Express;
use crate::{Error, Result};
use sapwood_skeleton::random::{Purpose, Stream};

/// Runs beyond those that have as many equations as unknowns.
const MORE_RUNS: usize = 3;
/// Random configurations that are improved.
const STARTS: u32 = 6;
/// Steps of each, for few measured stages; less for many.
const STEPS: usize = 4_000;

/// What a guide is asked for.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Stages.
    pub stages: usize,
    /// Chunks of each stage.
    pub chunks: usize,
    /// Layers of the model.
    pub layers: usize,
    /// Name of the schedule.
    pub schedule: String,
    /// Micro-batches of a step; none: see [`Measured::micro_batches`].
    pub micro_batches: Option<usize>,
    /// How they are grouped.
    pub group: Grouping,
    /// Kinds of recomputation besides `none`.
    pub kinds: Vec<String>,
    /// Whether a constant for each stage is looked for.
    pub constant: bool,
    /// Whether the backward of a recomputed layer holds its activations once more.
    pub transient: bool,
    /// What the framework of the runs can state.
    pub express: Express,
    /// How many layers a chunk may have more or less than an equal share; none: a third of it.
    pub spread: Option<u32>,
    /// Runs; none: as few as it takes.
    pub runs: Option<usize>,
}

/// Runs to be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Guide {
    /// The runs, no peak of which is measured yet.
    pub measured: Measured,
    /// Unknowns, all of which the runs determine.
    pub rank: usize,
    /// Condition number of the equations, their columns scaled to unit norm.
    pub condition: f64,
    /// For each unknown by name the most that it moves if each peak is wrong by 1 at most.
    pub gains: Vec<(String, f64)>,
}

/// A configuration under search: layers of each kind in a chunk, by run and stage.
#[derive(Debug, Clone)]
struct State {
    counts: Vec<Vec<Vec<u32>>>,
    /// Kind and number of layers that all chunks of a run recompute, where a run has one setting.
    settings: Vec<(usize, u32)>,
}

/// What a step changes in a run.
struct Change {
    run: usize,
    stages: Vec<(usize, Vec<u32>)>,
    setting: Option<(usize, u32)>,
}

/// How far from its goal a configuration is: unknowns that it leaves open, condition number.
type Score = (usize, f64);

/// Finds runs to measure.
///
/// # Errors
/// [`Error::Problem`] for sizes that no runs determine, a kind that is there twice or that the framework does not have; as
/// [`super::memory::fit`].
pub fn search(wanted: &Wanted) -> Result<Guide> {
    let problem = |what: String| Error::Problem { what };
    let virtual_stages = virtual_stages(wanted.stages, wanted.chunks).map_err(problem)?;
    if wanted.layers < virtual_stages || wanted.layers > virtual_stages * (MOST_LAYERS as usize / 2) {
        let what = format!(
            "{} layers on {virtual_stages} chunks: each chunk needs a layer, and {MOST_LAYERS} are too many",
            wanted.layers
        );
        return Err(problem(what));
    }
    let blank = blank(wanted)?;
    let moments = Moments::of(&blank)?;
    let columns: Vec<Column> = (wanted.constant && wanted.stages > 2)
        .then_some(Column::Constant)
        .into_iter()
        .chain([Column::Parameters])
        .chain((0..blank.kinds.len()).map(Column::Activation))
        .collect();
    let least = wanted.runs.unwrap_or_else(|| {
        let settings = if wanted.express == Express::Megatron { blank.kinds.len() - 1 } else { 1 };
        least_runs(wanted.stages, columns.len()).max(settings)
    });
    let system = System { measured: &blank, columns };
    let most = wanted.runs.unwrap_or(least + MORE_RUNS);
    for runs in least..=most {
        let search = Search { wanted, system: &system, moments: &moments, runs };
        if let Some(state) = search.best()? {
            return Ok(search.guide(&state));
        }
    }
    let names: Vec<String> = system.columns.iter().map(|&column| system.name(column)).collect();
    Err(problem(format!(
        "no {most} runs were found that determine {}: let chunks differ by more layers, allow more runs, take a \
         schedule under which stages keep different numbers of micro-batches, or leave out the constant or a kind",
        names.join(", ")
    )))
}

/// Measurements without runs.
fn blank(wanted: &Wanted) -> Result<Measured> {
    let mut kinds = vec!["none".to_owned()];
    for kind in wanted.kinds.iter().filter(|kind| *kind != "none") {
        if kinds.contains(kind) {
            return Err(Error::Problem { what: format!("the kind {kind} is there twice") });
        }
        let known = ["selective", "communication", "both", "full"];
        if wanted.express == Express::Mindformers && !known.contains(&kind.as_str()) {
            return Err(Error::Problem { what: format!("MindFormers has no list for the kind {kind}") });
        }
        kinds.push(kind.clone());
    }
    Ok(Measured {
        stages: wanted.stages,
        chunks: wanted.chunks,
        schedule: wanted.schedule.clone(),
        micro_batches: wanted.micro_batches,
        group: wanted.group,
        kinds,
        all_kinds: true,
        constant: if wanted.constant { Constant::Yes } else { Constant::No },
        transient: wanted.transient,
        unit: None,
        times: None,
        runs: Vec::new(),
        warnings: Vec::new(),
    })
}

/// The fewest runs that have as many equations as unknowns.
fn least_runs(stages: usize, unknowns: usize) -> usize {
    let between = stages.saturating_sub(2);
    let equations = |runs: usize| runs * between + (runs - 1) * stages.min(2);
    (1..).find(|&runs| equations(runs) >= unknowns).unwrap_or(1)
}

/// A search for some runs.
struct Search<'a> {
    wanted: &'a Wanted,
    system: &'a System<'a>,
    moments: &'a Moments,
    runs: usize,
}

impl Search<'_> {
    /// The best configuration of all starts, none if none has full rank.
    fn best(&self) -> Result<Option<State>> {
        let stream = Stream::new(0, Purpose::Plan);
        let measured = self.runs * self.wanted.stages;
        let steps = (STEPS * 64 / measured.max(64)).max(200);
        let mut best: Option<(Score, State)> = None;
        for start in 0..STARTS {
            let mut state = self.start(|unit| Ok(stream.at(start, 0, unit)?[0]))?;
            let mut rows = self.rows(&state);
            let mut score = self.score(&rows);
            for step in 0..steps as u64 {
                let words = [stream.at(start, 1, step)?, stream.at(start, 2, step)?];
                let Some(change) = self.propose(&state, words) else { continue };
                let before = self.apply(&mut state, &mut rows, change);
                let next = self.score(&rows);
                // On a plateau of the rank any step may lead on.
                if next < score || next.0 > 0 && next == score {
                    score = next;
                } else {
                    self.apply(&mut state, &mut rows, before);
                }
            }
            if score.0 == 0 && best.as_ref().is_none_or(|(other, _)| score < *other) {
                best = Some((score, state));
            }
        }
        Ok(best.map(|(_, state)| state))
    }

    /// Equal shares, each stage with a random kind, or each run with a random setting.
    fn start(&self, mut random: impl FnMut(u64) -> Result<u32>) -> Result<State> {
        let (stages, kinds) = (self.wanted.stages, self.system.measured.kinds.len());
        let share = self.wanted.layers / self.wanted.chunks;
        let layers = |stage: usize| (share / stages + usize::from(stage < share % stages)) as u32;
        let mut state = State { counts: Vec::new(), settings: Vec::new() };
        for run in 0..self.runs {
            let setting = (
                pick(random(run as u64)?, kinds),
                1 + pick(random((run + self.runs) as u64)?, (share / stages).max(1)) as u32,
            );
            let mut all = Vec::with_capacity(stages);
            for stage in 0..stages {
                let kind = pick(random((2 * self.runs + run * stages + stage) as u64)?, kinds);
                all.push(match self.wanted.express {
                    Express::Megatron => self.under(setting, layers(stage)),
                    _ => of_kind(kinds, kind, layers(stage)),
                });
            }
            state.counts.push(all);
            state.settings.push(setting);
        }
        Ok(state)
    }

    /// The layers of a chunk under a setting of a run: full recomputes the first ones, other kinds all.
    fn under(&self, (kind, number): (usize, u32), layers: u32) -> Vec<u32> {
        let kinds = &self.system.measured.kinds;
        if kinds[kind] != "full" {
            return of_kind(kinds.len(), kind, layers);
        }
        let mut counts = of_kind(kinds.len(), kind, number.min(layers));
        counts[0] += layers - number.min(layers);
        counts
    }

    /// A random step: a layer to another stage, other kinds on a stage, or another setting of a run; none if it is not allowed.
    fn propose(&self, state: &State, [a, b]: [[u32; 4]; 2]) -> Option<Change> {
        let run = pick(a[0], self.runs);
        let (from, to) = (pick(a[1], self.wanted.stages), pick(a[2], self.wanted.stages));
        let kinds = self.system.measured.kinds.len();
        let of = |stage: usize| &state.counts[run][stage];
        let taken = |stage: usize| {
            let there: Vec<usize> = (0..kinds).filter(|&kind| of(stage)[kind] > 0).collect();
            there.get(pick(b[0], there.len().max(1))).copied()
        };
        let stages = if self.wanted.express == Express::Megatron {
            if a[3] % 2 == 0 {
                let most = (0..self.wanted.stages).map(|stage| of(stage).iter().sum::<u32>()).max().unwrap_or(1);
                let setting = (pick(b[1], kinds), 1 + pick(b[2], most as usize) as u32);
                let stages = (0..self.wanted.stages).map(|s| (s, self.under(setting, of(s).iter().sum()))).collect();
                return Some(Change { run, stages, setting: Some(setting) });
            }
            let resized = |stage: usize, by: i64| {
                let layers = u32::try_from(i64::from(of(stage).iter().sum::<u32>()) + by).ok()?;
                Some((stage, self.under(state.settings[run], layers)))
            };
            vec![resized(from, -1)?, resized(to, 1)?]
        } else if from == to || a[3] % 2 == 0 {
            let (less, more) = (taken(from)?, pick(b[1], kinds));
            let moved = 1 + pick(b[2], of(from)[less] as usize) as u32;
            let mut counts = of(from).clone();
            counts[less] -= moved;
            counts[more] += moved;
            vec![(from, counts)]
        } else {
            let (mut source, mut target) = (of(from).clone(), of(to).clone());
            source[taken(from)?] -= 1;
            target[pick(b[1], kinds)] += 1;
            vec![(from, source), (to, target)]
        };
        let kept = from != to || stages.len() == 1;
        (kept && stages.iter().all(|(_, counts)| self.allowed(counts))).then_some(Change { run, stages, setting: None })
    }

    /// Whether a chunk may hold so much.
    fn allowed(&self, counts: &[u32]) -> bool {
        let measured = self.system.measured;
        let layers: u32 = counts.iter().sum();
        let share = (self.wanted.layers / self.wanted.chunks) as u32;
        let (low, high) = (share / measured.stages as u32, share.div_ceil(measured.stages as u32));
        let spread = self.wanted.spread.unwrap_or((low / 3).max(1));
        let has = |name: &str| measured.kinds.iter().zip(counts).any(|(kind, &n)| kind == name && n > 0);
        let nested = self.wanted.express != Express::Mindformers || !(has("selective") && has("communication"));
        (low.saturating_sub(spread).max(1)..=high.saturating_add(spread)).contains(&layers) && nested
    }

    /// Makes a change; what undoes it.
    fn apply(&self, state: &mut State, rows: &mut [Row], change: Change) -> Change {
        let Change { run, stages, setting } = change;
        let before = setting.map(|setting| std::mem::replace(&mut state.settings[run], setting));
        let mut undone = Vec::with_capacity(stages.len());
        for (stage, counts) in stages {
            undone.push((stage, std::mem::replace(&mut state.counts[run][stage], counts)));
            rows[run * self.wanted.stages + stage] = self.row(state, run, stage);
        }
        Change { run, stages: undone, setting: before }
    }

    fn rows(&self, state: &State) -> Vec<Row> {
        let all = (0..self.runs).flat_map(|run| (0..self.wanted.stages).map(move |stage| (run, stage)));
        all.map(|(run, stage)| self.row(state, run, stage)).collect()
    }

    fn row(&self, state: &State, run: usize, stage: usize) -> Row {
        let guess = guess(self.system.measured.kinds.len(), 1.0, 0.1);
        let chunks: Vec<Vec<u32>> = (0..self.wanted.chunks).map(|chunk| self.chunk(state, run, stage, chunk)).collect();
        let chunks: Vec<&[u32]> = chunks.iter().map(Vec::as_slice).collect();
        let (moment, coefficients) = self.moments.row(&chunks, stage, &guess);
        Row { run, stage, moment, coefficients, peak: 0.0 }
    }

    /// A chunk of a stage. Layers that cannot be shared out among the chunks are on the first stage.
    fn chunk(&self, state: &State, run: usize, stage: usize, chunk: usize) -> Vec<u32> {
        let mut counts = state.counts[run][stage].clone();
        counts[0] += u32::from(stage == 0 && chunk < self.wanted.layers % self.wanted.chunks);
        counts
    }

    fn score(&self, rows: &[Row]) -> Score {
        let factors = Factors::of(&self.system.equations(rows).matrix, self.system.columns.len());
        (self.system.columns.len() - factors.rank(), factors.condition().unwrap_or(f64::INFINITY))
    }

    fn guide(&self, state: &State) -> Guide {
        let rows = self.rows(state);
        let mut measured = self.system.measured.clone();
        for run in 0..self.runs {
            let chunks =
                (0..self.wanted.chunks).flat_map(|chunk| (0..self.wanted.stages).map(move |stage| (stage, chunk)));
            let counts = chunks.map(|(stage, chunk)| self.chunk(state, run, stage, chunk)).collect();
            measured.runs.push(Run { counts, peaks: vec![None; self.wanted.stages] });
        }
        let (rank, condition, gains) = match self.system.solve(&rows) {
            Ok(solution) => {
                let gain = |row: &Vec<f64>| row.iter().map(|x| x.abs()).sum();
                let names = self.system.columns.iter().map(|&column| self.system.name(column));
                let gains = names.zip(inverse(&solution).iter().map(gain)).collect();
                (solution.factors.rank(), solution.factors.condition().unwrap_or(f64::INFINITY), gains)
            }
            Err(factors) => (factors.rank(), f64::INFINITY, Vec::new()),
        };
        Guide { measured, rank, condition, gains }
    }
}

/// One of `count` by a random word.
fn pick(word: u32, count: usize) -> usize {
    ((u64::from(word) * count as u64) >> 32) as usize
}

/// Layers all of one kind.
fn of_kind(kinds: usize, kind: usize, layers: u32) -> Vec<u32> {
    let mut counts = vec![0; kinds];
    counts[kind] = layers;
    counts
}
