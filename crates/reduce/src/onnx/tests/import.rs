//! Graphs: boundaries, names, folding, functions, what has to be known.

use super::super::proto::FunctionProto;
use super::*;
use crate::program::Op;

fn names(p: &Program) -> (Vec<&str>, Vec<&str>) {
    (p.inputs().iter().map(|&v| p.input_name(v)).collect(), p.outputs().iter().map(|(n, _)| &n[..]).collect())
}

/// x → Relu → MatMul → Softmax → y, and the MatMul of another shape that is not declared.
fn split() -> Model {
    Model::new(13)
        .input("x", Dtype::F32, "2 3")
        .input("w", Dtype::F32, "3 4")
        .node("Relu", "x", "r", vec![])
        .node("MatMul", "r w", "m", vec![])
        .value("m", Dtype::F32, "2 4")
        .node("Softmax", "m", "y", vec![])
        .node("Gemm", "r w", "lost", vec![])
        .node("Neg", "lost", "z", vec![])
        .output("y")
        .output("z")
        .output("m")
}

#[test]
fn unsupported_nodes_are_boundaries() {
    let Imported { program, unsupported } = split().import(&Bindings::default()).unwrap();
    assert_eq!(names(&program), (vec!["x", "m"], vec!["y", "r"]));
    let listed = |op: &str, value: &str| Unsupported {
        node: value.into(),
        op: op.into(),
        opset: 13,
        values: vec![value.into()],
    };
    assert_eq!(unsupported, [listed("MatMul", "m"), listed("Gemm", "lost")]);
}

#[test]
fn only_what_is_asked_for() {
    let only = |names: &[&str]| Bindings { only: names.iter().map(|n| n.to_string()).collect(), ..Bindings::default() };
    let Imported { program, unsupported } = split().import(&only(&["r"])).unwrap();
    assert_eq!((names(&program), unsupported), ((vec!["x"], vec!["r"]), vec![]));
    let y = split().import(&only(&["y"])).unwrap();
    assert_eq!((names(&y.program), y.unsupported.len()), ((vec!["m"], vec!["y"]), 1));
    for value in ["z", "m"] {
        let why = chain(&split().import(&only(&[value])).unwrap_err());
        assert!(why.contains(&format!("value {value}")) && why.contains("not supported"), "{why}");
    }
    assert!(chain(&split().import(&only(&["nothing"])).unwrap_err()).contains("none of that name"));
}

#[test]
fn dimensions_are_bound() {
    let model = Model::new(13).input("x", Dtype::F32, "n ? 3").node("Neg", "x", "y", vec![]).output("y");
    let bind = |dims: &[(&str, usize)]| {
        let dims = dims.iter().map(|(n, v)| (n.to_string(), *v)).collect();
        model.import(&Bindings { dims, ..Bindings::default() })
    };
    let p = bind(&[("n", 4), ("x.1", 5)]).unwrap().program;
    assert_eq!(p.shape(p.outputs()[0].1), [4, 5, 3]);
    assert!(chain(&bind(&[]).unwrap_err()).contains("--bind n=N"));
    assert!(chain(&bind(&[("n", 1)]).unwrap_err()).contains("--bind x.1=N"));
}

#[test]
fn shapes_are_folded() {
    let model = Model::new(13)
        .input("x", Dtype::F32, "2 3 4")
        .initialiser("from", &ints(&[1]))
        .initialiser("to", &ints(&[3]))
        .initialiser("one", &ints(&[-1]))
        .node("Shape", "x", "s", vec![])
        .node("Slice", "s from to", "part", vec![])
        .node("Concat", "one part", "shape", vec![int("axis", 0)])
        .node("Mul", "shape shape", "unused", vec![])
        .node("Reshape", "x shape", "y", vec![])
        .output("y")
        .output("unused");
    let p = model.import(&Bindings::default()).unwrap().program;
    assert_eq!(p.shape(p.outputs()[0].1), [2, 3, 4]);
    assert_eq!(values(p.constant_of(p.outputs()[1].1).unwrap()), [1.0, 9.0, 16.0]);
    assert!(p.nodes().iter().all(|n| matches!(n.op, Op::Input { .. } | Op::Constant(_))));
}

#[test]
fn what_is_large_is_not_folded() {
    let model = Model::new(13)
        .initialiser("size", &ints(&[1 << 20, 1 << 20]))
        .node("ConstantOfShape", "size", "zeros", vec![])
        .node("Exp", "zeros", "y", vec![])
        .output("y");
    let p = model.import(&Bindings::default()).unwrap().program;
    assert_eq!(p.shape(p.outputs()[0].1), [1 << 20, 1 << 20]);
}

/// Sum over axes that are computed from an input of the graph.
fn computed_axes() -> Model {
    Model::new(13)
        .input("x", Dtype::F32, "2 3")
        .input("axis", Dtype::I64, "1")
        .initialiser("one", &ints(&[1]))
        .node("Sub", "axis one", "axes", vec![])
        .node("ReduceSum", "x axes", "y", vec![int("keepdims", 0)])
        .output("y")
}

#[test]
fn axes_have_to_be_known() {
    let model = computed_axes();
    assert_eq!(inputs_to_know(&model.bytes(), &[]).unwrap(), ["axis"]);
    assert!(inputs_to_know(&model.bytes(), &["axes".into()]).unwrap().is_empty());
    assert!(model.refused().contains("input axis gives axes"));
    let bind = |t: Tensor| {
        let values = [("axis".to_string(), t)].into();
        model.import(&Bindings { values, ..Bindings::default() })
    };
    let p = bind(ints(&[1])).unwrap().program;
    assert_eq!((names(&p), p.shape(p.outputs()[0].1)), ((vec!["x"], vec!["y"]), &[3][..]));
    assert!(chain(&bind(ints(&[1, 2])).unwrap_err()).contains("i64[1] is declared"));
    let values = [("axes".to_string(), ints(&[1]))].into();
    let why = chain(&model.import(&Bindings { values, ..Bindings::default() }).unwrap_err());
    assert!(why.contains("no input of that name"), "{why}");
}

#[test]
fn unknown_axes_from_a_boundary_make_a_boundary() {
    let model = Model::new(13)
        .input("x", Dtype::F32, "2 3")
        .node("NonZero", "x", "axes", vec![])
        .value("axes", Dtype::I64, "1")
        .node("ReduceSum", "x axes", "s", vec![])
        .value("s", Dtype::F32, "2 1")
        .node("Neg", "s", "y", vec![])
        .output("y");
    let Imported { program, unsupported } = model.import(&Bindings::default()).unwrap();
    assert_eq!(unsupported.iter().map(|u| &u.op[..]).collect::<Vec<_>>(), ["NonZero", "ReduceSum"]);
    assert!(names(&program).0.contains(&"s") && names(&program).1 == ["y"]);
}

/// f(a, b) = (a + b, alpha · a) with alpha's default 2; b may be left out, then it is Relu(a) alone.
fn function() -> FunctionProto {
    let referring = AttributeProto { ref_attr_name: "alpha".into(), ..float("alpha", 0.0) };
    FunctionProto {
        name: "f".into(),
        domain: "own".into(),
        input: vec!["a".into(), "bound".into()],
        output: vec!["clipped".into(), "leaky".into()],
        attribute_proto: vec![float("alpha", 2.0)],
        node: vec![
            node("Clip", "a bound", "clipped", vec![]),
            node("LeakyRelu", "a", "t", vec![referring]),
            node("Neg", "t", "leaky", vec![]),
        ],
        ..FunctionProto::default()
    }
}

#[test]
fn functions_are_inlined() {
    let call = |inputs: &str, outputs: &str, attributes| {
        let mut call = node("f", inputs, outputs, attributes);
        call.domain = "own".into();
        call
    };
    let mut model = Model::new(13)
        .input("t", Dtype::F32, "2")
        .initialiser("low", &numbers(Dtype::F32, &[], &[0.5]))
        .output("a")
        .output("b")
        .output("c")
        .output("d");
    model.0.functions.push(function());
    model.graph().node.push(call("t low", "a b", vec![]));
    model.graph().node.push(call("t", "c d", vec![float("alpha", 3.0)]));
    let got = model.run(&[numbers(Dtype::F32, &[2], &[-1.0, 1.0])]);
    let got: Vec<Vec<f64>> = got.iter().map(values).collect();
    assert_eq!(got, [[0.5, 1.0], [2.0, -1.0], [-1.0, 1.0], [3.0, -1.0]]);
}

#[test]
fn functions_that_call_themselves_are_refused() {
    let mut f = function();
    f.node = vec![NodeProto { domain: "own".into(), ..node("f", "a bound", "clipped leaky", vec![]) }];
    let mut model = Model::new(13).input("t", Dtype::F32, "2").output("a");
    model.graph().node.push(NodeProto { domain: "own".into(), ..node("f", "t", "a b", vec![]) });
    model.0.functions.push(f.clone());
    assert!(model.refused().contains("calls itself"));
    // Thirty functions, each calling the next one twice: 2^30 nodes.
    model.0.functions.clear();
    for i in 0..30 {
        let next = |output: &str| NodeProto {
            domain: "own".into(),
            ..node(&format!("f{}", i + 1), "a bound", output, vec![])
        };
        f.node = vec![next("clipped leaky"), next("p q")];
        f.name = if i == 0 { "f".into() } else { format!("f{i}") };
        model.0.functions.push(f.clone());
    }
    assert!(model.refused().contains("too many nodes"));
}

#[test]
fn wrong_graphs_are_refused() {
    let model = || Model::new(13).input("x", Dtype::F32, "2 3").output("y");
    assert!(model().node("Neg", "x", "y", vec![]).node("Neg", "x", "y", vec![]).refused().contains("made twice"));
    assert!(model().node("Neg", "x", "x", vec![]).refused().contains("made twice"));
    let late = model().node("Neg", "later", "y", vec![]).node("Neg", "x", "later", vec![]);
    assert!(late.refused().contains("value later"));
    assert!(model().refused().contains("value y"));
    assert!(model().input("x", Dtype::F32, "2").node("Neg", "x", "y", vec![]).refused().contains("declared twice"));
    let wrong = model().node("Softmax", "x", "y", vec![int("axis", 2)]).refused();
    assert_eq!(wrong, "node y (Softmax, opset 13): max: axis 2 is outside the tensor (the rank is 2)");
    let wrong = model().node("Softmax", "x", "y", vec![float("axis", 1.0)]).refused();
    assert!(wrong.contains("axis: the attribute is of type FLOAT, not INT"), "{wrong}");
    assert!(model().node("Neg", "x", "y y2", vec![]).refused().contains("no output number 1"));
    assert!(model().node("Add", "x _", "y", vec![]).refused().contains("input number 1 is missing"));
    let mut old = Model::new(6).input("x", Dtype::F32, "2").node("Neg", "x", "y", vec![]).output("y");
    assert!(old.refused().contains("operator set 6"));
    old.0.graph = None;
    assert!(old.refused().contains("no graph"));
    let mut bytes = model().bytes();
    bytes.truncate(bytes.len() - 1);
    assert!(chain(&Program::from_onnx(&bytes, &Bindings::default()).unwrap_err()).contains("at byte"));
}
