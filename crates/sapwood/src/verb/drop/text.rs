//! What draws do to a graph, for people.

use super::Report;
use crate::verb::table::aligned;
use sapwood_graph::SamplerFacts;
use sapwood_graph::structure::{DegreeNoise, MeanSd, Statistics};
use std::io::{Result, Write};

/// All there is to say.
pub(super) struct Text<'a> {
    pub(super) data: &'a str,
    pub(super) facts: &'a SamplerFacts,
    /// What goes: pairs, arcs, ...
    pub(super) unit: &'static str,
    pub(super) statistics: &'a Statistics,
    pub(super) report: &'a Report,
}

impl Text<'_> {
    /// Without `--stats`: what was drawn, and where it is.
    pub(super) fn summary(&self, out: &mut dyn Write) -> Result<()> {
        self.headline(out)?;
        let (draws, isolated) = (self.statistics.draws.len(), shown(self.statistics.isolated));
        let components = shown(self.statistics.components);
        let plural = if draws == 1 { "draw" } else { "draws" };
        writeln!(out, "{draws} {plural}: {isolated} nodes isolated, {components} components")?;
        let files: Vec<&String> = self.report.draws.iter().filter_map(|d| d.kept_file.as_ref()).collect();
        match files[..] {
            [] => Ok(()),
            [file] => writeln!(out, "written to {file}"),
            [first, .., last] => writeln!(out, "written to {first} .. {last}"),
        }
    }

    /// With `--stats`: a line for each draw if `all`, and their means.
    pub(super) fn table(&self, all: bool, out: &mut dyn Write) -> Result<()> {
        self.headline(out)?;
        let head = ["draw", "epoch", "dropped", "isolated", "components", "largest"].map(String::from);
        let mut rows = vec![head];
        let draws = &self.statistics.draws;
        if all {
            rows.extend(draws.iter().map(|d| {
                let dropped = d.dropped.map_or_else(|| "-".into(), |n| n.to_string());
                let [draw, epoch] = [d.draw, d.epoch].map(|n| n.to_string());
                let [isolated, components, largest] = [d.isolated, d.components, d.largest].map(|n| n.to_string());
                [draw, epoch, dropped, isolated, components, largest]
            }));
        }
        if draws.len() > 1 {
            let mean = |value: fn(&sapwood_graph::structure::DrawFacts) -> u64| {
                format!("{:.1}", draws.iter().map(value).sum::<u64>() as f64 / draws.len() as f64)
            };
            rows.push([
                format!("mean of {}", draws.len()),
                String::new(),
                if draws[0].dropped.is_some() { mean(|d| d.dropped.unwrap_or(0)) } else { "-".into() },
                shown(self.statistics.isolated),
                shown(self.statistics.components),
                mean(|d| d.largest),
            ]);
        }
        aligned(&rows, out)?;
        writeln!(out, "isolated nodes expected: {:.2}", self.facts.isolated_expected)?;
        if let Some(sd) = self.statistics.degree_sd {
            let least = DegreeNoise::LEAST_DEGREE;
            writeln!(out, "degree sd: {sd:.4} (from draw to draw, mean over the nodes of degree {least} or more)")?;
        }
        if let Some(gap) = self.report.spectral_gap {
            writeln!(out, "spectral gap of the first draw: {gap:.4} (1 - λ₂ on its largest component)")?;
        }
        if let Some(z) = self.statistics.frequency_max_z {
            writeln!(out, "largest |z| of how often a unit went: {z:.2}")?;
        }
        Ok(())
    }

    fn headline(&self, out: &mut dyn Write) -> Result<()> {
        let SamplerFacts { name, k, units, achieved_p, .. } = self.facts;
        writeln!(out, "{}: {name} drops {k} of {units} {}, p = {achieved_p:.4}", self.data, self.unit)?;
        if let Some(auto) = &self.facts.auto {
            let rate = |rate: Option<f64>| rate.map_or_else(|| "-".into(), |r| format!("{r:.3}"));
            let (hi, lo, decision) = (rate(auto.hi), rate(auto.lo), auto.decision);
            let (first, last) = auto.pairs;
            writeln!(
                out,
                "direction auto: {decision}; equal labels {hi} of {first} high, {lo} of {last} low training pairs"
            )?;
        }
        let Some(q) = &self.facts.q else { return Ok(()) };
        let offset = q.offset.map_or_else(String::new, |a| format!(", offset {a:.6}"));
        writeln!(out, "q from {:.6} to {:.6}, mean {:.6}{offset}", q.min, q.max, q.mean)
    }
}

fn shown(value: MeanSd) -> String {
    match value.sd {
        Some(sd) => format!("{:.1} ± {sd:.1}", value.mean),
        None => format!("{:.0}", value.mean),
    }
}
