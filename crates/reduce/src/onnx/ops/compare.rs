//! Comparisons, truth values, bits, and the choice between two values.

use super::OnnxOp;

pub(super) static OPS: &[OnnxOp] = &[
    OnnxOp::new("And", |c| c.map("and")),
    OnnxOp::new("BitwiseAnd", |c| c.map("and")),
    OnnxOp::new("BitwiseNot", |c| c.map("not")),
    OnnxOp::new("BitwiseOr", |c| c.map("or")),
    OnnxOp::new("BitwiseXor", |c| c.map("xor")),
    OnnxOp::new("Equal", |c| c.map("eq")),
    OnnxOp::new("Greater", |c| c.map("gt")),
    OnnxOp::new("GreaterOrEqual", |c| c.map("ge")),
    OnnxOp::new("IsNaN", |c| c.map("is_nan")),
    OnnxOp::new("Less", |c| c.map("lt")),
    OnnxOp::new("LessOrEqual", |c| c.map("le")),
    OnnxOp::new("Not", |c| c.map("not")),
    OnnxOp::new("Or", |c| c.map("or")),
    OnnxOp::new("Where", |c| c.map("where")),
    OnnxOp::new("Xor", |c| c.map("xor")),
];
