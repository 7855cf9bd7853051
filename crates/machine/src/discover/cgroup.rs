//! Limits of the control groups that this process is in, version 1 and 2: the tightest between its own group and the
//! root of the hierarchy it can see.

use super::Sysroot;

/// What the control groups allow.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Limits {
    /// CPUs, whole and partial.
    pub(super) cpus: Option<f64>,
    /// Bytes of memory.
    pub(super) memory: Option<u64>,
}

/// Version 1 writes "no limit" as the largest multiple of the page size.
const UNLIMITED: u64 = 1 << 60;

/// The tightest limits.
pub(super) fn limits(sys: &Sysroot) -> Limits {
    let mut limits = Limits::default();
    let groups = sys.text("proc/self/cgroup").unwrap_or_default();
    let mounts = mounts(&sys.text("proc/self/mountinfo").unwrap_or_default());
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let controllers: Vec<&str> = controllers.split(',').collect();
        let mount = mounts.iter().find(|mount| mount.serves(&controllers));
        let Some((folder, group)) = mount.map(|mount| mount.place_of(path)).or_else(|| usual(&controllers, path))
        else {
            continue;
        };
        for group in ancestors(&group) {
            limits.tighten(&sys.limits_of(&format!("{folder}{group}"), &controllers));
        }
    }
    limits
}

impl Limits {
    fn tighten(&mut self, other: &Self) {
        self.cpus = self.cpus.into_iter().chain(other.cpus).reduce(f64::min);
        self.memory = self.memory.into_iter().chain(other.memory).min();
    }
}

impl Sysroot {
    /// What one group says; `controllers` is `[""]` for version 2.
    fn limits_of(&self, folder: &str, controllers: &[&str]) -> Limits {
        if controllers == [""] {
            let cpus = self.text(&format!("{folder}/cpu.max")).and_then(|text| {
                let (quota, period) = text.split_once(char::is_whitespace)?;
                ratio(quota.parse().ok()?, period.trim().parse().ok()?)
            });
            return Limits { cpus, memory: self.number(&format!("{folder}/memory.max")) };
        }
        let mut limits = Limits::default();
        if controllers.contains(&"cpu") {
            let number = |file| self.number::<f64>(&format!("{folder}/{file}"));
            limits.cpus = number("cpu.cfs_quota_us").zip(number("cpu.cfs_period_us")).and_then(|(q, p)| ratio(q, p));
        }
        if controllers.contains(&"memory") {
            limits.memory = self.number(&format!("{folder}/memory.limit_in_bytes")).filter(|bytes| *bytes < UNLIMITED);
        }
        limits
    }
}

/// A quota of −1 is no limit.
fn ratio(quota: f64, period: f64) -> Option<f64> {
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

/// A mounted hierarchy.
struct Mount {
    /// Which part of the hierarchy is mounted: `/` or, in a container, its own group.
    root: String,
    /// Where.
    point: String,
    /// Its controllers; `[""]` for version 2.
    controllers: Vec<String>,
}

/// The control-group mounts of `/proc/self/mountinfo` (proc(5)):
/// `36 35 98:0 /root /point rw,noatime master:1 - type source options`.
fn mounts(text: &str) -> Vec<Mount> {
    let mount = |line: &str| {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(3);
        let (root, point) = (unescaped(left.next()?), unescaped(left.next()?));
        let mut right = right.split(' ');
        let controllers = match right.next()? {
            "cgroup2" => vec![String::new()],
            "cgroup" => right.nth(1)?.split(',').map(str::to_owned).collect(),
            _ => return None,
        };
        Some(Mount { root, point, controllers })
    };
    text.lines().filter_map(mount).collect()
}

/// Blanks, tabs, line ends and backslashes are written in octal.
fn unescaped(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(text.to_owned(), |text, (code, character)| text.replace(code, character))
}

impl Mount {
    fn serves(&self, controllers: &[&str]) -> bool {
        controllers.iter().any(|controller| self.controllers.iter().any(|own| own == controller))
    }

    /// The mount point and the group below it. A group outside of what is mounted is seen as its root.
    fn place_of(&self, group: &str) -> (String, String) {
        let root = self.root.trim_end_matches('/');
        let inside = group.strip_prefix(root).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        (self.point.trim_end_matches('/').to_owned(), inside.unwrap_or("/").to_owned())
    }
}

/// Where hierarchies are mounted when nothing is said about it.
fn usual(controllers: &[&str], group: &str) -> Option<(String, String)> {
    let folder = match controllers {
        [""] => "/sys/fs/cgroup".to_owned(),
        _ if controllers.contains(&"cpu") || controllers.contains(&"memory") => {
            format!("/sys/fs/cgroup/{}", controllers.join(","))
        }
        _ => return None,
    };
    Some((folder, group.to_owned()))
}

/// `/a/b`, `/a` and the root (empty), of `/a/b`. A group outside of the name space (`/../x`) is seen as the root.
fn ancestors(group: &str) -> Vec<&str> {
    let group = group.trim_end_matches('/');
    if group.split('/').any(|part| part == "..") {
        return vec![""];
    }
    let parents = group.match_indices('/').map(|(at, _)| &group[..at]);
    parents.chain([group]).collect()
}
