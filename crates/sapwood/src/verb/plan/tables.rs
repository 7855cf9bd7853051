//! Plans as text.

use crate::verb::table::aligned;
use sapwood_plan::explain::items;
use sapwood_plan::report::{Stage, Summary};
use sapwood_plan::solve::{Considered, Infeasible};
use std::io::{Result, Write};

/// Digits that the largest number of a column has at most, unless it is whole.
const DIGITS: i32 = 6;

/// Numbers of a column: each with as many decimals as tell all of them, within [`DIGITS`].
pub(super) fn numbers(values: impl Iterator<Item = Option<f64>> + Clone) -> Vec<String> {
    let all = || values.clone().flatten();
    let largest = all().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let before = if largest > 0.0 { largest.log10().floor() as i32 + 1 } else { 0 };
    let needed = all().map(|value| value.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len()));
    let decimals = needed.max().unwrap_or(0).min((DIGITS - before).max(0) as usize);
    values.map(|value| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))).collect()
}

/// A number by itself.
pub(super) fn number(value: f64) -> String {
    numbers(std::iter::once(Some(value))).concat()
}

/// A plan: its sizes and makespan, a row for each stage, the bubble, the layout.
pub(super) fn plan(plan: &Summary, out: &mut dyn Write) -> Result<()> {
    let unit = plan.time_unit.as_deref().map_or_else(String::new, |unit| format!(" {unit}"));
    writeln!(
        out,
        "{}: {} stages, {} chunks, {} micro-batches: makespan {}{unit}",
        plan.schedule,
        plan.stages,
        plan.chunks,
        plan.micro_batches,
        number(plan.makespan)
    )?;
    stages(plan, out)?;
    let b = &plan.bubble;
    writeln!(
        out,
        "bubble {:.4} of the useful work = ideal {:.4} + imbalance {:.4} + recompute {:.4} + comm {:.4}",
        b.real, b.ideal, b.imbalance, b.recompute, b.comm
    )?;
    if let Some(throughput) = &plan.throughput {
        writeln!(out, "{} samples/s per replica", number(throughput.samples_per_s))?;
    }
    match &plan.layout {
        Some(layout) => writeln!(out, "layout {layout}"),
        None => Ok(()),
    }
}

fn stages(plan: &Summary, out: &mut dyn Write) -> Result<()> {
    let memory = plan.memory_unit.as_deref().map_or_else(String::new, |unit| format!(" {unit}"));
    let capped = plan.stage.iter().any(|stage| stage.cap.is_some());
    let layers = plan.places_layers();
    let mut head = vec!["stage".to_owned(), format!("peak{memory}")];
    head.extend(capped.then(|| "of cap".to_owned()));
    head.extend(["busy", "idle: warm-up", "steady", "drain", "critical"].map(String::from));
    if layers {
        head.extend((0..plan.chunks).map(|chunk| format!("chunk {chunk}")));
    }
    let column = |of: fn(&Stage) -> Option<f64>| numbers(plan.stage.iter().map(of));
    let peaks = column(|s| Some(s.peak));
    let times = [column(|s| s.busy), column(|s| s.idle_warmup), column(|s| s.idle_steady), column(|s| s.idle_drain)];
    let percent = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", 100.0 * share));
    let row = |(at, s): (usize, &Stage)| {
        let mut row = vec![s.stage.to_string(), peaks[at].clone()];
        row.extend(capped.then(|| percent(s.cap.map(|cap| s.peak / cap))));
        row.extend(times.each_ref().map(|column| column[at].clone()));
        row.push(percent(s.critical_share));
        if layers {
            row.extend(s.chunk.iter().map(items));
        }
        row
    };
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(plan.stage.iter().enumerate().map(row)).collect();
    aligned(&rows, out)
}

/// A row for each combination that was considered.
pub(super) fn considered(all: &[Considered], out: &mut dyn Write) -> Result<()> {
    let grouped = all.iter().any(|line| line.group.is_some());
    let set = all.iter().any(|line| line.recompute.is_some());
    let row = |cells: [String; 7]| {
        let [schedule, chunks, group, recompute, rest @ ..] = cells;
        let mut row = vec![schedule, chunks];
        row.extend(grouped.then_some(group));
        row.extend(set.then_some(recompute));
        row.extend(rest);
        row
    };
    let head = ["considered", "chunks", "groups", "recompute", "lower bound", "makespan", "outcome"].map(String::from);
    // Lines that differ in nothing but their setting of recomputation become one.
    let same = |a: &Considered, b: &Considered| {
        let key = |line: &Considered| (line.schedule.clone(), line.chunks, line.group.clone(), line.reason.clone());
        a.makespan.is_none() && b.makespan.is_none() && key(a) == key(b)
    };
    let lines: Vec<&[Considered]> = all.chunk_by(same).collect();
    let bounds = numbers(lines.iter().map(|lines| lines[0].lower_bound));
    let makespans = numbers(lines.iter().map(|lines| lines[0].makespan));
    let line = |(lines, (bound, makespan)): (&&[Considered], (String, String))| {
        let line = &lines[0];
        let many = format!("{} settings", lines.len());
        row([
            line.schedule.clone(),
            line.chunks.to_string(),
            line.group.clone().unwrap_or_else(|| "-".to_owned()),
            if lines.len() > 1 { many } else { line.recompute.clone().unwrap_or_else(|| "-".to_owned()) },
            bound,
            makespan,
            line.reason.clone(),
        ])
    };
    let rows = lines.iter().zip(bounds.into_iter().zip(makespans)).map(line);
    let rows: Vec<Vec<String>> = std::iter::once(row(head)).chain(rows).collect();
    aligned(&rows, out)
}

/// Why nothing fits, and what would.
pub(super) fn infeasible(found: &Infeasible, unit: &str, out: &mut dyn Write) -> Result<()> {
    let [need, cap, missing] = [found.need, found.cap, found.need - found.cap].map(number);
    writeln!(
        out,
        "stage {} is the tightest: in the nearest partition it needs {need} {unit} of {cap} {unit}, {missing} {unit} are missing",
        found.stage
    )?;
    for remedy in &found.remedies {
        let least = match remedy.step {
            Some(_) if remedy.change.starts_with("--stages") => ", the fewest".to_owned(),
            Some(step) if remedy.change.starts_with("--margin") => format!(", the most in steps of {step} per cent"),
            Some(step) => format!(", the least in steps of {step} {unit}"),
            None => String::new(),
        };
        writeln!(out, "a plan fits with {}{}", remedy.change, least.trim_end())?;
    }
    if found.remedies.is_empty() {
        writeln!(out, "none of the changes that were tried makes a plan fit")?;
    }
    Ok(())
}
