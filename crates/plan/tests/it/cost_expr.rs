//! Cost expressions: text and back, simpler forms, linear forms.

use proptest::prelude::*;
use sapwood_plan::bound::lp::{LpBackend, Microlp, Program, Row, Sense};
use sapwood_plan::cost_expr::{Affine, Column, CostError, CostExpr, Env, Linear, SymbolId};

fn read(text: &str) -> CostExpr {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn env(values: &[(&str, f64)]) -> Env {
    let mut env = Env::new();
    values.iter().for_each(|&(name, value)| env.bind(SymbolId::new(name), value));
    env
}

#[test]
fn text() {
    // What is printed, what it is, its value with a = 2, x[b,none,0] = 3.
    let values = env(&[("a", 2.0), ("x[b,none,0]", 3.0)]);
    for (text, value) in [
        ("13 + 100·x[b,none,0]", 313.0),
        ("a·(a + 1)·3", 18.0),
        ("max(a, x[b,none,0], 1) - 2·a", -1.0),
        ("(a + 1) + 2", 5.0),
        ("(a·3)·2 - 0.5", 11.5),
        ("-2·a + 1", -3.0),
        ("sum() + product() + sum(a) + product(2)", 5.0),
        ("1e300 + 1e-7 - 1e-7", 1e300),
        ("a + (2 - a)", 2.0),
    ] {
        let expression = read(text);
        assert_eq!((expression.to_string().as_str(), expression.eval(&values).unwrap()), (text, value));
    }
    for (written, printed) in [
        ("2*a", "2·a"),
        ("  ( ( a ) )", "a"),
        ("-a", "-1·a"),
        ("a--2", "a + 2"),
        ("a-a", "a - a"),
        ("a-2*a*b", "a - 2·a·b"),
        ("a-b*(2*a)", "a - b·(2·a)"),
        ("a - (b-1)", "a - (b - 1)"),
    ] {
        assert_eq!(read(written).to_string(), printed);
    }
    for name in [
        "", "a b", "max", "1a", "`", "\\", "a[b", "a[b]c", "a[b][c]", "[a]", "x[\n]", "\u{1b}[m", "nan", "a-b", "é",
        "x[é 3]",
    ] {
        let (symbol, back) = (CostExpr::symbol(name), CostExpr::symbol(name).to_string());
        assert_eq!(read(&back), symbol, "{back}");
        assert!(!back.contains(char::is_control), "{back:?}");
    }
    assert_eq!(CostExpr::symbol("x[b,full,3]").to_string(), "x[b,full,3]");
    assert_eq!(CostExpr::symbol("a b").to_string(), "`a b`");
}

#[test]
fn what_is_taken_off() {
    let (a, b, number) = (CostExpr::symbol("a"), CostExpr::symbol("b"), CostExpr::Const);
    let product = |factors: &[&CostExpr]| CostExpr::Product(factors.iter().map(|&f| f.clone()).collect());
    let (pair, less) = (product(&[&a, &b]), number(-1.0));
    for (off, printed) in [
        (product(&[&less, &a]), "b - a"),
        (product(&[&less, &a, &b]), "b - a·b"),
        (product(&[&less, &pair]), "b - 1·(a·b)"),
        (product(&[&less, &pair, &a]), "b - (a·b)·a"),
        (product(&[&less, &product(&[])]), "b - 1·product()"),
        (product(&[&less, &number(2.0)]), "b - 1·2"),
        (product(&[&number(-2.0), &pair]), "b - 2·(a·b)"),
        (product(&[&less]), "b + product(-1)"),
        (number(-0.0), "b - 0"),
    ] {
        let sum = CostExpr::Sum(vec![b.clone(), off]);
        assert_eq!((sum.to_string().as_str(), read(printed)), (printed, sum));
    }
}

#[test]
fn what_is_no_expression() {
    for (text, at, what) in [
        ("", 1, "a number, a name or ( is expected"),
        ("a +", 4, "a number"),
        ("2 a", 3, "a sign"),
        ("é·(b", 5, ") is expected"),
        ("f(a)", 2, "a sign"),
        ("max(a; b)", 6, ") is expected"),
        ("max", 4, "( is expected"),
        ("`a", 2, "closing"),
        ("1.2.3", 1, "no number"),
        ("`\\u{110000}`", 2, "no \\u{..} of a character"),
    ] {
        let CostError::Syntax { at: found, what: said } = text.parse::<CostExpr>().unwrap_err() else {
            panic!("{text}")
        };
        assert_eq!((found, said.contains(what)), (at, true), "{text}: {said}");
    }
    for deep in ["(", "-", "max("] {
        assert!(deep.repeat(100_000).parse::<CostExpr>().unwrap_err().to_string().contains("more than 200"));
    }
    assert!(format!("{}a{}", "(".repeat(200), ")".repeat(200)).parse::<CostExpr>().is_ok());
}

#[test]
fn what_has_no_value() {
    let unbound = read("a + b").eval(&env(&[("a", 1.0)])).unwrap_err();
    assert_eq!(unbound.to_string(), "the symbol b has no value");
    assert_eq!(read("1 + max()").eval(&Env::new()), Err(CostError::EmptyMax));
    assert!(read("a·0").eval(&Env::new()).is_err());
    let mut whole = Env::new();
    whole.bind(SymbolId::new("a"), u64::MAX - 3);
    assert_eq!(read("a + 1 + max(2, 1)").eval_whole(&whole), Ok(u64::MAX));
    assert_eq!(read("a + 4").eval_whole(&whole), Err(CostError::TooLarge));
    assert_eq!(read("a·2").eval_whole(&whole), Err(CostError::TooLarge));
    assert_eq!(read("a + 0.5").eval_whole(&whole), Err(CostError::NotWhole { constant: 0.5 }));
    assert_eq!(read("a - 1").eval_whole(&whole), Err(CostError::NotWhole { constant: -1.0 }));
    assert_eq!(read("max()").eval_whole(&whole), Err(CostError::EmptyMax));
    assert_eq!(read("b").eval_whole(&whole).unwrap_err().to_string(), "the symbol b has no value");
    assert!(read("max(1, nan)").eval(&Env::new()).unwrap().is_nan());
    assert!(read("max(nan, 1)").eval(&Env::new()).unwrap().is_nan());
}

#[test]
fn simpler() {
    for (text, simple) in [
        ("1 + a + (2 + (b + 3))", "6 + a + b"),
        ("2·(a·3)·(1·b)", "6·a·b"),
        ("0 + a·1", "a"),
        ("a·(2 - 2)", "0"),
        ("sum()", "0"),
        ("product()", "1"),
        ("max(1, max(a, 3), 2)", "max(3, a)"),
        ("max(1, 2) + max(a)", "2 + a"),
        ("max(max(), 1)", "max(1, max())"),
        ("2·(a + (1 + b))", "2·(1 + a + b)"),
    ] {
        assert_eq!(read(text).simplify().to_string(), simple, "{text}");
    }
}

/// The linear form over a and b; c = 5.
fn linear(text: &str) -> Result<Linear, CostError> {
    read(text).linearise(&[SymbolId::new("a"), SymbolId::new("b")], &env(&[("c", 5.0), ("a", 99.0)]))
}

fn affine(constant: f64, terms: &[(Column, f64)]) -> Affine {
    Affine { constant, terms: terms.iter().copied().collect() }
}

#[test]
fn linear_forms() {
    let (a, b, t) = (Column::Variable(0), Column::Variable(1), Column::Epigraph);
    let plain = linear("2·(a + 3·b)·c + 1 + a").unwrap();
    assert_eq!(plain, Linear { value: affine(1.0, &[(a, 11.0), (b, 30.0)]), epigraphs: Vec::new() });
    assert_eq!(linear("a - a + max(c, 2)").unwrap().value, affine(5.0, &[]));
    let nested = linear("3·max(a, b + 2·max(b, 1)) + 4").unwrap();
    let rows = vec![
        vec![affine(0.0, &[(b, 1.0)]), affine(1.0, &[])],
        vec![affine(0.0, &[(a, 1.0)]), affine(0.0, &[(b, 1.0), (t(0), 2.0)])],
    ];
    assert_eq!(nested, Linear { value: affine(4.0, &[(t(1), 3.0)]), epigraphs: rows });
    assert_eq!((nested.eval(&[2.0, 3.0]), nested.eval(&[2.0])), (Some(31.0), None));
    for (text, message) in [
        ("2·a·b", "2·a times b is not linear: both depend on variables"),
        ("a·(b + 1)", "a times b + 1 is not linear"),
        ("a·max(b, 1)", "a times max(b, 1) is not linear"),
        ("c - 2·max(a, b)", "-2 times max(a, b) is not convex"),
        ("max(a, b)·(2 - c)", "-3 times max(a, b) is not convex"),
        ("d·a", "the symbol d has no value"),
        ("max()", "a maximum of nothing has no value"),
        ("inf·a", "inf is inf, and a linear form needs finite numbers"),
        ("a·1e300·1e300", "is inf, and a linear form needs finite numbers"),
    ] {
        let found = linear(text).unwrap_err().to_string();
        assert!(found.contains(message), "{text}: {found}");
    }
}

/// What a linear program finds: the least value of a form whose variables are at `at`.
fn least(form: &Linear, at: &[f64]) -> f64 {
    let (variables, columns) = (at.len(), at.len() + form.epigraphs.len());
    let place = |column: &Column| match *column {
        Column::Variable(at) => at,
        Column::Epigraph(at) => variables + at,
    };
    let mut rows: Vec<Row> =
        (0..variables).map(|v| Row { terms: vec![(v, 1.0)], sense: Sense::Eq, right: at[v] }).collect();
    for (epigraph, own) in form.epigraphs.iter().enumerate() {
        for row in own {
            let mut terms: Vec<(usize, f64)> = row.terms.iter().map(|(column, c)| (place(column), -c)).collect();
            terms.push((variables + epigraph, 1.0));
            rows.push(Row { terms, sense: Sense::Ge, right: row.constant });
        }
    }
    let mut costs = vec![0.0; columns];
    form.value.terms.iter().for_each(|(column, c)| costs[place(column)] = *c);
    let program = Program { free: vec![true; columns], costs: costs.clone(), rows };
    let x = Microlp::new().start(&program).unwrap().unwrap();
    form.value.constant + costs.iter().zip(x).map(|(c, x)| c * x).sum::<f64>()
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-d]",
        2 => "(f|rec|x)\\[[a-z ,0-9é-]{0,6}\\]",
        1 => "\\PC{0,4}",
        1 => "[`\\\\\\[\\]max.nif(),\n]{0,5}",
    ]
}

/// Any expression with constants of `constants`.
fn expressions(constants: BoxedStrategy<f64>, names: BoxedStrategy<String>) -> impl Strategy<Value = CostExpr> {
    let leaf = prop_oneof![constants.prop_map(CostExpr::Const), names.prop_map(|name| CostExpr::symbol(&name))];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let all = prop::collection::vec(inner, 0..4);
        prop_oneof![
            all.clone().prop_map(CostExpr::Sum),
            all.clone().prop_map(CostExpr::Product),
            all.prop_map(CostExpr::Max)
        ]
    })
}

fn any_numbers() -> BoxedStrategy<f64> {
    use prop::num::f64::{INFINITE, NORMAL, SUBNORMAL, ZERO};
    let edges = prop::sample::select(vec![-1.0, -1.0, 1e16, 9.999e15, 1e-5, 9.9e-6, f64::MAX, f64::MIN_POSITIVE]);
    prop_oneof![(-20i32..20).prop_map(f64::from), edges, NORMAL | SUBNORMAL | INFINITE | ZERO].boxed()
}

fn small_numbers() -> BoxedStrategy<f64> {
    (-4i32..5).prop_map(f64::from).boxed()
}

fn letters() -> BoxedStrategy<String> {
    "[a-d]".boxed()
}

fn nodes(expression: &CostExpr) -> usize {
    match expression {
        CostExpr::Const(_) | CostExpr::Symbol(_) => 1,
        CostExpr::Sum(all) | CostExpr::Product(all) | CostExpr::Max(all) => 1 + all.iter().map(nodes).sum::<usize>(),
    }
}

/// Values of a, b, c, d: small whole numbers, for which sums and products are exact.
fn values() -> impl Strategy<Value = [i32; 4]> {
    prop::array::uniform4(-4i32..5)
}

fn bound(values: [i32; 4]) -> Env {
    let mut env = Env::new();
    ["a", "b", "c", "d"].iter().zip(values).for_each(|(name, value)| env.bind(SymbolId::new(name), f64::from(value)));
    env
}

/// Convex expressions that are linear in a and b but for maxima.
fn convex() -> impl Strategy<Value = CostExpr> {
    let symbol = |name| Just(CostExpr::symbol(name));
    let factor = move || prop_oneof![(0i32..5).prop_map(|c| CostExpr::Const(c.into())), symbol("c")];
    let leaf = prop_oneof![symbol("a"), symbol("b"), symbol("d"), (-4i32..5).prop_map(|c| CostExpr::Const(c.into()))];
    leaf.prop_recursive(4, 30, 3, move |inner| {
        let all = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            all.clone().prop_map(CostExpr::Sum),
            all.prop_map(CostExpr::Max),
            (factor(), inner.clone()).prop_map(|(factor, of)| CostExpr::Product(vec![factor, of])),
            (inner, factor(), factor()).prop_map(|(of, f, g)| CostExpr::Product(vec![f, of, g])),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn print_and_read(expression in expressions(any_numbers(), names().boxed())) {
        let text = expression.to_string();
        prop_assert_eq!(text.parse::<CostExpr>(), Ok(expression), "{}", text);
    }

    #[test]
    fn no_text_makes_it_panic(text in "([-+·*(),.`\\\\0-9e]|[a-c]|max|sum|inf|\\[|\\]|\\\\u\\{|\\PC){0,20}") {
        if let Ok(expression) = text.parse::<CostExpr>() {
            let again = expression.to_string().parse::<CostExpr>().unwrap();
            prop_assert_eq!(again.to_string(), expression.to_string());
        }
    }

    #[test]
    fn simpler_ones_keep_their_value(expression in expressions(small_numbers(), letters()), at in values()) {
        let (env, simple) = (bound(at), expression.simplify());
        prop_assert_eq!(&simple.simplify(), &simple);
        prop_assert!(nodes(&simple) <= nodes(&expression));
        if let Ok(value) = expression.eval(&env) {
            prop_assert_eq!(simple.eval(&env), Ok(value), "{} and {}", expression, simple);
            prop_assert_eq!(expression.substitute(&env).eval(&Env::new()), Ok(value));
        }
    }

    #[test]
    fn whole_values_are_the_same(expression in expressions((0i32..9).prop_map(f64::from).boxed(), letters()), at in values()) {
        let at = at.map(|v| v.unsigned_abs() as i32);
        let mut whole = Env::new();
        ["a", "b", "c", "d"].iter().zip(at).for_each(|(name, value)| whole.bind(SymbolId::new(name), value as u64));
        match expression.eval(&bound(at)) {
            Ok(value) if value < 9e15 => prop_assert_eq!(expression.eval_whole(&whole), Ok(value as u64)),
            Ok(_) => {}
            Err(e) => prop_assert_eq!(expression.eval_whole(&whole), Err(e)),
        }
    }

    #[test]
    fn linear_forms_have_its_value(expression in convex(), at in values()) {
        let at = [at[0], at[1], at[2].abs(), at[3]];
        let env = bound(at);
        let variables = [SymbolId::new("a"), SymbolId::new("b")];
        let form = expression.linearise(&variables, &env).unwrap();
        let point = [f64::from(at[0]), f64::from(at[1])];
        let value = expression.eval(&env).unwrap();
        prop_assert_eq!(form.eval(&point), Some(value), "{}", expression);
        let found = least(&form, &point);
        prop_assert!((found - value).abs() <= 1e-6 * value.abs().max(1.0), "{expression}: {found} for {value}");
    }

    #[test]
    fn what_is_linear_is_so_for_any_expression(expression in expressions(small_numbers(), letters()), at in values()) {
        let variables = [SymbolId::new("a"), SymbolId::new("b")];
        let env = bound(at);
        if let Ok(form) = expression.linearise(&variables, &env) {
            let value = expression.eval(&env).unwrap();
            prop_assert_eq!(form.eval(&[f64::from(at[0]), f64::from(at[1])]), Some(value), "{}", expression);
        }
    }
}
