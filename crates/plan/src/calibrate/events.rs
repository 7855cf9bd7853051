//! Timed events, as the readers of traces and of tables give them.

use super::names::Name;

/// One event that is about a layer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Event {
    pub(super) name: Name,
    /// How near it is to the work itself: 2 on a device, 1 annotated on the host, 0 anything else.
    pub(super) rank: u8,
    /// Process or device, and the thread or stream of it, by number.
    pub(super) lane: (u32, u32),
    /// What events of one occurrence on several streams share, if the file tells.
    pub(super) id: Option<u64>,
    /// In ms, from any origin.
    pub(super) start: f64,
    /// In ms, or in no unit.
    pub(super) duration: f64,
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Events {
    pub(super) all: Vec<Event>,
    /// Events that are about no layer.
    pub(super) others: usize,
    /// Whether durations are in ms.
    pub(super) timed: bool,
}

/// Numbers of names, in the order in which they come.
#[derive(Debug, Default)]
pub(super) struct Numbers(std::collections::BTreeMap<String, u32>);

impl Numbers {
    pub(super) fn of(&mut self, name: &str) -> u32 {
        let next = self.0.len() as u32;
        match self.0.get(name) {
            Some(&number) => number,
            None => *self.0.entry(name.to_owned()).or_insert(next),
        }
    }
}

/// How often a layer ran: one duration for each occurrence, in the order of time. Events of one occurrence share an id, or
/// overlap on different streams; the longest stream counts.
pub(super) fn occurrences(events: &mut [&Event]) -> Vec<f64> {
    events.sort_by(|a, b| a.start.total_cmp(&b.start));
    let mut found: Vec<Occurrence> = Vec::new();
    let mut by_id = std::collections::BTreeMap::new();
    for event in events.iter() {
        let end = event.start + event.duration;
        let same = match event.id {
            Some(id) => by_id.get(&id).copied(),
            None => found.iter().rposition(|open| open.id.is_none()).filter(|&at| found[at].takes(event)),
        };
        match same.and_then(|at: usize| found.get_mut(at)) {
            Some(open) => open.add(event.lane, event.duration, end),
            None => {
                by_id.extend(event.id.map(|id| (id, found.len())));
                found.push(Occurrence { id: event.id, end, streams: vec![(event.lane, event.duration)] });
            }
        }
    }
    let longest = |one: &Occurrence| one.streams.iter().map(|(_, time)| *time).fold(0.0, f64::max);
    found.iter().map(longest).collect()
}

/// One occurrence on its streams.
struct Occurrence {
    id: Option<u64>,
    end: f64,
    /// Time on each.
    streams: Vec<((u32, u32), f64)>,
}

impl Occurrence {
    fn takes(&self, event: &Event) -> bool {
        event.start < self.end && self.streams.iter().all(|(lane, _)| *lane != event.lane && lane.0 == event.lane.0)
    }

    fn add(&mut self, lane: (u32, u32), duration: f64, end: f64) {
        self.end = self.end.max(end);
        match self.streams.iter_mut().find(|(other, _)| *other == lane) {
            Some((_, time)) => *time += duration,
            None => self.streams.push((lane, duration)),
        }
    }
}
