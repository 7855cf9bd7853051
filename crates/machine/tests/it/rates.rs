//! Rates of kernels: read, checked, written, asked for, and put into the levels of a tree.

use sapwood_machine::{ByKernel, Dtype, Header, Kernel, Measured, Quantity, Rates, Tree, check, fit};

use crate::t2;

const TABLE: &str = "[rates]\nthreads = 8\ngemm = { value = \"45 GFLOP/s\", mad = \"1 GFLOP/s\", samples = 9 }\n\
                     spmm = \"12 GB/s\"\ndispatch = \"2 us\"\n[rates.one]\ngemm = \"10 GFLOP/s\"\ndispatch = \"5 ns\"\n";

fn rates() -> Rates {
    t2::with(TABLE).rates().unwrap().clone()
}

fn problem(table: &str) -> String {
    let report = check(&format!("{}{table}", t2::TEXT));
    assert!(report.tree.is_none() && report.errors.len() == 1, "{:?}", report.errors);
    let problem = &report.errors[0];
    format!("{}: {}", problem.key, problem.message)
}

#[test]
fn a_file_without_the_table_has_none() {
    assert!(t2::t2().rates().is_none());
}

#[test]
fn rates_are_read_and_written_with_the_same_bits() {
    let tree = t2::with(TABLE);
    assert_eq!(Tree::parse(&tree.write(), "written").unwrap(), tree, "{}", tree.write());
    let gemm = rates().all[&Kernel::Gemm];
    assert_eq!((gemm.value, gemm.mad, gemm.samples), (4.5e10, Some(1e9), 9));
    let everything = |value: f64| -> ByKernel {
        Kernel::ALL.into_iter().map(|k| (k, Measured { value, mad: Some(value / 7.0), samples: 3 })).collect()
    };
    let rates = Rates { threads: None, all: everything(1.0 / 3.0), one: everything(1e9 / 3.0) };
    let header = Header { name: "x".to_owned(), rates: Some(rates), ..Header::default() };
    let tree = Tree::new(header, tree.levels().to_vec(), Vec::new()).unwrap();
    assert_eq!(Tree::parse(&tree.write(), "written").unwrap(), tree, "{}", tree.write());
}

#[test]
fn a_rate_belongs_to_a_number_of_workers() {
    let rates = rates();
    assert_eq!([1, 8, 64].map(|t| rates.at(Kernel::Gemm, t)), [Some(1e10), Some(4.5e10), Some(4.5e10)]);
    assert_eq!(rates.at(Kernel::Gemm, 3), Some(1e10 + 3.5e10 * (2.0 / 7.0)));
    assert_eq!(rates.at(Kernel::Dispatch, 8), Some(2e-6));
    assert_eq!([1, 3, 8].map(|t| rates.at(Kernel::Spmm, t)), [None, None, Some(1.2e10)], "one worker is not known");
    assert_eq!(rates.at(Kernel::Stream, 8), None);
    let plain = t2::with("[rates]\ngemm = \"45 GFLOP/s\"\n");
    assert_eq!(plain.rates().unwrap().at(Kernel::Gemm, 4), Some(4.5e10));
    let alone = t2::with("[rates]\nthreads = 1\n[rates.one]\ngemm = \"3 GFLOP/s\"\n");
    assert_eq!(alone.rates().unwrap().at(Kernel::Gemm, 1), Some(3e9));
}

#[test]
fn what_is_wrong_is_named() {
    assert_eq!(problem("[rates]\ngem = \"1 GFLOP/s\"\n"), "rates.gem: unknown key, did you mean gemm?");
    assert_eq!(problem("[rates.one]\nthreads = 2\n").split(',').next(), Some("rates.one.threads: unknown key"));
    assert!(problem("[rates]\ngemm = \"0 GFLOP/s\"\n").starts_with("rates.gemm: must be above 0"));
    assert!(problem("[rates]\ngemm = 0\n").starts_with("rates.gemm: must be above 0"));
    assert!(problem("[rates]\ngemm = \"12 GB/s\"\n").contains("unknown unit \"GB/s\""));
    assert!(problem("[rates]\ngemm = \"12 Gflop/s\"\n").contains("did you mean \"GFLOP/s\"?"));
    assert!(problem("[rates]\ngemm = 12e9\n").contains("has no unit"));
    assert!(problem("[rates]\nspmm = \"1e999 GB/s\"\n").contains("too large"));
    assert!(problem("[rates]\nspmm = \"-1 GB/s\"\n").contains("is negative"));
    assert!(problem("[rates]\nthreads = 0\n").contains("an integer from 1 to"));
    assert!(problem("[rates]\none = 3\n").contains("must be a table"));
    assert!(check("rates = 3\n").errors.iter().any(|p| p.key == "rates" && p.message.contains("must be a table")));
}

#[test]
fn names_and_units_are_distinct_and_parse() {
    let mut names: Vec<_> = Kernel::ALL.iter().map(|kernel| kernel.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Kernel::ALL.len());
    for quantity in [Quantity::Flops, Quantity::Bytes, Quantity::Seconds] {
        assert_eq!(quantity.parse(&quantity.print(0.123)), Ok(0.123));
        assert_eq!(quantity.parse(&format!("3 {}", quantity.unit())), Ok(3.0));
    }
}

fn measured(threads: u32) -> Rates {
    let table = |factor: f64| -> ByKernel {
        let of = |(kernel, value): (Kernel, f64)| (kernel, fit::location(&[value * factor, value * factor]).unwrap());
        [(Kernel::FmaF64, 1e9), (Kernel::FmaF32, 2e9), (Kernel::Read, 1e10)].map(of).into_iter().collect()
    };
    Rates { threads: Some(threads), all: table(3.0), one: table(1.0) }
}

#[test]
fn levels_follow_from_the_rates() {
    let text = "format = \"sapwood-machine/1\"\nname = \"x\"\n[[level]]\nname = \"machine\"\n\
                memory = { size = \"8 GiB\" }\n[[level]]\nname = \"core\"\ncount = 4\n\
                [[override]]\nat = \"/core[2-3]\"\nspeed = 0.5\n";
    let tree = Tree::parse(text, "x").unwrap();
    let rated = tree.with_rates(tree.header().clone(), measured(4)).unwrap();
    let rate = |leaf: usize, dtype| rated.node(rated.leaf_nodes()[leaf]).compute.rate(dtype).unwrap();
    assert_eq!([0, 1, 2, 3].map(|leaf| rate(leaf, Dtype::F64)), [1e9, 1e9, 5e8, 5e8], "3 GFLOP/s by speed");
    assert_eq!(rate(0, Dtype::F32), 2e9);
    let root = rated.node(rated.root()).memory.clone().unwrap();
    assert_eq!((root.size, root.bandwidth.unwrap().value), (Some(8 << 30), 3e10));
    let core = rated.node(rated.leaf_nodes()[3]).memory.clone().unwrap();
    assert_eq!((core.size, core.bandwidth.unwrap().value), (None, 1e10));
    assert_eq!(Tree::parse(&rated.write(), "written").unwrap(), rated);
    assert!(!rated.rates().unwrap().noisy());
}

#[test]
fn rates_of_another_machine_are_refused() {
    let tree = t2::t2();
    let header = tree.header().clone();
    let message = tree.with_rates(header, measured(3)).unwrap_err().to_string();
    assert_eq!(message, "rates: threads: measured on 3 workers, but the machine has 8");
    let gpus = Tree::preset("h100-node").unwrap();
    let message = gpus.with_rates(gpus.header().clone(), measured(8)).unwrap_err().to_string();
    assert!(message.contains("devices"), "{message}");
}

#[test]
fn a_machine_of_one_worker() {
    let tree = Tree::shape("seq").unwrap();
    let mut rates = measured(1);
    rates.one.clear();
    let rated = tree.with_rates(tree.header().clone(), rates).unwrap();
    let root = rated.node(rated.root());
    assert_eq!(
        (root.compute.rate(Dtype::F64), root.memory.as_ref().unwrap().bandwidth.unwrap().value),
        (Some(3e9), 3e10)
    );
    assert_eq!(rated.rates().unwrap().at(Kernel::Read, 1), Some(3e10));
}
