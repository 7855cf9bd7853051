//! Paths to nodes: `/node[1]/core[2-3]`, `/node[*]`.

use std::fmt;
use std::str::FromStr;

/// Which children of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// One of them, from 0.
    One(u32),
    /// From the first to the last, both included.
    Range(u32, u32),
    /// All.
    All,
}

/// One step down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The level stepped to.
    pub name: String,
    /// Which of its nodes.
    pub which: Which,
}

/// A way down from the root; at least one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path(Vec<Step>);

impl Path {
    /// A path of `steps`; `None` if there are none.
    pub fn new(steps: Vec<Step>) -> Option<Self> {
        (!steps.is_empty()).then_some(Self(steps))
    }

    /// The steps, from the root down.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }
}

impl FromStr for Path {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("\"{text}\" is no path, write for example \"/node[1]/core[2-3]\" or \"/node[*]\"");
        let rest = text.strip_prefix('/').ok_or_else(bad)?;
        let steps = rest.split('/').map(|step| step_of(step).ok_or_else(bad));
        Self::new(steps.collect::<Result<_, _>>()?).ok_or_else(bad)
    }
}

fn step_of(text: &str) -> Option<Step> {
    let (name, which) = text.strip_suffix(']')?.split_once('[')?;
    let number =
        |digits: &str| -> Option<u32> { digits.bytes().all(|c| c.is_ascii_digit()).then(|| digits.parse().ok())? };
    let which = match which.split_once('-') {
        None if which == "*" => Which::All,
        None => Which::One(number(which)?),
        Some((first, last)) => Which::Range(number(first)?, number(last)?),
    };
    let ordered = !matches!(which, Which::Range(first, last) if last < first);
    (ordered && is_name(name)).then(|| Step { name: name.to_owned(), which })
}

/// `[a-z][a-z0-9-]*`
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Step { name, which } in &self.0 {
            match which {
                Which::One(index) => write!(f, "/{name}[{index}]")?,
                Which::Range(first, last) => write!(f, "/{name}[{first}-{last}]")?,
                Which::All => write!(f, "/{name}[*]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes() {
        for text in ["/node[1]/core[2-3]", "/node[*]", "/a-1[0]/b[*]/c[7-7]"] {
            assert_eq!(text.parse::<Path>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn refuses() {
        for text in [
            "",
            "/",
            "node[0]",
            "/node",
            "/node[]",
            "/node[-1]",
            "/node[1",
            "/node[2-1]",
            "/Node[0]",
            "/n[0]/",
            "//n[0]",
        ] {
            assert!(text.parse::<Path>().is_err(), "{text}");
        }
        assert!("/n[4294967296]".parse::<Path>().is_err());
        assert!("/n[+1]".parse::<Path>().is_err());
    }
}
