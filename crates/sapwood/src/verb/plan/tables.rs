//! Plans as text.

use crate::verb::table::aligned;
use sapwood_plan::explain::items;
use sapwood_plan::report::{Stage, Summary};
use sapwood_plan::solve::{Considered, Infeasible};
use std::io::{Result, Write};

/// A plan: its sizes and makespan, a row for each stage, the bubble, the layout.
pub(super) fn plan(plan: &Summary, out: &mut dyn Write) -> Result<()> {
    let unit = plan.time_unit.as_deref().map_or_else(String::new, |unit| format!(" {unit}"));
    writeln!(
        out,
        "{}: {} stages, {} chunks, {} micro-batches: makespan {}{unit}",
        plan.schedule, plan.stages, plan.chunks, plan.micro_batches, plan.makespan
    )?;
    stages(plan, out)?;
    let b = &plan.bubble;
    writeln!(
        out,
        "bubble {:.4} of the useful work = ideal {:.4} + imbalance {:.4} + recompute {:.4} + comm {:.4}",
        b.real, b.ideal, b.imbalance, b.recompute, b.comm
    )?;
    if let Some(throughput) = &plan.throughput {
        writeln!(out, "{:.4} samples/s", throughput.samples_per_s)?;
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
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| v.to_string());
    let percent = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", 100.0 * share));
    let row = |s: &Stage| {
        let mut row = vec![s.stage.to_string(), s.peak.to_string()];
        row.extend(capped.then(|| percent(s.cap.map(|cap| s.peak / cap))));
        row.extend([s.busy, s.idle_warmup, s.idle_steady, s.idle_drain].map(shown));
        row.push(percent(s.critical_share));
        if layers {
            row.extend(s.chunk.iter().map(items));
        }
        row
    };
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(plan.stage.iter().map(row)).collect();
    aligned(&rows, out)
}

/// A row for each combination that was considered.
pub(super) fn considered(all: &[Considered], out: &mut dyn Write) -> Result<()> {
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| v.to_string());
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
    let line = |lines: &[Considered]| {
        let line = &lines[0];
        let many = format!("{} settings", lines.len());
        row([
            line.schedule.clone(),
            line.chunks.to_string(),
            line.group.clone().unwrap_or_else(|| "-".to_owned()),
            if lines.len() > 1 { many } else { line.recompute.clone().unwrap_or_else(|| "-".to_owned()) },
            shown(line.lower_bound),
            shown(line.makespan),
            line.reason.clone(),
        ])
    };
    let rows: Vec<Vec<String>> = std::iter::once(row(head)).chain(all.chunk_by(same).map(line)).collect();
    aligned(&rows, out)
}

/// Why nothing fits, and what would.
pub(super) fn infeasible(found: &Infeasible, unit: &str, out: &mut dyn Write) -> Result<()> {
    let missing = found.need - found.cap;
    writeln!(
        out,
        "stage {} is the tightest: in the nearest partition it needs {} {unit} of {} {unit}, {missing} {unit} are missing",
        found.stage, found.need, found.cap
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
