//! Tells the program which of its features are built in, for `--version` and `doctor`.

fn main() {
    let on: Vec<&str> = [("CARGO_FEATURE_DEBIAN", "debian"), ("CARGO_FEATURE_HIGHS", "highs")]
        .iter()
        .filter(|(variable, _)| std::env::var_os(variable).is_some())
        .map(|(_, name)| *name)
        .collect();
    println!("cargo::rustc-env=SAPWOOD_FEATURES={}", if on.is_empty() { "none".into() } else { on.join(" ") });
    println!("cargo::rerun-if-changed=build.rs");
}
