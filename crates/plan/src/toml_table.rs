//! A table of a TOML document that is being read: keys are taken by name and type, and messages say line, table and key.

use sapwood_machine::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where lines begin.
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    pub(crate) fn new(text: &str) -> Lines {
        let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Lines(std::iter::once(0).chain(after).collect())
    }

    /// The line of a byte, counted from 1.
    pub(crate) fn of(&self, at: usize) -> usize {
        self.0.partition_point(|&start| start <= at)
    }
}

/// A table and its place in the document.
pub(crate) struct Table<'d> {
    lines: &'d Lines,
    table: &'d DeTable<'d>,
    /// `segment body: `, `[unit] `, or nothing.
    place: String,
    line: usize,
}

impl<'d> Table<'d> {
    /// The document itself.
    pub(crate) fn document(lines: &'d Lines, table: &'d Spanned<DeTable<'d>>) -> Table<'d> {
        Table { lines, table: table.get_ref(), place: String::new(), line: 1 }
    }

    /// The same table, with `place` in messages.
    pub(crate) fn named(&self, place: &str) -> Table<'d> {
        Table { place: format!("{place}: "), ..*self }
    }

    /// A message about `key`, or about the whole table where it has no such key.
    pub(crate) fn wrong(&self, key: &str, what: impl std::fmt::Display) -> String {
        let line = self.table.get(key).map_or(self.line, |value| self.lines.of(value.span().start));
        format!("line {line}: {}{what}", self.place)
    }

    /// Refuses keys that are not `known`.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), String> {
        let stranger = self.table.keys().find(|key| !known.contains(&key.get_ref().as_ref()));
        let Some(key) = stranger else { return Ok(()) };
        let line = self.lines.of(key.span().start);
        let what = unknown("key", key.get_ref(), known);
        Err(format!("line {line}: {}{what}", self.place))
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    pub(crate) fn is_table(&self, key: &str) -> bool {
        self.table.get(key).is_some_and(|value| value.get_ref().is_table())
    }

    /// The value of `key` as `read` understands it.
    pub(crate) fn take<T>(
        &self,
        key: &str,
        form: &str,
        read: impl FnOnce(&'d DeValue<'d>) -> Option<T>,
    ) -> Result<Option<T>, String> {
        let Some(value) = self.table.get(key) else { return Ok(None) };
        read(value.get_ref()).map(Some).ok_or_else(|| self.wrong(key, format!("{key} must be {form}")))
    }

    pub(crate) fn text(&self, key: &str) -> Result<Option<&'d str>, String> {
        self.take(key, "a text in quotes", |value| value.as_str())
    }

    /// A name: a text of one line that is not empty.
    pub(crate) fn name(&self, key: &str) -> Result<Option<&'d str>, String> {
        let good = |text: &&str| !text.trim().is_empty() && !text.chars().any(char::is_control);
        self.take(key, "a text of one line in quotes that is not empty", |value| value.as_str().filter(good))
    }

    pub(crate) fn flag(&self, key: &str) -> Result<Option<bool>, String> {
        self.take(key, "true or false", |value| value.as_bool())
    }

    /// One of `words`.
    pub(crate) fn word(&self, key: &str, words: &[&'static str]) -> Result<Option<&'static str>, String> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        let word = words.iter().find(|&&word| word == text).copied();
        word.map(Some).ok_or_else(|| self.wrong(key, unknown(key, text, words)))
    }

    /// A whole number from 1 to 2³¹ − 1.
    pub(crate) fn count(&self, key: &str) -> Result<Option<u32>, String> {
        let read = |value: &DeValue<'_>| {
            let integer = value.as_integer()?;
            let count = u32::from_str_radix(integer.as_str(), integer.radix()).ok()?;
            (1..1 << 31).contains(&count).then_some(count)
        };
        self.take(key, "a whole number from 1 to 2147483647", read)
    }

    /// A number that is finite and not below 0.
    pub(crate) fn number(&self, key: &str) -> Result<Option<f64>, String> {
        let Some(value) = self.table.get(key) else { return Ok(None) };
        self.amount(key, value).map(Some)
    }

    /// One number or a list of them.
    pub(crate) fn numbers(&self, key: &str) -> Result<Option<Vec<f64>>, String> {
        match self.table.get(key).map(Spanned::get_ref) {
            Some(DeValue::Array(_)) => self.list(key),
            _ => Ok(self.number(key)?.map(|number| vec![number])),
        }
    }

    /// A list of numbers that is not empty.
    pub(crate) fn list(&self, key: &str) -> Result<Option<Vec<f64>>, String> {
        let list = self.take(key, "a list of numbers such as [1.0, 2.0]", |value| value.as_array())?;
        let Some(list) = list else { return Ok(None) };
        if list.is_empty() {
            return Err(self.wrong(key, format!("{key} is an empty list")));
        }
        list.iter().map(|value| self.amount(key, value)).collect::<Result<_, _>>().map(Some)
    }

    /// A table of numbers by name, in the order of the file.
    pub(crate) fn by_name(&self, key: &str) -> Result<Option<Vec<(&'d str, f64)>>, String> {
        let form = format!("a table of numbers such as {key} = {{ full = 1.0 }}");
        let Some(table) = self.take(key, &form, |value| value.as_table())? else { return Ok(None) };
        let named = table.iter().map(|(name, value)| {
            let name = name.get_ref().as_ref();
            Ok((name, self.amount(&format!("{key}.{name}"), value)?))
        });
        named.collect::<Result<_, String>>().map(Some)
    }

    pub(crate) fn texts(&self, key: &str) -> Result<Option<Vec<&'d str>>, String> {
        self.take(key, "a list of texts such as [\"a\", \"b\"]", |value| {
            value.as_array()?.iter().map(|item| item.get_ref().as_str()).collect()
        })
    }

    /// The table `key`.
    pub(crate) fn table(&self, key: &str) -> Result<Option<Table<'d>>, String> {
        let table = self.take(key, &format!("a table, write [{key}]"), |value| value.as_table())?;
        let line = self.table.get(key).map_or(self.line, |value| self.lines.of(value.span().start));
        Ok(table.map(|table| Table { lines: self.lines, table, place: format!("{}[{key}] ", self.place), line }))
    }

    /// The tables of the array `key`.
    pub(crate) fn tables(&self, key: &str) -> Result<Vec<Table<'d>>, String> {
        let form = format!("an array of tables, write [[{key}]]");
        let read = |value: &'d DeValue<'d>| {
            value.as_array()?.iter().map(|item| Some((item.get_ref().as_table()?, item.span().start))).collect()
        };
        let tables: Vec<(&'d DeTable<'d>, usize)> = self.take(key, &form, read)?.unwrap_or_default();
        let below = |(table, start)| {
            let place = format!("[[{key}]] ");
            Table { lines: self.lines, table, place, line: self.lines.of(start) }
        };
        Ok(tables.into_iter().map(below).collect())
    }

    /// A number that is finite and not below 0.
    fn amount(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Result<f64, String> {
        let at = |what: String| format!("line {}: {}{what}", self.lines.of(value.span().start), self.place);
        let number = number_of(value.get_ref()).ok_or_else(|| at(format!("{key} must be a number without quotes")))?;
        if number.is_finite() && number >= 0.0 {
            return Ok(number);
        }
        let written = value.get_ref().as_float().map_or_else(|| number.to_string(), |float| float.as_str().to_owned());
        Err(at(format!("{key} is {written}, write a number from 0 on")))
    }
}

/// "unknown key forwrd, did you mean forward?"
pub(crate) fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let short: String = name.chars().take(60).collect();
    let short = short.escape_debug();
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("unknown {what} {short}, did you mean {near}?"),
        None => format!("unknown {what} {short}, write one of {}", known.join(", ")),
    }
}

/// The number of a value, in any base.
pub(crate) fn number_of(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(float) => float.as_str().parse().ok(),
        DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str().parse().ok(),
        DeValue::Integer(integer) => {
            u64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|number| number as f64)
        }
        _ => None,
    }
}
