//! Lists of logical CPUs as Linux writes them: `0-3,8`. Order is kept, because it says which worker gets which CPU.

use std::fmt;
use std::str::FromStr;

const LONGEST: usize = 1 << 20;

/// Logical CPU numbers in order, without repetition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CpuList(Vec<u32>);

impl CpuList {
    /// The numbers, in order.
    pub fn as_slice(&self) -> &[u32] {
        &self.0
    }

    /// A list of `cpus`; `None` if one of them comes twice.
    pub fn new(cpus: Vec<u32>) -> Option<Self> {
        let mut sorted = cpus.clone();
        sorted.sort_unstable();
        sorted.dedup();
        (sorted.len() == cpus.len()).then_some(Self(cpus))
    }
}

impl FromStr for CpuList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = |part: &str| format!("\"{part}\" is no CPU list, write for example \"0-3,8\"");
        let mut cpus = Vec::new();
        for part in text.split(',').map(str::trim).filter(|_| !text.trim().is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first: u32 = first.trim().parse().map_err(|_| bad(part))?;
            let last: u32 = last.trim().parse().map_err(|_| bad(part))?;
            if last < first {
                return Err(bad(part));
            }
            if (last - first) as usize >= LONGEST - cpus.len() {
                return Err(format!("more than {LONGEST} CPUs"));
            }
            cpus.extend(first..=last);
        }
        Self::new(cpus).ok_or_else(|| format!("\"{text}\" names a CPU twice"))
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_slice();
        let mut comma = "";
        while let [first, ..] = rest {
            let next = |pair: &[u32]| pair[0].checked_add(1) == Some(pair[1]);
            let run = 1 + rest.windows(2).take_while(|pair| next(pair)).count();
            match rest.get(run - 1) {
                Some(last) if run > 1 => write!(f, "{comma}{first}-{last}")?,
                _ => write!(f, "{comma}{first}")?,
            }
            rest = rest.get(run..).unwrap_or_default();
            comma = ",";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes() {
        for (text, cpus) in [("0-3,8", &[0, 1, 2, 3, 8][..]), ("5,4", &[5, 4]), ("", &[]), ("4294967295", &[u32::MAX])]
        {
            let list: CpuList = text.parse().unwrap();
            assert_eq!(list.as_slice(), cpus);
            assert_eq!(list.to_string(), text);
        }
        assert_eq!(" 0 - 1 , 3".parse::<CpuList>().unwrap().to_string(), "0-1,3");
    }

    #[test]
    fn refuses() {
        for text in ["3-1", "a", "1,,2", "1,1", "0-2,2", "-1", "0-4294967295", "0-1048575,1048576"] {
            assert!(text.parse::<CpuList>().is_err(), "{text}");
        }
    }
}
