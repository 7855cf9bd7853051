//! Node-link diagrams of small graphs: directed ones without cycles in layers, others by their distances.
//!
//! Placing is in `placing.rs`; here names and lines are drawn.

use super::Draw;
use super::placing;
use crate::canvas::{Anchor, Canvas, TEXT};
use crate::legend::{self, Swatch};
use crate::palette;
use crate::svg::Path;
use crate::text::{counted, listed, one_line, width};

/// Above this a drawing shows a knot and no graph.
const MOST: usize = 150;

/// A node of a diagram.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Node {
    name: String,
    group: usize,
}

impl Node {
    /// A node with a name, in group 0.
    pub fn new(name: impl Into<String>) -> Node {
        Node { name: name.into(), group: 0 }
    }

    /// Nodes of a group have a colour and a shape of their own.
    #[must_use]
    pub fn group(mut self, group: usize) -> Node {
        self.group = group;
        self
    }
}

/// How thick links are drawn.
#[derive(Debug, Clone, Copy)]
struct Thickness {
    strongest: f64,
    all_alike: bool,
}

impl Thickness {
    fn of(links: &[&Link]) -> Thickness {
        let weights = links.iter().map(|l| l.weight.abs()).filter(|w| w.is_finite());
        let all_alike = links.windows(2).all(|w| w[0].weight == w[1].weight);
        Thickness { strongest: weights.fold(0.0, f64::max), all_alike }
    }

    fn at(self, link: &Link) -> f64 {
        let is_known = self.strongest > 0.0 && link.weight.is_finite();
        let share = if is_known { link.weight.abs() / self.strongest } else { 0.0 };
        if self.all_alike { 1.2 } else { 0.5 + 3.0 * share }
    }
}

/// A link between two nodes, by their numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    weight: f64,
    label: String,
}

impl Link {
    /// A link. Links to nodes that do not exist are left out.
    pub fn new(from: usize, to: usize) -> Link {
        Link { from, to, weight: 1.0, label: String::new() }
    }

    /// How strong it is drawn, relative to the strongest.
    #[must_use]
    pub fn weight(mut self, weight: f64) -> Link {
        self.weight = weight;
        self
    }

    /// A word beside it.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Link {
        self.label = label.into();
        self
    }
}

/// A node-link diagram. The same graph has the same picture: no chance is involved.
///
/// ```
/// use sapwood_report::{Chart, Link, Node, NodeLink};
/// let model = NodeLink::new("The model").directed()
///     .nodes(["input", "GCN 1", "GCN 2", "output"].map(Node::new))
///     .links([(0, 1), (1, 2), (2, 3), (1, 3)].map(|(a, b)| Link::new(a, b)));
/// assert!(Chart::from(model).svg().contains("GCN 2"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct NodeLink {
    title: String,
    nodes: Vec<Node>,
    links: Vec<Link>,
    groups: Vec<String>,
    directed: bool,
}

impl NodeLink {
    /// A diagram without nodes yet, its links without direction.
    pub fn new(title: impl Into<String>) -> NodeLink {
        NodeLink { title: title.into(), nodes: vec![], links: vec![], groups: vec![], directed: false }
    }

    /// Links have a direction and an arrow head.
    #[must_use]
    pub fn directed(mut self) -> NodeLink {
        self.directed = true;
        self
    }

    /// More nodes, numbered on from those there are.
    #[must_use]
    pub fn nodes(mut self, nodes: impl IntoIterator<Item = Node>) -> NodeLink {
        self.nodes.extend(nodes);
        self
    }

    /// More links.
    #[must_use]
    pub fn links(mut self, links: impl IntoIterator<Item = Link>) -> NodeLink {
        self.links.extend(links);
        self
    }

    /// Names of the groups, for a legend.
    #[must_use]
    pub fn groups<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> NodeLink {
        self.groups = names.into_iter().map(Into::into).collect();
        self
    }

    fn drawable(&self) -> Vec<&Link> {
        let n = self.nodes.len();
        self.links.iter().filter(|l| l.from < n && l.to < n).collect()
    }
}

impl Draw for NodeLink {
    fn title(&self) -> &str {
        &self.title
    }

    fn describe(&self) -> String {
        let (nodes, links) =
            (counted(self.nodes.len(), "node", "nodes"), counted(self.drawable().len(), "link", "links"));
        let names = listed(self.nodes.iter().map(|n| n.name.as_str()), 12);
        format!("Diagram of a graph with {nodes} and {links}: {names}.")
    }

    fn nothing(&self) -> Option<String> {
        match self.nodes.len() {
            0 => Some("The graph has no nodes to draw.".into()),
            n if n > MOST => {
                let links = counted(self.drawable().len(), "link", "links");
                Some(format!("A graph of {n} nodes and {links} is too large to be drawn; up to {MOST} nodes are."))
            }
            _ => None,
        }
    }

    fn draw(&self, canvas: &mut Canvas) -> f64 {
        let names: Vec<_> = self.groups.iter().enumerate().map(|(i, g)| (i, g.as_str())).collect();
        let top = legend::draw(canvas, 0.0, &names, Swatch::Marker);
        let links = self.drawable();
        let pairs: Vec<(usize, usize)> = links.iter().map(|l| (l.from, l.to)).collect();
        let layers = self.directed.then(|| placing::layers(self.nodes.len(), &pairs)).flatten();
        match layers {
            Some(layers) => self.draw_layers(canvas, top, &layers, &links),
            None => self.draw_free(canvas, top, &pairs, &links),
        }
    }
}

impl NodeLink {
    /// Layers from top to bottom, nodes as boxes with their names inside.
    fn draw_layers(&self, canvas: &mut Canvas, top: f64, layers: &[Vec<usize>], links: &[&Link]) -> f64 {
        let (box_high, step) = (26.0, 58.0);
        let mut boxes = vec![(0.0, 0.0, 0.0); self.nodes.len()];
        for (level, layer) in layers.iter().enumerate() {
            let slot = canvas.width / layer.len() as f64;
            for (k, &i) in layer.iter().enumerate() {
                let wide = (width(&one_line(&self.nodes[i].name), TEXT) + 18.0).max(30.0).min(slot - 4.0);
                boxes[i] = (slot * (k as f64 + 0.5), top + 16.0 + step * level as f64, wide);
            }
        }
        let end = top + 32.0 + step * (layers.len() - 1) as f64 + box_high / 2.0;
        let (thickness, mut taken) = (Thickness::of(links), Vec::new());
        for link in links {
            let ((x0, y0, _), (x1, y1, _)) = (boxes[link.from], boxes[link.to]);
            let (from, to) = ((x0, y0 + box_high / 2.0), (x1, y1 - box_high / 2.0));
            let middle = self.draw_bent(canvas, (link, thickness), from, to, y1 - y0 > step * 1.5);
            self.draw_word(canvas, link, middle, &mut taken);
        }
        for (node, (x, y, wide)) in self.nodes.iter().zip(&boxes) {
            let class = format!("node {}", palette::colour(node.group));
            let tag = canvas.svg.tag("rect").class(&class).area(x - wide / 2.0, y - box_high / 2.0, *wide, box_high);
            tag.num("rx", 4.0).hint(&one_line(&node.name));
            canvas.text("", (*x, y + 4.0), Anchor::Middle, &node.name, wide - 6.0);
        }
        end
    }

    /// A link from layer to layer; one that passes over layers swings out to the side.
    fn draw_bent(
        &self,
        canvas: &mut Canvas,
        (link, thickness): (&Link, Thickness),
        from: (f64, f64),
        to: (f64, f64),
        far: bool,
    ) -> (f64, f64) {
        let ((x0, y0), (x1, y1)) = (from, (to.0, to.1 - 5.0));
        let side = if (x0 + x1) / 2.0 > canvas.width / 2.0 { -1.0 } else { 1.0 };
        let out = if far { side * (0.35 * (y1 - y0)).min(canvas.width * 0.3).max(70.0) } else { 0.0 };
        let reach = (y1 - y0) * if far { 0.25 } else { 0.5 };
        let p = crate::number::px;
        let (cx0, cx1) = (x0 + out, x1 + out);
        let d = format!(
            "M{} {}C{} {} {} {} {} {}",
            p(x0),
            p(y0),
            p(cx0),
            p(y0 + reach),
            p(cx1),
            p(y1 - reach),
            p(x1),
            p(y1)
        );
        let tag = canvas.svg.tag("path").class("link").attr("d", &d);
        tag.num("stroke-width", thickness.at(link)).hint(&self.words(link));
        arrow(canvas, (x1, y1 + 5.0), (x1 - cx1, (y1 - (y1 - reach)).max(1.0)));
        ((x0 + 3.0 * cx0 + 3.0 * cx1 + x1) / 8.0, (y0 + y1) / 2.0 + 4.0)
    }

    /// The word of a link on its middle, unless it would lie on another one; the tooltip has it in any case.
    fn draw_word(&self, canvas: &mut Canvas, link: &Link, (x, y): (f64, f64), taken: &mut Vec<(f64, f64, f64)>) {
        let half = width(&one_line(&link.label), TEXT).min(120.0) / 2.0;
        let apart = |t: &(f64, f64, f64)| (t.1 - y).abs() > 13.0 || (t.0 - x).abs() > t.2 + half + 2.0;
        if half > 0.0 && taken.iter().all(apart) {
            canvas.text("halo", (x, y), Anchor::Middle, &link.label, 120.0);
            taken.push((x, y, half));
        }
    }

    /// Nodes as dots with names beside them, near to those they are linked with.
    fn draw_free(&self, canvas: &mut Canvas, top: f64, pairs: &[(usize, usize)], links: &[&Link]) -> f64 {
        let n = self.nodes.len();
        let height = (canvas.width * 0.62).min(120.0 + 40.0 * (n as f64).sqrt() * 1.6).max(140.0);
        let margin = (16.0, 70f64.min(canvas.width / 5.0));
        let unit = placing::by_distance(n, pairs, (canvas.width - 2.0 * margin.1) / (height - 2.0 * margin.0));
        let at = |i: usize| {
            let (x, y) = unit[i];
            (margin.1 + x * (canvas.width - 2.0 * margin.1), top + margin.0 + y * (height - 2.0 * margin.0))
        };
        let places: Vec<(f64, f64)> = (0..n).map(at).collect();
        let r = if n > 60 { 4.0 } else { 6.0 };
        let thickness = Thickness::of(links);
        for link in links.iter().filter(|l| l.from != l.to) {
            self.draw_straight(canvas, (link, thickness), places[link.from], places[link.to], r);
        }
        let mut taken = Vec::new();
        for link in links.iter().filter(|l| l.from != l.to) {
            let (a, b) = (places[link.from], places[link.to]);
            self.draw_word(canvas, link, ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0 + 4.0), &mut taken);
        }
        for (node, place) in self.nodes.iter().zip(&places) {
            canvas.marker("dot", node.group, *place, r).hint(&one_line(&node.name));
        }
        self.draw_names(canvas, &places, r);
        top + height
    }

    fn draw_straight(
        &self,
        canvas: &mut Canvas,
        (link, thickness): (&Link, Thickness),
        from: (f64, f64),
        to: (f64, f64),
        r: f64,
    ) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let long = dx.hypot(dy).max(1.0);
        let tip = (to.0 - dx / long * (r + 1.0), to.1 - dy / long * (r + 1.0));
        let end = if self.directed { (tip.0 - dx / long * 5.0, tip.1 - dy / long * 5.0) } else { to };
        let (strength, words) = (thickness.at(link), self.words(link));
        canvas.line_tag("link", from, end).num("stroke-width", strength).hint(&words);
        if self.directed {
            arrow(canvas, tip, (dx, dy));
        }
    }

    /// Names beside dots, on the side where there is room; a name that would lie on another one is only a tooltip.
    fn draw_names(&self, canvas: &mut Canvas, places: &[(f64, f64)], r: f64) {
        let mut taken: Vec<(f64, f64, f64)> = places.iter().map(|p| (p.0 - r, p.1, 2.0 * r)).collect();
        for (node, (x, y)) in self.nodes.iter().zip(places) {
            let wide = width(&one_line(&node.name), TEXT).min(110.0);
            let tries = [
                (x + r + 4.0, *y),
                (x - r - 4.0 - wide, *y),
                (x - wide / 2.0, y + r + 9.0),
                (x - wide / 2.0, y - r - 9.0),
            ];
            let free = |&(left, mid): &(f64, f64)| {
                let apart = |t: &(f64, f64, f64)| (t.1 - mid).abs() > 12.0 || left > t.0 + t.2 || left + wide < t.0;
                left >= 0.0 && left + wide <= canvas.width && taken.iter().all(apart)
            };
            if let Some((left, mid)) = tries.into_iter().find(free) {
                canvas.text("halo", (left, mid + 4.0), Anchor::Start, &node.name, 110.0);
                taken.push((left, mid, wide));
            }
        }
    }

    fn words(&self, link: &Link) -> String {
        let arrow = if self.directed { "→" } else { "–" };
        let text = format!("{} {arrow} {} {}", self.nodes[link.from].name, self.nodes[link.to].name, link.label);
        one_line(&text)
    }
}

/// An arrow head at a tip, in a direction.
fn arrow(canvas: &mut Canvas, (x, y): (f64, f64), (dx, dy): (f64, f64)) {
    let long = dx.hypot(dy).max(1e-9);
    let (ux, uy) = (dx / long, dy / long);
    let mut path = Path::default();
    path.line([
        (x, y),
        (x - 7.0 * ux - 3.5 * uy, y - 7.0 * uy + 3.5 * ux),
        (x - 7.0 * ux + 3.5 * uy, y - 7.0 * uy - 3.5 * ux),
    ]);
    path.close();
    canvas.path("arrow", &path);
}
