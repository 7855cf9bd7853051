//! Schedules, memory, graphs, and what there is nothing of.

use crate::{GIB, figure, wobble};
use sapwood_report::{Axis, Figure, Gantt, Lines, Link, Node, NodeLink, Section, Series, Steps, Table, Task, Unit};

/// 1F1B of `stages` stages and `micros` micro-batches: forward takes 1, backward 2.
fn one_f_one_b(stages: usize, micros: usize) -> Vec<Task> {
    let mut done = vec![vec![[f64::INFINITY; 2]; micros]; stages];
    let mut tasks = Vec::new();
    let order = |s: usize| {
        let warm = (stages - s).min(micros);
        let mut list: Vec<(usize, usize)> = (0..warm).map(|m| (0, m)).collect();
        for m in 0..micros {
            list.push((1, m));
            if warm + m < micros {
                list.push((0, warm + m));
            }
        }
        list
    };
    let orders: Vec<_> = (0..stages).map(order).collect();
    let (mut next, mut free) = (vec![0; stages], vec![0.0f64; stages]);
    while next.iter().zip(&orders).any(|(n, o)| *n < o.len()) {
        for s in 0..stages {
            while let Some(&(kind, m)) = orders[s].get(next[s]) {
                let ready = match kind {
                    0 if s == 0 => 0.0,
                    0 => done[s - 1][m][0],
                    _ if s + 1 == stages => done[s][m][0],
                    _ => done[s + 1][m][1],
                };
                if ready.is_infinite() {
                    break;
                }
                let from = free[s].max(ready);
                free[s] = from + if kind == 0 { 0.010 } else { 0.020 };
                done[s][m][kind] = free[s];
                next[s] += 1;
                tasks.push(Task::new(s, kind, from, free[s]).label((m + 1).to_string()));
            }
        }
    }
    tasks
}

pub(crate) fn schedules() -> Section {
    let gantt = Gantt::new(
        "1F1B, four stages, eight micro-batches",
        (0..4).map(|s| format!("stage {s}")),
        ["forward", "backward"],
    )
    .tasks(one_f_one_b(4, 8));
    let kinds = ["forward", "backward", "recompute", "send", "receive", "optimiser", "wait"];
    let mixed = Gantt::new(
        "Overlapping tasks of seven kinds",
        ["rank 0", "rank 1", "a rank with a very long name indeed"],
        kinds,
    )
    .tasks((0..7).map(|k| Task::new(0, k, k as f64, k as f64 + 1.4)))
    .tasks((0..7).map(|k| Task::new(1, k, k as f64, k as f64 + 1.0).label(kinds[k])))
    .tasks([
        Task::new(2, 0, 0.0, 0.0),
        Task::new(2, 1, 3.0, 2.0),
        Task::new(9, 0, 0.0, 1.0),
        Task::new(2, 3, f64::NAN, 1.0),
        Task::new(2, 4, 2.0, 7.4),
    ]);
    let many = Gantt::new("128 stages", (0..128).map(|s| format!("stage {s}")), ["forward", "backward"])
        .tasks(one_f_one_b(128, 16));
    let memory = (0..4).fold(
        Steps::new("Memory by stage", Axis::new("time").unit(Unit::Seconds), Axis::new("memory").unit(Unit::Bytes)),
        |chart, s| {
            let mut held = (6.0 - s as f64) * GIB;
            let mut tasks: Vec<(f64, f64)> = vec![(0.0, held)];
            for e in 0..24 {
                held += if wobble(e * 3 + s) > 0.5 - 0.02 * (12.0 - e as f64) { 0.9 * GIB } else { -0.8 * GIB };
                tasks.push((0.01 * (e as f64 + 1.0), held.max(GIB)));
            }
            chart.curve(format!("stage {s}"), tasks)
        },
    );
    let memory = memory.until(0.27).cap(16.0 * GIB, "16 GiB of a device").cap(11.0 * GIB, "soft limit");
    let one = Steps::new(
        "One curve with a gap",
        Axis::new("time").unit(Unit::Seconds),
        Axis::new("memory").unit(Unit::Bytes),
    )
    .curve("rank 0", [(0.0, 1e6), (2.0, 3e6), (3.0, f64::NAN), (4.0, 2e6), (5.0, 2.5e6)])
    .until(6.0);
    Section::new("Schedules and memory")
        .figure(figure(gantt, "Forward is plain, backward is hatched; numbers are micro-batches."))
        .figure(figure(mixed, "Tasks of a lane that overlap stand below one another."))
        .figure(figure(many, "Lanes shrink before the page grows without end."))
        .figure(figure(memory, "What is held over time, against what there is."))
        .figure(figure(one, "The area under a single curve."))
}

pub(crate) fn graphs() -> Section {
    let model = NodeLink::new("A network of layers")
        .directed()
        .nodes(["input", "dropout", "GCN 1", "GCN 2", "GCN 3", "concat", "linear", "log-softmax"].map(Node::new))
        .links([(0, 1), (1, 2), (2, 3), (3, 4), (2, 5), (3, 5), (4, 5), (5, 6), (6, 7)].map(|(a, b)| Link::new(a, b)));
    let club: [(usize, usize); 78] = [
        (0, 1),
        (0, 2),
        (0, 3),
        (0, 4),
        (0, 5),
        (0, 6),
        (0, 7),
        (0, 8),
        (0, 10),
        (0, 11),
        (0, 12),
        (0, 13),
        (0, 17),
        (0, 19),
        (0, 21),
        (0, 31),
        (1, 2),
        (1, 3),
        (1, 7),
        (1, 13),
        (1, 17),
        (1, 19),
        (1, 21),
        (1, 30),
        (2, 3),
        (2, 7),
        (2, 8),
        (2, 9),
        (2, 13),
        (2, 27),
        (2, 28),
        (2, 32),
        (3, 7),
        (3, 12),
        (3, 13),
        (4, 6),
        (4, 10),
        (5, 6),
        (5, 10),
        (5, 16),
        (6, 16),
        (8, 30),
        (8, 32),
        (8, 33),
        (9, 33),
        (13, 33),
        (14, 32),
        (14, 33),
        (15, 32),
        (15, 33),
        (18, 32),
        (18, 33),
        (19, 33),
        (20, 32),
        (20, 33),
        (22, 32),
        (22, 33),
        (23, 25),
        (23, 27),
        (23, 29),
        (23, 32),
        (23, 33),
        (24, 25),
        (24, 27),
        (24, 31),
        (25, 31),
        (26, 29),
        (26, 33),
        (27, 33),
        (28, 31),
        (28, 33),
        (29, 32),
        (29, 33),
        (30, 32),
        (30, 33),
        (31, 32),
        (31, 33),
        (32, 33),
    ];
    let instructor = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 16, 17, 19, 21];
    let karate = NodeLink::new("Zachary's karate club")
        .groups(["the instructor's", "the officer's"])
        .nodes((0..34).map(|i| Node::new((i + 1).to_string()).group(usize::from(!instructor.contains(&i)))))
        .links(club.map(|(a, b)| Link::new(a, b)));
    let machine = NodeLink::new("A machine, with the bandwidth of its links")
        .directed()
        .nodes(["cluster", "node 0", "node 1", "socket 0", "socket 1", "socket 2", "socket 3"].map(Node::new))
        .links(
            [(0, 1, 12.0), (0, 2, 12.0), (1, 3, 40.0), (1, 4, 40.0), (2, 5, 40.0), (2, 6, 40.0)]
                .map(|(a, b, w)| Link::new(a, b).weight(w).label(format!("{w} GB/s"))),
        );
    Section::new("Graphs")
        .figure(figure(model, "Directed and without cycles: in layers."))
        .figure(figure(machine, "Links with weights and words."))
        .figure(figure(karate, "Without direction: by distance."))
}

pub(crate) fn nothing() -> Section {
    Section::new("Nothing to show")
        .figure(Figure::new(Lines::new("An empty line chart", Axis::new("epoch"), Axis::new("loss"))))
        .figure(Figure::new(Lines::new("Only NaN", Axis::new("epoch"), Axis::new("accuracy")).series(Series::counted(
            "a",
            0,
            [f64::NAN; 3],
        ))))
        .figure(Figure::new(NodeLink::new("Too many nodes").nodes((0..1000).map(|i| Node::new(i.to_string())))))
        .table(Table::new("A table without rows").columns(["name", "value"]))
}
