//! Tables of durations (CSV): one row for each time that a layer ran.
//!
//! The first row with a column of durations is the header; what tools print before it is skipped. Columns, in any case and order:
//! `duration` (or `dur`, `time`), with its unit as `duration_ms` or `duration (ns)`; `name` (or `range`), read as the names of
//! events are; or `layer` (or `kind`) and `direction` (or `pass`), and perhaps `recompute`. Of help, and not needed: `start` in the
//! same unit, `pid` (or `rank`, `process`) and `tid` (or `stream`, `thread`). `nsys stats --report nvtx_gpu_proj_trace --format csv` is
//! such a table: its projected times are those of the device.

use super::events::{Event, Events, Numbers};
use super::names::{Direction, Name};
use csv::StringRecord;

/// Rows before the header.
const MOST_BEFORE: usize = 100;

/// Units of time in ms.
const UNITS: [(&str, f64); 5] = [("ns", 1e-6), ("us", 1e-3), ("µs", 1e-3), ("ms", 1.0), ("s", 1e3)];

pub(super) fn read(text: &str, unit: Option<&str>) -> Result<Events, String> {
    let default = match unit {
        None => None,
        Some(unit) => Some(in_ms(unit).ok_or_else(|| format!("{unit:?} is no unit of time, write s, ms, us or ns"))?),
    };
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let mut records = reader.records();
    let mut columns = None;
    for _ in 0..MOST_BEFORE {
        let Some(record) = records.next() else { break };
        columns = Columns::of(&record.map_err(|e| e.to_string())?);
        if columns.is_some() {
            break;
        }
    }
    let mut columns = columns.ok_or_else(|| {
        "no table of durations: its header needs a column such as duration_ms, and name, or layer and direction"
            .to_owned()
    })?;
    columns.duration.1 = columns.duration.1.or(default);
    let mut events = Events { timed: columns.duration.1.is_some(), ..Events::default() };
    let (mut processes, mut threads) = (Numbers::default(), Numbers::default());
    for record in records {
        let record = record.map_err(|e| e.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let row = columns.row(&record, events.all.len()).map_err(|what| format!("line {line}: {what}"))?;
        let Some(mut event) = row else {
            events.others += 1;
            continue;
        };
        let cell = |column: Option<usize>| column.and_then(|at| record.get(at)).unwrap_or("");
        event.lane = (processes.of(cell(columns.process)), threads.of(cell(columns.thread)));
        events.all.push(event);
    }
    Ok(events)
}

/// Where what is of interest stands.
struct Columns {
    /// With ms of one unit, if it has one.
    duration: (usize, Option<f64>),
    start: Option<(usize, Option<f64>)>,
    name: Option<usize>,
    layer: Option<usize>,
    direction: Option<usize>,
    recompute: Option<usize>,
    process: Option<usize>,
    thread: Option<usize>,
}

impl Columns {
    /// The columns of a header; none if it is no header.
    fn of(header: &StringRecord) -> Option<Columns> {
        let heads: Vec<(String, Option<f64>)> = header.iter().map(head).collect();
        let find = |names: &[&str]| names.iter().find_map(|name| heads.iter().position(|(head, _)| head == name));
        let timed = |names: &[&str]| find(names).map(|at| (at, heads[at].1));
        let columns = Columns {
            duration: timed(&["projected duration", "duration", "dur", "time"])?,
            start: timed(&["projected start", "start"]),
            name: find(&["name", "range", "op"]),
            layer: find(&["layer", "kind"]),
            direction: find(&["direction", "pass"]),
            recompute: find(&["recompute"]),
            process: find(&["rank", "pid", "process", "device"]),
            thread: find(&["stream", "tid", "thread"]),
        };
        (columns.name.is_some() || columns.layer.is_some() && columns.direction.is_some()).then_some(columns)
    }

    /// The event of a row; none if it is about no layer.
    fn row(&self, record: &StringRecord, place: usize) -> Result<Option<Event>, String> {
        let cell = |column: Option<usize>| column.and_then(|at| record.get(at)).unwrap_or("");
        let Some(name) = self.name(&cell)? else { return Ok(None) };
        let number = |(at, unit): (usize, Option<f64>), what: &str| {
            let text = cell(Some(at));
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            let short: String = text.chars().take(40).collect();
            number.map(|n| n * unit.unwrap_or(1.0)).ok_or_else(|| format!("{what} is {short:?}, which is no number"))
        };
        let duration = number(self.duration, "duration")?;
        if duration < 0.0 {
            return Err(format!("duration is {}, write 0 or more", cell(Some(self.duration.0))));
        }
        // Without a start rows are in order, and none overlap.
        let start = match self.start {
            Some(start) => number(start, "start")?,
            None => place as f64 * 1e12,
        };
        Ok(Some(Event {
            name,
            rank: 0,
            lane: (0, 0),
            id: self.start.is_none().then_some(place as u64),
            start,
            duration,
        }))
    }

    fn name<'r>(&self, cell: &dyn Fn(Option<usize>) -> &'r str) -> Result<Option<Name>, String> {
        let (Some(layer), Some(direction)) = (self.layer, self.direction) else {
            return Ok(Name::parse(cell(self.name)));
        };
        let (layer, said) = (cell(Some(layer)), cell(Some(direction)));
        let short: String = said.chars().take(40).collect();
        let direction = Direction::of_word(said)
            .ok_or_else(|| format!("direction is {short:?}, write forward, backward or weight"))?;
        if layer.is_empty() {
            return Err("the layer has no name".to_owned());
        }
        let recompute = Some(cell(self.recompute)).filter(|kind| !kind.is_empty() && *kind != "none");
        Ok(Some(Name { layer: layer.to_owned(), direction, recompute: recompute.map(str::to_owned) }))
    }
}

/// One of a unit in ms.
fn in_ms(unit: &str) -> Option<f64> {
    UNITS.iter().find(|(name, _)| *name == unit).map(|(_, ms)| *ms)
}

/// The name of a column in small letters without its unit, and ms of one unit.
fn head(cell: &str) -> (String, Option<f64>) {
    let cell = cell.trim_start_matches('\u{feff}').to_lowercase();
    let mut words: Vec<&str> = cell.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let unit = words.last().and_then(|last| in_ms(last));
    if unit.is_some() && words.len() > 1 {
        words.pop();
    }
    (words.join(" "), unit)
}
