//! Lines and numbers of the text files of a data set. Line ends may be LF or CRLF, the last one may be missing.

use super::files::Text;
use crate::graph::NodeId;
use crate::{Error, Result};

impl Text {
    /// All lines with their numbers from 1, empty ones and comments included, without line ends.
    pub(super) fn all_lines(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let body = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        let empty = self.bytes.is_empty();
        let lines = body.split(|&b| b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        (1..).zip(lines).filter(move |_| !empty)
    }

    /// Lines that hold something: neither blank nor a `#` comment.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.all_lines().map(|(n, line)| (n, line.trim_ascii())).filter(|(_, l)| !l.is_empty() && l[0] != b'#')
    }

    /// An error about line `line`.
    pub(crate) fn wrong(&self, line: u64, what: impl Into<String>) -> Error {
        Error::line(&self.name, line, what)
    }

    /// The fields of a line, cut at blanks and tabs: between `least` and `most`, else an error that shows `form`.
    pub(crate) fn fields<'a, const MOST: usize>(
        &self,
        line: u64,
        text: &'a [u8],
        least: usize,
        form: &str,
    ) -> Result<([&'a [u8]; MOST], usize)> {
        let mut fields: [&[u8]; MOST] = [&[]; MOST];
        let mut count = 0;
        for field in text.split(|b| b.is_ascii_whitespace()).filter(|f| !f.is_empty()) {
            if count == MOST {
                return Err(self.wrong(line, format!("more than {MOST} columns, write {form}")));
            }
            fields[count] = field;
            count += 1;
        }
        if count < least {
            return Err(self.wrong(line, format!("{count} columns, write {form}")));
        }
        Ok((fields, count))
    }

    /// A node id, below `nodes` if that is known.
    pub(crate) fn node(&self, line: u64, field: &[u8], nodes: Option<usize>) -> Result<NodeId> {
        let Some(id) = whole(field) else {
            return Err(self.wrong(line, bad_id(field)));
        };
        match nodes {
            Some(n) if id >= n as u64 => {
                Err(self.wrong(line, format!("node {id} does not exist, nodes.tsv says there are {n}")))
            }
            _ if id >= u64::from(u32::MAX) => {
                Err(self.wrong(line, format!("node id {id} is too large, ids must be below {}", u32::MAX)))
            }
            _ => Ok(NodeId(id as u32)),
        }
    }

    /// An edge weight: finite and not negative.
    pub(super) fn weight(&self, line: u64, field: &[u8]) -> Result<f32> {
        let shown = String::from_utf8_lossy(field);
        match shown.parse::<f32>() {
            Ok(w) if w < 0.0 => Err(self.wrong(line, format!("edge weight {shown} is negative"))),
            Ok(w) if w.is_finite() => Ok(w + 0.0), // −0 becomes 0
            Ok(_) => Err(self.wrong(line, format!("edge weight {shown} is not a finite number"))),
            Err(_) => Err(self.wrong(line, format!("'{shown}' is no number"))),
        }
    }
}

/// A whole number of at most 64 bits.
pub(super) fn whole(field: &[u8]) -> Option<u64> {
    if field.is_empty() {
        return None;
    }
    field.iter().try_fold(0u64, |n, &b| match b {
        b'0'..=b'9' => n.checked_mul(10)?.checked_add(u64::from(b - b'0')),
        _ => None,
    })
}

fn bad_id(field: &[u8]) -> String {
    let shown = String::from_utf8_lossy(field);
    match field.split_first() {
        Some((b'-', rest)) if whole(rest).is_some() => format!("node id {shown} is negative, ids count from 0"),
        _ if field.iter().all(u8::is_ascii_digit) => format!("node id {shown} is too large"),
        _ => format!("'{shown}' is no node id, write a whole number from 0"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Text {
        Text { name: "x.tsv".into(), bytes: bytes.to_vec() }
    }

    #[test]
    fn line_ends_blank_lines_and_comments() {
        let t = text(b"a b\r\n\n# no\n  \nc");
        let lines: Vec<_> = t.lines().map(|(n, l)| (n, String::from_utf8_lossy(l).into_owned())).collect();
        assert_eq!(lines, [(1, "a b".into()), (5, "c".into())]);
        assert_eq!(text(b"").all_lines().count(), 0);
        assert_eq!(text(b"\n").all_lines().count(), 1);
        assert_eq!(text(b"1\n\n").all_lines().count(), 2);
        assert_eq!(text(b"1\n\n2").all_lines().count(), 3);
    }

    #[test]
    fn ids_are_checked() {
        let t = text(b"");
        assert_eq!(t.node(1, b"12", Some(13)).unwrap(), NodeId(12));
        let message = |field: &[u8], n| t.node(7, field, n).unwrap_err().to_string();
        assert_eq!(message(b"13", Some(13)), "x.tsv:7: node 13 does not exist, nodes.tsv says there are 13");
        assert_eq!(message(b"-3", None), "x.tsv:7: node id -3 is negative, ids count from 0");
        assert_eq!(
            message(b"4294967295", None),
            "x.tsv:7: node id 4294967295 is too large, ids must be below 4294967295"
        );
        assert_eq!(message(b"99999999999999999999", None), "x.tsv:7: node id 99999999999999999999 is too large");
        assert_eq!(message(b"n1", None), "x.tsv:7: 'n1' is no node id, write a whole number from 0");
    }

    #[test]
    fn weights_are_checked() {
        let t = text(b"");
        assert_eq!(t.weight(1, b"2.5e-1").unwrap(), 0.25);
        for bad in ["-1", "nan", "inf", "1e99", "x"] {
            assert!(t.weight(1, bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn fields_are_counted() {
        let t = text(b"");
        assert_eq!(t.fields::<3>(1, b"1\t 2", 2, "u v").unwrap().1, 2);
        assert!(t.fields::<3>(1, b"1", 2, "u v").is_err());
        assert!(t.fields::<3>(1, b"1 2 3 4", 2, "u v").is_err());
    }
}
