//! Defaults, ranges and names.

use super::*;

fn resolve(data: &str, change: impl FnOnce(&mut Request)) -> Result<Settings> {
    let mut request = Request::default();
    change(&mut request);
    Settings::resolve(&request, data, Registries::default())
}

#[test]
fn defaults_depend_on_the_data_set() {
    let s = resolve("debian", |_| ()).unwrap();
    assert_eq!(
        (s.model.name, s.layers, s.hidden, s.epochs, s.l2, s.eval_every, s.seeds),
        ("jknet", 4, 64, 120, 5e-5, 5, 6)
    );
    let s = resolve("cora", |_| ()).unwrap();
    assert_eq!((s.layers, s.hidden, s.epochs, s.l2, s.eval_every), (4, 128, 400, 5e-4, 1));
}

#[test]
fn methods_are_those_compared_with_and_then_the_sampler() {
    let methods =
        |change: fn(&mut Request)| resolve("cora", change).unwrap().methods().map(String::from).collect::<Vec<_>>();
    assert_eq!(methods(|_| ()), ["none", "dropedge", "ranked"]);
    assert_eq!(methods(|r| r.sampler = Some("none".into())), ["none"]);
    assert_eq!(
        methods(|r| (r.sampler, r.against) = (Some("none".into()), Some(vec!["dropedge".into()]))),
        ["dropedge", "none"]
    );
    assert_eq!(methods(|r| r.against = Some(vec![])), ["ranked"]);
}

#[test]
fn values_out_of_range_name_flag_and_range() {
    let says = |change: fn(&mut Request)| resolve("cora", change).unwrap_err().to_string();
    for p in [f64::NAN, -0.1, 1.5] {
        let mut request = Request::default();
        request.options.rates = sapwood_graph::Rates::Const(p);
        let message = Settings::resolve(&request, "cora", Registries::default()).unwrap_err().to_string();
        assert_eq!(message, format!("--p must be a drop rate from 0 to 1, not {p}"));
    }
    assert_eq!(says(|r| r.lr = Some(f64::INFINITY)), "--lr must be above 0 and finite, not inf");
    assert_eq!(says(|r| r.l2 = Some(-1.0)), "--l2 must be 0 or more and finite, not -1");
    assert_eq!(says(|r| r.dropout = Some(1.0)), "--dropout must be from 0 to below 1, not 1");
    assert_eq!(says(|r| r.layers = Some(0)), "--layers must be from 1 to 4095, not 0");
    assert_eq!(says(|r| r.epochs = Some(0)), "--epochs must be 1 or more, not 0");
    assert_eq!(says(|r| r.seeds = Some(0)), "--seeds must be from 1 to 100000, not 0");
}

#[test]
fn unknown_names_list_the_valid_ones_and_the_nearest() {
    let says = |change: fn(&mut Request)| resolve("cora", change).unwrap_err().to_string();
    let unknown = [
        says(|r| r.model = Some("gnc".into())),
        says(|r| r.sampler = Some("dropege".into())),
        says(|r| r.against = Some(vec!["nonne".into()])),
        says(|r| r.normalise = Some("agu".into())),
        says(|r| r.optimiser = Some("adm".into())),
        says(|r| r.init = Some("glorto".into())),
        says(|r| r.select = Some("val_acc".into())),
        says(|r| r.dtype = Some("f23".into())),
    ];
    for (text, near) in unknown.iter().zip(["gcn", "dropedge", "none", "aug", "adam", "glorot", "val-acc", "f32"]) {
        assert!(text.contains(&format!("did you mean '{near}'?")) && text.contains("known: "), "{text}");
    }
}

#[test]
fn self_weights_need_a_convolution() {
    let request = |r: &mut Request| (r.model, r.with_self) = (Some("mlp".into()), true);
    assert!(
        resolve("cora", request)
            .unwrap_err()
            .to_string()
            .contains("--with-self has no meaning for --model mlp; it is read by ")
    );
}

#[test]
fn every_setting_is_written_with_names_for_entries() {
    let json = serde_json::to_value(resolve("debian", |r| r.seed = u64::MAX).unwrap()).unwrap();
    assert_eq!(json["model"], "jknet");
    assert_eq!(json["normalise"], "aug");
    assert_eq!(json["seed"], "18446744073709551615");
    assert_eq!(json["against"], serde_json::json!(["none", "dropedge"]));
    assert_eq!((&json["sampler"], &json["p"], &json["score"]), (&"ranked".into(), &0.3.into(), &"two_stage".into()));
    assert_eq!(json["dtype"], "f32");
    assert!(json["features"].is_null());
}
