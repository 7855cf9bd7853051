//! Makes Rust types of the ONNX messages in `src/onnx/onnx.proto`; needs no protoc.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=src/onnx/onnx.proto");
    let messages = protox::compile(["src/onnx/onnx.proto"], ["src/onnx"])?;
    prost_build::compile_fds(messages)?;
    Ok(())
}
