//! Gantt charts: who does what when, one lane a stage, a rank, a worker.

use super::Draw;
use crate::axis::{Axis, Unit};
use crate::canvas::{Anchor, Canvas, TEXT};
use crate::legend::{self, Swatch};
use crate::number::px;
use crate::palette;
use crate::plot;
use crate::scale::{Extent, Fit, Scale};
use crate::text::{counted, listed, one_line, width};

/// Tasks of a lane that overlap stand below one another, in at most so many rows.
const MOST_ROWS: usize = 4;

/// A piece of work in a lane.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    lane: usize,
    kind: usize,
    from: f64,
    to: f64,
    label: String,
}

impl Task {
    /// Work in lane number `lane` of kind number `kind`, from a time to a time.
    pub fn new(lane: usize, kind: usize, from: f64, to: f64) -> Task {
        Task { lane, kind, from, to, label: String::new() }
    }

    /// A short text inside the bar, such as the number of the micro-batch; shown where it fits, and in the tooltip.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Task {
        self.label = label.into();
        self
    }

    fn is_drawable(&self) -> bool {
        self.from.is_finite() && self.to.is_finite() && self.to >= self.from
    }
}

/// A Gantt chart of seconds (unless its axis says otherwise).
///
/// ```
/// use sapwood_report::{Chart, Gantt, Task};
/// let gantt = Gantt::new("1F1B", ["stage 0", "stage 1"], ["forward", "backward"])
///     .task(Task::new(0, 0, 0.0, 1.0).label("1"))
///     .task(Task::new(1, 1, 1.0, 3.0).label("1"));
/// assert!(Chart::from(gantt).svg().contains("stage 1, backward 1: "));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Gantt {
    title: String,
    axis: Axis,
    lanes: Vec<String>,
    kinds: Vec<String>,
    tasks: Vec<Task>,
}

impl Gantt {
    /// A chart with named lanes and kinds of tasks, without tasks yet.
    pub fn new<L: Into<String>, K: Into<String>>(
        title: impl Into<String>,
        lanes: impl IntoIterator<Item = L>,
        kinds: impl IntoIterator<Item = K>,
    ) -> Gantt {
        Gantt {
            title: title.into(),
            axis: Axis::new("time").unit(Unit::Seconds),
            lanes: lanes.into_iter().map(Into::into).collect(),
            kinds: kinds.into_iter().map(Into::into).collect(),
            tasks: Vec::new(),
        }
    }

    /// Another axis of time, such as plain steps of a schedule.
    #[must_use]
    pub fn axis(mut self, axis: Axis) -> Gantt {
        self.axis = axis;
        self
    }

    /// One more task. Times that are not finite or run backwards leave it out; the chart says how many.
    #[must_use]
    pub fn task(mut self, task: Task) -> Gantt {
        self.tasks.push(task);
        self
    }

    /// Many tasks.
    #[must_use]
    pub fn tasks(mut self, tasks: impl IntoIterator<Item = Task>) -> Gantt {
        self.tasks.extend(tasks);
        self
    }

    fn drawable(&self) -> impl Iterator<Item = &Task> {
        let lanes = self.lanes.len();
        self.tasks.iter().filter(move |t| t.is_drawable() && t.lane < lanes)
    }

    fn extent(&self) -> Extent {
        Extent::of(self.drawable().flat_map(|t| [t.from, t.to]))
    }

    fn kind(&self, i: usize) -> String {
        self.kinds.get(i).map_or_else(|| format!("kind {}", i + 1), |k| one_line(k))
    }
}

/// The tasks of a lane by begin, each with its row: the first row that is free again.
fn rows<'a>(mut tasks: Vec<&'a Task>) -> (Vec<(&'a Task, usize)>, usize) {
    tasks.sort_by(|a, b| a.from.total_cmp(&b.from).then(a.to.total_cmp(&b.to)));
    let mut ends: Vec<f64> = Vec::new();
    let place = |task: &'a Task| {
        // Ends and begins that differ by rounding alone do not overlap.
        let slack = 1e-9 * (task.to - task.from);
        let free = ends.iter().position(|end| *end <= task.from + slack);
        let row = free.unwrap_or(ends.len().min(MOST_ROWS - 1));
        if row == ends.len() {
            ends.push(task.to);
        }
        ends[row] = ends[row].max(task.to);
        (task, row)
    };
    let placed: Vec<_> = tasks.into_iter().map(place).collect();
    let n = ends.len().max(1);
    (placed, n)
}

impl Draw for Gantt {
    fn title(&self) -> &str {
        &self.title
    }

    fn describe(&self) -> String {
        let (lanes, tasks) =
            (counted(self.lanes.len(), "lane", "lanes"), counted(self.drawable().count(), "task", "tasks"));
        let span = self.extent().bounds().map_or(String::new(), |(lo, hi)| {
            format!(" from {} to {}", self.axis.unit.format(lo), self.axis.unit.format(hi))
        });
        let kinds = listed(self.kinds.iter().map(String::as_str), 8);
        format!("Gantt chart, {lanes}, {tasks}{span}. Kinds of tasks: {kinds}.")
    }

    fn nothing(&self) -> Option<String> {
        let nothing = self.drawable().next().is_none();
        nothing.then(|| "There are no tasks to draw.".to_string())
    }

    fn draw(&self, canvas: &mut Canvas) -> f64 {
        let used: Vec<usize> = (0..self.kinds.len().max(1)).chain(self.drawable().map(|t| t.kind)).collect();
        let most = used.iter().copied().max().unwrap_or(0).min(40);
        self.draw_hatches(canvas, most);
        let names: Vec<String> = (0..=most).map(|i| self.kind(i)).collect();
        let named: Vec<_> = names.iter().map(String::as_str).enumerate().collect();
        let top = legend::draw(canvas, 0.0, &named, Swatch::Hatch) + 2.0;
        let n = self.lanes.len();
        let high = (420.0 / n as f64).clamp(3.0, 26.0);
        let widest = self.lanes.iter().map(|l| width(&one_line(l), TEXT)).fold(0.0, f64::max);
        let left = (widest + 10.0).min(canvas.width * 0.28);
        let bottom = top + high * n as f64;
        let x = plot::x_scale((&self.axis, &self.extent(), Fit::Data), left, canvas.width - 14.0);
        let end = plot::x_axis(canvas, &x, &self.axis, top, bottom, true);
        let every = ((13.0 / high).ceil() as usize).max(1);
        let mut lanes: Vec<Vec<&Task>> = vec![Vec::new(); n];
        self.drawable().for_each(|t| lanes[t.lane].push(t));
        for (i, tasks) in lanes.into_iter().enumerate() {
            let y = top + high * i as f64;
            if i % every == 0 {
                canvas.text("tick", (left - 8.0, y + high / 2.0 + 4.0), Anchor::End, &self.lanes[i], left - 8.0);
            }
            self.draw_lane(canvas, &x, tasks, y, high);
        }
        let lost = self.tasks.len() - self.drawable().count();
        let note = (lost > 0)
            .then(|| format!("Not drawn: {} without a lane or a span of time.", counted(lost, "task", "tasks")));
        plot::note(canvas, end, note)
    }
}

impl Gantt {
    fn draw_lane(&self, canvas: &mut Canvas, x: &Scale, tasks: Vec<&Task>, y: f64, high: f64) {
        let (placed, n) = rows(tasks);
        let gap = if high > 8.0 { 2.0 } else { 0.5 };
        let each = (high - gap) / n as f64;
        // Tasks too narrow to be seen flow together with the one before, if it is of their kind.
        let mut narrow: Vec<Option<(usize, f64)>> = vec![None; n];
        for (task, row) in placed {
            let (a, b) = (x.clamped(task.from), x.clamped(task.to));
            if b - a < 0.5 {
                if narrow[row].is_some_and(|(kind, end)| kind == task.kind && a < end) {
                    continue;
                }
                narrow[row] = Some((task.kind, a + 0.5));
            }
            self.draw_task(canvas, task, (a, y + gap / 2.0 + each * row as f64), ((b - a).max(0.5), each));
        }
    }

    fn draw_task(&self, canvas: &mut Canvas, task: &Task, (x, y): (f64, f64), (w, h): (f64, f64)) {
        let kind = task.kind.min(40);
        let f = |v: f64| self.axis.unit.format(v);
        let label = one_line(&task.label);
        let what = format!("{} {label}", self.kind(task.kind));
        let hint = format!("{}, {}: {} to {}", one_line(&self.lanes[task.lane]), what.trim(), f(task.from), f(task.to));
        let fill = format!("url(#{}-k{kind})", canvas.id);
        let colour = palette::colour(kind);
        let tag = canvas.svg.tag("rect");
        // In a thin lane a hatching would only flicker.
        let tag = match (h > 7.0, w > 4.0) {
            (false, _) => tag.class(&format!("bar {colour}")),
            (true, false) => tag.class(&colour).attr("fill", &fill),
            (true, true) => tag.class(&format!("task {colour}")).attr("fill", &fill),
        };
        tag.area(x, y, w, h).hint(&hint);
        if !label.is_empty() && h >= 12.0 && width(&label, TEXT) + 4.0 <= w {
            canvas.text("inside", (x + w / 2.0, y + h / 2.0 + 4.0), Anchor::Middle, &label, w);
        }
    }

    /// A pattern for each kind, in its colour: kinds stay apart without colours.
    fn draw_hatches(&self, canvas: &mut Canvas, most: usize) {
        canvas.svg.tag("defs").open();
        for i in 0..=most {
            let id = format!("{}-k{i}", canvas.id);
            let size = px(8.0);
            let tag = canvas.svg.tag("pattern").attr("id", &id).class(&palette::colour(i));
            tag.attr("patternUnits", "userSpaceOnUse").attr("width", &size).attr("height", &size).open();
            canvas.svg.tag("rect").class("fill").area(0.0, 0.0, 8.0, 8.0).end();
            let d = HATCHES[i % HATCHES.len()];
            if !d.is_empty() {
                canvas.svg.tag("path").class("hatch").attr("d", d).end();
            }
            canvas.svg.close("pattern");
        }
        canvas.svg.close("defs");
    }
}

/// None, rising, falling, upright, flat, crossed, dotted: over an 8 by 8 square that repeats.
const HATCHES: [&str; 7] = [
    "",
    "M-2 2L2 -2M0 8L8 0M6 10L10 6",
    "M-2 6L2 10M0 0L8 8M6 -2L10 2",
    "M4 0L4 8",
    "M0 4L8 4",
    "M0 4L8 4M4 0L4 8",
    "M3 3L5 3L5 5L3 5Z",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_tasks_get_rows() {
        let tasks = [Task::new(0, 0, 0.0, 2.0), Task::new(0, 0, 1.0, 3.0), Task::new(0, 0, 2.0, 4.0)];
        let (placed, n) = rows(tasks.iter().collect());
        assert_eq!((placed.iter().map(|p| p.1).collect::<Vec<_>>(), n), (vec![0, 1, 0], 2));
        let many = vec![Task::new(0, 0, 0.0, 1.0); 9];
        assert_eq!(rows(many.iter().collect()).1, MOST_ROWS);
    }
}
