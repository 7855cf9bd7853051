//! ONNX files with wrong bytes: errors, never a panic, and never memory that the file does not account for, counted by the
//! allocator itself.
#![cfg(test)]

use sapwood_reduce::Program;
use sapwood_reduce::onnx::{Bindings, inputs_to_know, read_tensor};
use sapwood_skeleton::random::{Purpose, Stream};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::sync::Mutex;

#[global_allocator]
static COUNTED: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Folding computes at most 2^16 elements for a node, in double precision with their bounds, and 2^23 for a model.
const MOST_BYTES: usize = 64 << 20;

/// The allocator counts for all threads.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn varint(mut n: u64) -> Vec<u8> {
    let mut bytes = vec![];
    while n >= 128 {
        bytes.push(n as u8 | 128);
        n >>= 7;
    }
    bytes.push(n as u8);
    bytes
}

fn number(field: u64, n: i64) -> Vec<u8> {
    [varint(field << 3), varint(n as u64)].concat()
}

fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
    [&varint(field << 3 | 2), &varint(content.len() as u64), content].concat()
}

fn parts(field: u64, parts: &[Vec<u8>]) -> Vec<u8> {
    bytes(field, &parts.concat())
}

fn int(name: &str, i: i64) -> Vec<u8> {
    parts(5, &[bytes(1, name.as_bytes()), number(3, i), number(20, 2)])
}

/// Inputs, then outputs, each cut at spaces.
fn node(op: &str, inputs: &str, outputs: &str, attributes: &[Vec<u8>]) -> Vec<u8> {
    let names = |field: u64, list: &str| list.split(' ').flat_map(|n| bytes(field, n.as_bytes())).collect::<Vec<u8>>();
    parts(1, &[names(1, inputs), names(2, outputs), bytes(4, op.as_bytes()), attributes.concat()])
}

/// An input (11) or output (12) of f32.
fn value(field: u64, name: &str, dims: &[i64]) -> Vec<u8> {
    let dims: Vec<Vec<u8>> = dims.iter().map(|&d| parts(1, &[number(1, d)])).collect();
    let kind = parts(1, &[number(1, 1), parts(2, &dims)]);
    parts(field, &[bytes(1, name.as_bytes()), parts(2, &[kind])])
}

/// The content of a list of whole numbers, as a tensor.
fn list(name: &str, values: &[i64]) -> Vec<u8> {
    let raw: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    [number(1, values.len() as i64), number(2, 7), bytes(8, name.as_bytes()), bytes(9, &raw)].concat()
}

fn model(graph: &[Vec<u8>], functions: &[Vec<u8>]) -> Vec<u8> {
    let opsets = [parts(8, &[number(2, 18)]), parts(8, &[bytes(1, b"own"), number(2, 1)])].concat();
    [number(1, 8), opsets, parts(7, graph), functions.concat()].concat()
}

fn models() -> Vec<Vec<u8>> {
    let x = || value(11, "x", &[2, 3, 4]);
    let reductions = model(
        &[
            node("ReduceSum", "x axes", "s", &[int("keepdims", 1)]),
            node("Softmax", "s", "p", &[int("axis", -1)]),
            node("TopK", "p k", "y i", &[int("axis", 1), int("largest", 0)]),
            parts(5, &[list("axes", &[0, -1])]),
            parts(5, &[list("k", &[2])]),
            x(),
            value(12, "y", &[1, 2, 1]),
        ],
        &[],
    );
    let shapes = model(
        &[
            node("Shape", "x", "s", &[int("start", 1)]),
            node("Concat", "s s", "c", &[int("axis", 0)]),
            node("ConstantOfShape", "c", "z", &[]),
            node("Range", "from to step", "r", &[]),
            node("Slice", "z from1 to1 axes1 step1", "part", &[]),
            node("Gather", "part r", "g", &[int("axis", 1)]),
            node("MatMul", "g g", "m", &[]),
            node("Expand", "x s", "e", &[]),
            parts(5, &[bytes(8, b"from"), number(2, 7), bytes(9, &[0; 8])]),
            parts(5, &[bytes(8, b"to"), number(2, 7), bytes(9, &2i64.to_le_bytes())]),
            parts(5, &[bytes(8, b"step"), number(2, 7), bytes(9, &1i64.to_le_bytes())]),
            parts(5, &[list("from1", &[-1])]),
            parts(5, &[list("to1", &[-4])]),
            parts(5, &[list("axes1", &[2])]),
            parts(5, &[list("step1", &[-2])]),
            x(),
            value(12, "g", &[3, 2, 2, 4]),
            value(12, "e", &[2, 3, 4]),
        ],
        &[],
    );
    let body = [node("LayerNormalization", "a b", "c", &[int("axis", 1)]), node("Mul", "c c", "d", &[])];
    let body: Vec<u8> = body.iter().flat_map(|n| bytes(7, &n[2..])).collect();
    let function = [bytes(1, b"f"), bytes(4, b"a"), bytes(4, b"b"), bytes(5, b"d"), body, bytes(10, b"own")].concat();
    let calls = model(
        &[
            node("f", "x x", "t", &[bytes(7, b"own")]),
            node("f", "t x", "y", &[bytes(7, b"own")]),
            x(),
            value(12, "y", &[]),
        ],
        &[bytes(25, &function)],
    );
    vec![reductions, shapes, calls]
}

/// A few wrong bytes: flipped, extreme, left out, twice, cut off or put between.
fn damaged(model: &[u8], number: u32) -> Vec<u8> {
    let dice = Stream::new(1, Purpose::Test);
    let mut bytes = model.to_vec();
    let mut roll = 0;
    let mut below = |n: usize| {
        roll += 1;
        dice.hash64(number, 0, roll).unwrap() as usize % n.max(1)
    };
    // Every other file keeps its lengths, so that what is behind the messages is reached.
    let (kinds, most) = if number.is_multiple_of(2) { (2, 1) } else { (6, 4) };
    for _ in 0..below(most) + 1 {
        let at = below(bytes.len());
        let end = (at + 1 + below(12)).min(bytes.len());
        match below(kinds) {
            0 => bytes[at] ^= 1 << below(8),
            1 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][below(5)],
            2 => drop(bytes.drain(at..end)),
            3 => {
                let twice = bytes[at..end].to_vec();
                bytes.splice(at..at, twice);
            }
            4 => bytes.truncate(at.max(1)),
            // The largest whole number as a varint.
            _ => drop(bytes.splice(at..at, [0xff; 8].into_iter().chain([0x7f]))),
        }
        if bytes.is_empty() {
            bytes.push(0);
        }
    }
    bytes
}

fn damage(mutations: u32) {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let models = models();
    for model in &models {
        assert!(Program::from_onnx(model, &Bindings::default()).unwrap().program.outputs().len() < 4);
    }
    let (mut read, mut refused, mut most) = (0, 0, 0);
    for i in 0..mutations {
        let bytes = damaged(&models[i as usize % models.len()], i);
        let region = Region::new(COUNTED);
        match Program::from_onnx(&bytes, &Bindings::default()) {
            Ok(_) => read += 1,
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
        }
        let _ = inputs_to_know(&bytes, &[]);
        let _ = read_tensor(&bytes);
        most = most.max(region.change().bytes_allocated);
    }
    assert!(read > mutations / 10 && refused > mutations / 10, "{read} read, {refused} refused");
    assert!(most < MOST_BYTES, "{most} bytes");
}

/// Each list twice as long as the one before: 2^60 elements in the end.
fn doubling() -> Vec<u8> {
    let step = |i: usize| {
        let (from, to) = (format!("c{i} c{i}"), format!("c{}", i + 1));
        node("Concat", &from, &to, &[int("axis", 0)])
    };
    let nodes = (0..50).flat_map(step).collect();
    model(&[nodes, parts(5, &[list("c0", &[1; 1024])]), value(12, "c50", &[1])], &[])
}

/// Many lists, each as long as folding allows.
fn filling() -> Vec<u8> {
    let zeros = |i: usize| node("ConstantOfShape", "n", &format!("z{i}"), &[]);
    let nodes = (0..20_000).flat_map(zeros).collect();
    model(&[nodes, parts(5, &[list("n", &[1 << 15])]), value(12, "z1", &[1])], &[])
}

/// A list in a function that is called 2^18 times, by functions that call each other twice.
fn calling() -> Vec<u8> {
    let tensor = parts(5, &[bytes(1, b"value"), bytes(5, &list("", &[0; 4096])), number(20, 4)]);
    let function = |name: &str, body: &[Vec<u8>]| {
        let body = body.iter().flat_map(|n| bytes(7, n)).collect();
        parts(25, &[bytes(1, name.as_bytes()), bytes(5, b"y"), body, bytes(10, b"own")])
    };
    let inner = |op: &str, output: &str, more: &[u8]| {
        [bytes(2, output.as_bytes()), bytes(4, op.as_bytes()), more.to_vec()].concat()
    };
    let call = |i: usize, output: &str| inner(&format!("f{i}"), output, &bytes(7, b"own"));
    let mut functions = vec![function("f0", &[inner("Constant", "y", &tensor)])];
    functions.extend((1..19).map(|i| function(&format!("f{i}"), &[call(i - 1, "y"), call(i - 1, "z")])));
    model(&[parts(1, &[call(18, "y")]), value(12, "y", &[1])], &functions)
}

#[test]
fn small_files_take_little_memory() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    for (file, is_read) in [(doubling(), true), (filling(), true), (calling(), false)] {
        let region = Region::new(COUNTED);
        let imported = Program::from_onnx(&file, &Bindings::default());
        let taken = region.change().bytes_allocated;
        assert_eq!(imported.is_ok(), is_read, "{:?}", imported.err());
        assert!(taken < 16 * MOST_BYTES, "{taken} bytes for a file of {}", file.len());
    }
}

#[test]
fn damaged_files_are_errors() {
    damage(1000);
}

#[test]
#[ignore = "long: part of make test-long"]
fn many_damaged_files_are_errors() {
    damage(1_000_000);
}
