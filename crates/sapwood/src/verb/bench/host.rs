//! What a reader of a measurement must know of the machine: processor, cores, load.
//!
//! Read once per benchmark; unknown is null, never a guess.

use serde::Serialize;

/// `measured.host` of `sapwood.bench/1`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Host {
    /// Model name of the processor, if the system tells.
    pub(crate) cpu: Option<String>,
    /// Logical processors of the machine, if the system tells.
    pub(crate) cores: Option<usize>,
    /// Load average of the last minute, when the benchmark began.
    pub load1: Option<f64>,
    /// Others may use the machine at the same time: always assumed, so the load is shown and ratios are what counts.
    pub(crate) shared: bool,
}

impl Host {
    /// Whether there is more work than processors, as far as is known.
    pub(crate) fn busy(&self) -> bool {
        matches!((self.load1, self.cores), (Some(load), Some(cores)) if load >= cores as f64)
    }
}

/// This machine, now.
pub(crate) fn host() -> Host {
    let read = |path| std::fs::read_to_string(path).ok();
    let cpuinfo = read("/proc/cpuinfo");
    Host {
        cpu: cpuinfo.as_deref().and_then(model_name),
        cores: cpuinfo.as_deref().and_then(processors),
        load1: read("/proc/loadavg").and_then(|text| text.split_whitespace().next()?.parse().ok()),
        shared: true,
    }
}

/// The first `model name` line of `/proc/cpuinfo`.
fn model_name(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// How many `processor` lines `/proc/cpuinfo` has; none of another form.
fn processors(cpuinfo: &str) -> Option<usize> {
    let count = cpuinfo.lines().filter(|line| line.starts_with("processor")).count();
    (count > 0).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_the_text_behind_the_colon() {
        assert_eq!(model_name("processor\t: 0\nmodel name\t: A CPU @ 2.6GHz\n").as_deref(), Some("A CPU @ 2.6GHz"));
        assert_eq!(model_name("Processor : ARM\n"), None);
        assert_eq!(processors("processor\t: 0\n\nprocessor\t: 1\n"), Some(2));
        assert_eq!(processors(""), None);
    }

    #[test]
    fn a_machine_is_busy_when_work_has_to_wait() {
        let host = |cores, load1| Host { cpu: None, cores, load1, shared: true };
        assert!(host(Some(2), Some(2.0)).busy());
        assert!(!host(Some(2), Some(1.9)).busy());
        assert!(!host(None, Some(9.0)).busy() && !host(Some(2), None).busy());
    }
}
