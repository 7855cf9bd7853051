//! Operations of old versions, and options that the node tests leave out.

use super::*;

/// The only output of one node.
fn one(opset: i64, op: &str, inputs: &[Tensor], attributes: Vec<AttributeProto>) -> Tensor {
    single(opset, op, inputs, 0, attributes).run(inputs).remove(0)
}

/// A node whose inputs from number `inputs.len() - known` on are initialisers.
fn single(opset: i64, op: &str, inputs: &[Tensor], known: usize, attributes: Vec<AttributeProto>) -> Model {
    let names: Vec<String> = (0..inputs.len()).map(|i| format!("x{i}")).collect();
    let mut model = Model::new(opset).node(op, &names.join(" "), "y", attributes).output("y");
    for (i, (name, t)) in names.iter().zip(inputs).enumerate() {
        let dims: Vec<String> = t.shape().iter().map(usize::to_string).collect();
        model = if i + known < inputs.len() {
            model.input(name, t.dtype(), &dims.join(" "))
        } else {
            model.initialiser(name, t)
        };
    }
    model
}

/// As [`one`], with the inputs but the first as initialisers.
fn with_known(opset: i64, op: &str, inputs: &[Tensor], attributes: Vec<AttributeProto>) -> Tensor {
    let known = inputs.len() - 1;
    single(opset, op, inputs, known, attributes).run(&inputs[..1]).remove(0)
}

fn f32s(shape: &[usize], values: &[f64]) -> Tensor {
    numbers(Dtype::F32, shape, values)
}

/// 0, 1, 2, … in a shape.
fn counted(shape: &[usize]) -> Tensor {
    let n = shape.iter().product::<usize>();
    f32s(shape, &(0..n).map(|i| i as f64).collect::<Vec<_>>())
}

#[test]
fn old_softmax_flattens() {
    let y = one(12, "Softmax", &[f32s(&[1, 2, 2], &[0.0; 4])], vec![]);
    assert_eq!((y.shape(), values(&y)), (&[1, 2, 2][..], vec![0.25; 4]));
    let y = one(13, "Softmax", &[f32s(&[1, 2, 2], &[0.0; 4])], vec![]);
    assert_eq!(values(&y), [0.5; 4]);
    let y = one(11, "Hardmax", &[f32s(&[1, 2, 2], &[0.0, 3.0, 1.0, 2.0])], vec![int("axis", -2)]);
    assert_eq!(values(&y), [0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn axes_as_attributes() {
    let x = counted(&[2, 3]);
    assert_eq!(
        values(&one(11, "ReduceSum", std::slice::from_ref(&x), vec![list("axes", &[0]), int("keepdims", 0)])),
        [3.0, 5.0, 7.0]
    );
    assert_eq!(one(12, "Unsqueeze", std::slice::from_ref(&x), vec![list("axes", &[0, -1])]).shape(), [1, 2, 3, 1]);
    assert_eq!(one(11, "Squeeze", &[f32s(&[1, 2, 1], &[1.0, 2.0])], vec![list("axes", &[-1])]).shape(), [1, 2]);
    let slice = vec![list("starts", &[1]), list("ends", &[i64::MAX]), list("axes", &[-1])];
    assert_eq!(values(&one(9, "Slice", std::slice::from_ref(&x), slice)), [1.0, 2.0, 4.0, 5.0]);
    assert_eq!(values(&one(9, "TopK", &[x], vec![int("k", 2)])), [2.0, 1.0, 5.0, 4.0]);
}

#[test]
fn empty_axes_reduce_all_or_nothing() {
    let (x, none) = (f32s(&[2], &[-1.0, 2.0]), ints(&[]));
    let run = |op: &str, noop: i64| {
        let attributes = vec![int("noop_with_empty_axes", noop), int("keepdims", 0)];
        values(&with_known(18, op, &[x.clone(), none.clone()], attributes))
    };
    assert_eq!((run("ReduceSum", 0), run("ReduceSum", 1)), (vec![1.0], vec![-1.0, 2.0]));
    assert_eq!((run("ReduceL1", 0), run("ReduceL1", 1)), (vec![3.0], vec![1.0, 2.0]));
}

#[test]
fn whole_numbers_through_real_ones() {
    let y = with_known(18, "ReduceL2", &[numbers(Dtype::I32, &[2], &[3.0, 4.0]), ints(&[0])], vec![]);
    assert_eq!((y.dtype(), values(&y)), (Dtype::I32, vec![5.0]));
}

#[test]
fn slices_run_backwards() {
    let x = counted(&[2, 4]);
    let slice = |start: i64, end: i64, step: i64| {
        let known = [x.clone(), ints(&[start]), ints(&[end]), ints(&[1]), ints(&[step])];
        values(&with_known(13, "Slice", &known, vec![]))
    };
    assert_eq!(slice(-1, i64::MIN, -2), [3.0, 1.0, 7.0, 5.0]);
    assert_eq!(slice(2, 0, -1), [2.0, 1.0, 6.0, 5.0]);
    assert_eq!(slice(0, 100, 3), [0.0, 3.0, 4.0, 7.0]);
    assert_eq!(slice(1, 4, i64::MAX), [1.0, 5.0]);
    assert_eq!(slice(3, 1, 1), [] as [f64; 0]);
    assert_eq!(slice(0, 3, i64::MIN), [] as [f64; 0]);
}

#[test]
fn gather_by_what_is_known_and_what_is_not() {
    let x = counted(&[3, 2, 2]);
    let (row, places) = (numbers(Dtype::I64, &[], &[-1.0]), numbers(Dtype::I32, &[2, 1], &[2.0, -3.0]));
    let y = with_known(13, "Gather", &[x.clone(), row.clone()], vec![]);
    assert_eq!((y.shape(), values(&y)), (&[2, 2][..], vec![8.0, 9.0, 10.0, 11.0]));
    for t in [
        one(13, "Gather", &[x.clone(), places.clone()], vec![]),
        with_known(13, "Gather", &[x.clone(), places], vec![]),
    ] {
        assert_eq!((t.shape(), values(&t)), (&[2, 1, 2, 2][..], vec![8.0, 9.0, 10.0, 11.0, 0.0, 1.0, 2.0, 3.0]));
    }
    let y = one(13, "Gather", &[x.clone(), row], vec![int("axis", 1)]);
    assert_eq!(values(&y), [2.0, 3.0, 6.0, 7.0, 10.0, 11.0]);
    let outside = single(13, "Gather", &[x, ints(&[3])], 1, vec![]).refused();
    assert!(outside.contains("place 3 is outside an axis of 3"), "{outside}");
}

#[test]
fn old_batch_norm_trains_where_statistics_are_wanted() {
    let model = Model::new(9)
        .input("x", Dtype::F64, "2 1 2")
        .input("s", Dtype::F64, "1")
        .input("m", Dtype::F64, "1")
        .node(
            "BatchNormalization",
            "x s s m s",
            "y mean var saved",
            vec![float("epsilon", 0.0), float("momentum", 0.5)],
        )
        .output("mean")
        .output("var")
        .output("saved");
    let got = model.run(&[
        numbers(Dtype::F64, &[2, 1, 2], &[1.0, 2.0, 3.0, 6.0]),
        numbers(Dtype::F64, &[1], &[1.0]),
        numbers(Dtype::F64, &[1], &[1.0]),
    ]);
    assert_eq!(got.iter().map(|t| values(t)[0]).collect::<Vec<_>>(), [2.0, 2.25, 3.0]);
}

#[test]
fn powers() {
    let x = f32s(&[2], &[4.0, 9.0]);
    let power = |e: f64| values(&with_known(13, "Pow", &[x.clone(), f32s(&[], &[e])], vec![]));
    assert_eq!((power(0.0), power(0.5), power(3.0)), (vec![1.0; 2], vec![2.0, 3.0], vec![64.0, 729.0]));
    let spread = with_known(13, "Pow", &[x.clone(), f32s(&[2, 1], &[1.0; 2])], vec![]);
    assert_eq!((spread.shape(), values(&spread)), (&[2, 2][..], vec![4.0, 9.0, 4.0, 9.0]));
    for (exponent, why) in [(9.0, "exponent 9:"), (-1.0, "exponent -1:"), (0.3, "exponent 0.3")] {
        assert!(single(13, "Pow", &[x.clone(), f32s(&[], &[exponent])], 1, vec![]).refused().contains(why));
    }
}

#[test]
fn remainders() {
    let (a, b) =
        (numbers(Dtype::I32, &[4], &[-4.0, 7.0, 5.0, 6.0]), numbers(Dtype::I32, &[4], &[3.0, -3.0, 3.0, -3.0]));
    assert_eq!(values(&one(13, "Mod", &[a.clone(), b.clone()], vec![])), [2.0, -2.0, 2.0, 0.0]);
    assert_eq!(values(&one(13, "Mod", &[a, b], vec![int("fmod", 1)])), [-1.0, 1.0, 2.0, 0.0]);
}

#[test]
fn ranges_and_nothing() {
    let number = |v: f64, dtype| numbers(dtype, &[], &[v]);
    let range = |ends: [f64; 3], dtype| {
        let model = single(13, "Range", &ends.map(|v| number(v, dtype)), 3, vec![]);
        values(&model.run(&[])[0])
    };
    assert_eq!(range([5.0, 0.0, -2.0], Dtype::I64), [5.0, 3.0, 1.0]);
    assert_eq!(range([1.0, 2.0, 0.375], Dtype::F32), [1.0, 1.375, 1.75]);
    assert_eq!(range([1.0, 0.0, 1.0], Dtype::I32), [] as [f64; 0]);
    let endless = single(13, "Range", &[0.0, 1.0, 0.0].map(|v| number(v, Dtype::F32)), 3, vec![]);
    assert!(endless.refused().contains("no end"));
    let none = with_known(13, "TopK", &[counted(&[2, 3]), ints(&[0])], vec![]);
    assert_eq!(none.shape(), [2, 0]);
}

#[test]
fn splits_fill_their_axis() {
    let split = |opset: i64, attributes: Vec<AttributeProto>| {
        let model = Model::new(opset).input("x", Dtype::F32, "5").node("Split", "x", "a b", attributes);
        model.output("a").output("b")
    };
    let lengths = |model: &Model| model.run(&[counted(&[5])]).iter().map(|t| t.len()).collect::<Vec<_>>();
    assert_eq!(lengths(&split(18, vec![int("num_outputs", 2)])), [3, 2]);
    assert_eq!(lengths(&split(11, vec![list("split", &[1, 4])])), [1, 4]);
    for list_of in [[1, 3], [5, 1], [i64::MAX, i64::MAX]] {
        let why = split(11, vec![list("split", &list_of)]).refused();
        assert!(why.contains("axis 0 of 5 does not fall into"), "{why}");
    }
}

#[test]
fn dropout_does_nothing_but_in_training() {
    let (ratio, training) = (f32s(&[], &[0.5]), numbers(Dtype::Bool, &[], &[1.0]));
    let x = f32s(&[2], &[1.0, 2.0]);
    assert_eq!(values(&with_known(13, "Dropout", &[x.clone(), ratio.clone()], vec![])), [1.0, 2.0]);
    assert!(single(13, "Dropout", &[x, ratio, training], 2, vec![]).refused().contains("training"));
}

#[test]
fn elu_keeps_small_numbers() {
    let y = values(&one(13, "Elu", &[f32s(&[3], &[-1e-6, -50.0, 100.0])], vec![float("alpha", 2.0)]));
    assert!((y[0] + 2e-6).abs() < 1e-11 && (y[1] + 2.0).abs() < 1e-6 && y[2] == 100.0, "{y:?}");
}
