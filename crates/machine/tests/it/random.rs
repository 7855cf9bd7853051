//! Random machines survive writing and reading; damaged files never panic.

use std::collections::BTreeMap;

use proptest::prelude::*;
use sapwood_machine::{
    Compute, Device, Dtype, Header, Level, Link, Measured, Memory, Override, Path, Port, Step, Transport, Tree, Values,
    Which, check, presets,
};

use crate::t2;

/// Any finite number from 0 up, also tiny and huge ones.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        (0.0..1e3f64),
        (-30f64..30.0).prop_map(|e| 10f64.powf(e)),
        (1u32..2000, -13i32..13).prop_map(|(n, e)| format!("{n}e{e}").parse().unwrap()),
    ]
}

fn measured() -> impl Strategy<Value = Measured<f64>> {
    (number(), prop::option::of(number()), 0u32..2000).prop_map(|(value, mad, samples)| Measured {
        value,
        mad,
        samples,
    })
}

fn link() -> impl Strategy<Value = Link> {
    (measured(), measured(), measured(), prop::option::of(measured()), prop::option::of(measured()))
        .prop_map(|(latency, down, up, side, side_latency)| Link { latency, down, up, side, side_latency })
}

fn compute() -> impl Strategy<Value = Compute> {
    prop::collection::btree_map(prop::sample::select(&Dtype::ALL[..]), measured(), 0..4)
        .prop_map(|by_type: BTreeMap<_, _>| Compute { by_type })
}

fn device() -> impl Strategy<Value = Device> {
    let integer = || prop::option::of(1u32..100_000);
    let size = || prop::option::of(any::<u64>());
    let more = || prop::option::of(measured());
    let integers = (integer(), integer(), integer(), integer(), integer());
    let sizes = (size(), size(), size());
    let rates = (more(), more(), more(), more(), more(), more(), more());
    (integers, sizes, rates).prop_map(|(i, s, r)| Device {
        sms: i.0,
        threads_per_sm: i.1,
        blocks_per_sm: i.2,
        warp: i.3,
        registers_per_sm: i.4,
        shared_per_block: s.0,
        shared_per_sm: s.1,
        l2: s.2,
        sm_bandwidth: r.0,
        latency: r.1,
        launch: r.2,
        next_launch: r.3,
        ticket: r.4,
        atomic_same: r.5,
        atomic_rate: r.6,
    })
}

fn values() -> impl Strategy<Value = Values> {
    let memory = (prop::option::of(any::<u64>()), prop::option::of(measured()))
        .prop_map(|(size, bandwidth)| Memory { size, bandwidth });
    (
        prop::option::of(compute()),
        prop::option::of(memory),
        prop::option::of(link()),
        prop::option::of(prop::sample::select(&[Port::Serial, Port::Parallel][..])),
        prop::option::of(prop::sample::select(&[Transport::Memory, Transport::Mpi, Transport::None][..])),
        prop::option::of(device()),
        prop::option::of(number().prop_filter("a speed is above 0", |speed| *speed > 0.0)),
    )
        .prop_map(|(compute, memory, link, port, transport, device, speed)| Values {
            compute,
            memory,
            link,
            port,
            transport,
            device,
            speed,
            pin: None,
        })
}

/// The parts of a random machine.
fn machine() -> impl Strategy<Value = (Vec<Level>, Vec<Override>)> {
    let levels = prop::collection::vec((1u32..4, values()), 1..5).prop_map(|parts| {
        let level = |(i, (count, values)): (usize, (u32, Values))| Level {
            name: format!("l{i}"),
            count: if i == 0 { 1 } else { count },
            values,
        };
        parts.into_iter().enumerate().map(level).collect::<Vec<_>>()
    });
    levels.prop_flat_map(|levels| {
        let deepest = levels.len() - 1;
        let counts: Vec<u32> = levels.iter().map(|level| level.count).collect();
        let exception =
            (1..=deepest.max(1), any::<prop::sample::Index>(), values()).prop_map(move |(depth, index, values)| {
                let steps = counts.iter().enumerate().skip(1).take(depth).map(|(i, count)| Step {
                    name: format!("l{i}"),
                    which: match index.index(3) {
                        0 => Which::All,
                        1 => Which::One(index.index(*count as usize) as u32),
                        _ => Which::Range(0, index.index(*count as usize) as u32),
                    },
                });
                Path::new(steps.collect()).map(|at| Override { at, children: None, values })
            });
        let most = if deepest == 0 { 0 } else { 3 };
        let overrides = prop::collection::vec(exception, 0..=most).prop_map(|all| all.into_iter().flatten().collect());
        (Just(levels), overrides)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn written_machines_read_back_equal((levels, overrides) in machine()) {
        let header = Header { name: "random".to_owned(), ..Header::default() };
        let tree = Tree::new(header, levels.clone(), overrides).unwrap();
        prop_assert_eq!(tree.levels(), &levels[..]);
        let text = tree.write();
        let again = Tree::parse(&text, "written");
        prop_assert!(again.is_ok(), "{:?}\n{}", again, text);
        prop_assert_eq!(again.unwrap(), tree, "{}", text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Bytes changed, removed, doubled: an error or a machine, never a panic; and what is accepted can be written.
    #[test]
    fn damaged_files_never_panic(
        which in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4, "[ -~\n]"), 1..8),
    ) {
        let texts: Vec<&str> = presets::ALL.iter().map(|preset| preset.text).chain([t2::TEXT]).collect();
        let mut text = texts[which.index(texts.len())].to_owned();
        for (at, kind, with) in edits {
            let at = at.index(text.len());
            let end = (at + 12).min(text.len());
            match kind {
                0 => text.replace_range(at..=at, &with),
                1 => text.replace_range(at..end, ""),
                2 => {
                    let copy = text[at..end].to_owned();
                    text.insert_str(at, &copy);
                },
                _ => text.insert_str(at, &with),
            }
        }
        let report = check(&text);
        match report.tree {
            Some(tree) => prop_assert_eq!(&Tree::parse(&tree.write(), "written").unwrap(), &tree),
            None => prop_assert!(!report.errors.is_empty()),
        }
        let lines = text.lines().count() + 1;
        prop_assert!(report.errors.iter().all(|problem| (1..=lines).contains(&problem.line)));
    }

    /// Whole keys and values swapped between lines reach deeper than random bytes.
    #[test]
    fn shuffled_files_never_panic(order in prop::collection::vec(any::<prop::sample::Index>(), 1..30)) {
        let lines: Vec<&str> = presets::ALL.iter().flat_map(|preset| preset.text.lines()).collect();
        let text: Vec<&str> = order.iter().map(|index| lines[index.index(lines.len())]).collect();
        let _ = check(&text.join("\n"));
    }
}
