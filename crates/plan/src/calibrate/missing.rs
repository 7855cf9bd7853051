//! What measurements leave open, and the cheapest ones that would settle it.

use super::linear::Factors;
use super::measured::Run;
use super::rows::{Moments, Row};
use super::system::{Column, System, end, guess};

/// Most stages that a further measurement is looked for at.
const MOST_STAGES: usize = 16;

/// Measurements that do not determine the costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undetermined {
    /// Names of the unknowns.
    pub unknowns: Vec<String>,
    /// Rank of the equations, less than there are unknowns.
    pub rank: usize,
    /// Unknowns that cannot be told apart; one alone is in no measurement.
    pub inseparable: Vec<Vec<String>>,
    /// What to measure besides, the cheapest first.
    pub measurements: Vec<Measurement>,
    /// Whether these settle all; if not, nothing that was tried does, as under a schedule by which all stages keep the same
    /// number of micro-batches.
    pub enough: bool,
    /// Whether all is determined if there is no constant.
    pub without_constant: bool,
}

/// The peak of one stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measurement {
    /// The run that has such a stage already, counted from 0; none: a new run.
    pub run: Option<usize>,
    /// The stage.
    pub stage: usize,
    /// Layers of each of its chunks.
    pub layers: Vec<u32>,
    /// How many of them have each kind of recomputation, by chunk; kinds that none has are left out.
    pub kinds: Vec<(String, Vec<u32>)>,
}

impl std::fmt::Display for Measurement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join("+");
        match self.run {
            Some(run) => write!(f, "stage {} of run {}", self.stage, run + 1)?,
            None => write!(f, "stage {} of a further run", self.stage)?,
        }
        write!(f, ", with {} layers", list(&self.layers))?;
        for (kind, counts) in &self.kinds {
            write!(f, ", {} of them {kind}", list(counts))?;
        }
        Ok(())
    }
}

/// What `rows`, whose equations have `factors`, leave open.
pub(super) fn find(system: &System<'_>, moments: &Moments, rows: &[Row], factors: &Factors) -> Undetermined {
    let name = |&column: &usize| system.name(system.columns[column]);
    let reduced = System {
        measured: system.measured,
        columns: system.columns.iter().copied().filter(|&column| column != Column::Constant).collect(),
    };
    let (measurements, enough) = further(system, moments, rows);
    Undetermined {
        unknowns: system.columns.iter().map(|&column| system.name(column)).collect(),
        rank: factors.rank(),
        inseparable: factors.dependent().iter().map(|group| group.iter().map(name).collect()).collect(),
        measurements,
        enough,
        without_constant: reduced.columns.len() < system.columns.len() && rank(&reduced, rows) == reduced.columns.len(),
    }
}

fn rank(system: &System<'_>, rows: &[Row]) -> usize {
    Factors::of(&system.equations(rows).matrix, system.columns.len()).rank()
}

/// Measurements that raise the rank one by one, the cheapest first each time, and whether they raise it to all.
fn further(system: &System<'_>, moments: &Moments, rows: &[Row]) -> (Vec<Measurement>, bool) {
    let candidates = candidates(system);
    let mut rows = rows.to_vec();
    let mut found = Vec::new();
    let mut reached = rank(system, &rows);
    while reached < system.columns.len() {
        let raises = |candidate: &&Candidate| {
            let with = [&rows[..], &[candidate.row(system, moments)]].concat();
            rank(system, &with) > reached
        };
        // The first measurement of an end says nothing by itself, the second one does.
        let first = |candidate: &&Candidate| {
            end(system.measured, candidate.stage).is_some() && rows.iter().all(|row| row.stage != candidate.stage)
        };
        let best = candidates.iter().find(raises).or_else(|| candidates.iter().find(first));
        let Some(best) = best else { return (found, false) };
        rows.push(best.row(system, moments));
        found.push(best.measurement(system));
        reached = rank(system, &rows);
    }
    (found, true)
}

/// A stage that may be measured.
struct Candidate {
    /// The run that has it; none for a new one.
    run: Option<usize>,
    stage: usize,
    /// Layers by chunk and kind.
    counts: Vec<Vec<u32>>,
}

impl Candidate {
    fn row(&self, system: &System<'_>, moments: &Moments) -> Row {
        let measured = system.measured;
        let chunks: Vec<&[u32]> = self.counts.iter().map(Vec::as_slice).collect();
        let (moment, coefficients) = moments.row(&chunks, self.stage, &guess(measured.kinds.len(), 1.0, 0.1));
        Row { run: self.run.unwrap_or(measured.runs.len()), stage: self.stage, moment, coefficients, peak: 0.0 }
    }

    fn measurement(&self, system: &System<'_>) -> Measurement {
        let of = |kind: usize| self.counts.iter().map(|counts| counts[kind]).collect::<Vec<u32>>();
        let names = system.measured.kinds.iter().enumerate().skip(1);
        Measurement {
            run: self.run,
            stage: self.stage,
            layers: self.counts.iter().map(|counts| counts.iter().sum()).collect(),
            kinds: names
                .map(|(kind, name)| (name.clone(), of(kind)))
                .filter(|(_, n)| n.iter().any(|&n| n > 0))
                .collect(),
        }
    }
}

/// What could be measured, the cheapest first: stages of runs that there are, then stages of a further run, by how many layers
/// are different from the first run.
fn candidates(system: &System<'_>) -> Vec<Candidate> {
    let measured = system.measured;
    let between = |stage: &usize| measured.stages <= 2 || end(measured, *stage).is_none();
    let stages: Vec<usize> = (0..measured.stages).filter(between).collect();
    let at = |run: &Run, stage: usize| -> Vec<Vec<u32>> {
        (stage..run.counts.len()).step_by(measured.stages).map(|at| run.counts[at].clone()).collect()
    };
    let known = |counts: &[Vec<u32>]| {
        let is_column = |kind: usize| system.columns.contains(&Column::Activation(kind));
        counts.iter().all(|counts| counts.iter().enumerate().all(|(kind, &n)| n == 0 || is_column(kind)))
    };
    let mut found = Vec::new();
    for (run, own) in measured.runs.iter().enumerate() {
        for &stage in stages.iter().filter(|&&stage| own.peaks[stage].is_none()) {
            found.push((0, Candidate { run: Some(run), stage, counts: at(own, stage) }));
        }
    }
    let kinds: Vec<usize> =
        (0..measured.kinds.len()).filter(|&kind| system.columns.contains(&Column::Activation(kind))).collect();
    if let Some(first) = measured.runs.first() {
        for &stage in stages.iter().take(MOST_STAGES) {
            for (cost, counts) in changed(&at(first, stage), &kinds) {
                found.push((cost, Candidate { run: None, stage, counts }));
            }
        }
    }
    found.retain(|(_, candidate)| known(&candidate.counts));
    found.sort_by_key(|(cost, _)| *cost);
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

/// A stage with up to two layers more or less in its first chunk and up to two of another kind, with how many those are.
fn changed(base: &[Vec<u32>], kinds: &[usize]) -> Vec<(u32, Vec<Vec<u32>>)> {
    let mut found = Vec::new();
    let Some(chunk) = base.first() else { return found };
    for more in [0i64, 1, -1, 2, -2] {
        for &of in kinds {
            let mut sized = chunk.clone();
            let Ok(count) = u32::try_from(i64::from(sized[of]) + more) else { continue };
            sized[of] = count;
            if sized.iter().all(|&n| n == 0) {
                continue;
            }
            let cost = 1 + more.unsigned_abs() as u32;
            let mut add = |cost: u32, counts: Vec<u32>| {
                let mut all = base.to_vec();
                all[0] = counts;
                found.push((cost, all));
            };
            add(cost, sized.clone());
            for (&from, &to) in kinds.iter().flat_map(|from| kinds.iter().map(move |to| (from, to))) {
                for moved in (1..=2).filter(|&moved| from != to && sized[from] >= moved) {
                    let mut counts = sized.clone();
                    counts[from] -= moved;
                    counts[to] += moved;
                    add(cost + moved, counts);
                }
            }
        }
    }
    found
}
