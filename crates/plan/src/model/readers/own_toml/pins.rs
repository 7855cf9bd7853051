//! Where segments may lie: pins, and whether they agree with the order of the model.

use crate::model::{Role, Segment};

/// What a file says about the place of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pin {
    /// Nothing: where segments of its kind lie.
    Default,
    /// On the first virtual stage.
    First,
    /// On the last virtual stage.
    Last,
    /// On this virtual stage.
    Stage(usize),
    /// Where this segment is.
    With(String),
}

/// A segment by its place, and what is wrong with it.
type Wrong = (usize, String);

/// Reads a pin.
pub(super) fn parse(text: &str) -> Result<Pin, String> {
    let wrong = || format!("pin is {text:?}, write \"first\", \"last\", \"stage:N\" or \"with:SEGMENT\"");
    match text.split_once(':') {
        None if text == "first" => Ok(Pin::First),
        None if text == "last" => Ok(Pin::Last),
        Some(("stage", at)) => at.trim().parse::<u32>().map(|at| Pin::Stage(at as usize)).map_err(|_| wrong()),
        Some(("with", name)) if !name.trim().is_empty() => Ok(Pin::With(name.trim().to_owned())),
        _ => Err(wrong()),
    }
}

/// Gives each segment its role by its pin and whether it is one of the layers that frameworks count, and checks that no layer would have to lie before one that it follows.
pub(super) fn place(segments: &mut [Segment], pins: &[(Pin, bool)]) -> Result<(), Wrong> {
    let (pins, stacked): (Vec<Pin>, Vec<bool>) = pins.iter().cloned().unzip();
    let of = |at: usize| {
        role(segments, &pins, at).map(|role| match role {
            Role::Head if stacked[at] => Role::First,
            Role::Tail if stacked[at] => Role::Last,
            role => role,
        })
    };
    let roles: Vec<Role> = (0..pins.len()).map(of).collect::<Result<_, _>>()?;
    segments.iter_mut().zip(roles).for_each(|(segment, role)| segment.role = role);
    in_order(segments)
}

/// The role of a segment, through as many `with:` as there are.
fn role(segments: &[Segment], pins: &[Pin], from: usize) -> Result<Role, Wrong> {
    let mut at = from;
    for _ in 0..pins.len() {
        match &pins[at] {
            Pin::Default if at != from && segments[at].role.moves() => {
                let name = &segments[at].name;
                let what = format!("pinned with {name}, which may lie anywhere: pin {name} to a stage");
                return Err((from, what));
            }
            Pin::Default => return Ok(segments[at].role),
            Pin::First => return Ok(Role::Head),
            Pin::Last => return Ok(Role::Tail),
            Pin::Stage(stage) => return Ok(Role::At(*stage)),
            Pin::With(name) => at = find(segments, name).map_err(|what| (at, what))?,
        }
    }
    Err((from, "pinned with segments that are pinned with each other: pin one of them to a stage".to_owned()))
}

fn find(segments: &[Segment], name: &str) -> Result<usize, String> {
    let known = || segments.iter().map(|segment| segment.name.as_str()).collect::<Vec<_>>();
    let at = segments.iter().position(|segment| segment.name == name);
    at.ok_or_else(|| format!("pin: {}", crate::toml_table::unknown("segment", name, &known())))
}

/// Segments are in the order of the model, so pins have to rise, what is on the first stage precedes what may lie anywhere,
/// and what is on the last stage follows it.
fn in_order(segments: &[Segment]) -> Result<(), Wrong> {
    let name = |at: usize| &segments[at].name;
    let mut last: Option<(usize, usize)> = None;
    let mut moving: Option<usize> = None;
    for (at, segment) in segments.iter().enumerate() {
        let place = match segment.role {
            Role::Head | Role::First => 0,
            Role::Tail | Role::Last => usize::MAX,
            Role::At(stage) => stage,
            Role::Body | Role::Mtp => {
                if let Some((before, usize::MAX)) = last {
                    return Err((at, format!("after segment {}, which is on the last stage", name(before))));
                }
                moving = moving.or(Some(at));
                continue;
            }
        };
        if let Some((before, _)) = last.filter(|&(_, other)| other > place) {
            return Err((at, format!("on a stage before that of segment {}, which it follows", name(before))));
        }
        if let Some(before) = moving.filter(|_| matches!(segment.role, Role::Head | Role::First)) {
            return Err((
                at,
                format!("on the first stage, but after segment {}, which may lie anywhere", name(before)),
            ));
        }
        last = Some((at, place));
    }
    Ok(())
}
