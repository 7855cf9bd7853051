//! Where the nodes of a small graph stand: in layers, or so that distances on paper are those in the graph.
//!
//! Nothing here is random: ties go to the lower number, sums run in the order of the nodes.

use std::collections::VecDeque;

/// Rounds of moving each node to where its distances pull it.
const ROUNDS: usize = 150;

/// Nodes by longest path from a source, ordered inside a layer to cross few links; none when there is a cycle.
pub(super) fn layers(n: usize, links: &[(usize, usize)]) -> Option<Vec<Vec<usize>>> {
    let mut level = vec![0usize; n];
    let mut waits = vec![0usize; n];
    links.iter().for_each(|l| waits[l.1] += 1);
    let mut ready: VecDeque<usize> = (0..n).filter(|&i| waits[i] == 0).collect();
    let mut done = 0;
    while let Some(i) = ready.pop_front() {
        done += 1;
        for &(_, to) in links.iter().filter(|l| l.0 == i) {
            level[to] = level[to].max(level[i] + 1);
            waits[to] -= 1;
            if waits[to] == 0 {
                ready.push_back(to);
            }
        }
    }
    if done < n || n == 0 {
        return None;
    }
    let mut layers = vec![Vec::new(); level.iter().max().map_or(0, |m| m + 1)];
    (0..n).for_each(|i| layers[level[i]].push(i));
    order(&mut layers, links, n);
    Some(layers)
}

/// Orders layers by the mean place of what their nodes are linked with, down and up again (Sugiyama et al. 1981).
fn order(layers: &mut [Vec<usize>], links: &[(usize, usize)], n: usize) {
    let mut place = vec![0.0; n];
    let note = |place: &mut Vec<f64>, layer: &[usize]| {
        let slot = 1.0 / layer.len() as f64;
        layer.iter().enumerate().for_each(|(k, &i)| place[i] = (k as f64 + 0.5) * slot);
    };
    layers.iter().for_each(|layer| note(&mut place, layer));
    for round in 0..8 {
        for k in 0..layers.len() {
            let at = if round % 2 == 0 { k } else { layers.len() - 1 - k };
            let mean = |i: usize| {
                let near = links.iter().filter_map(|&(a, b)| match round % 2 {
                    0 if b == i => Some(place[a]),
                    1 if a == i => Some(place[b]),
                    _ => None,
                });
                let (sum, count) = near.fold((0.0, 0.0), |s, p| (s.0 + p, s.1 + 1.0));
                if count > 0.0 { sum / count } else { place[i] }
            };
            let mut keyed: Vec<(f64, usize)> = layers[at].iter().map(|&i| (mean(i), i)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            layers[at] = keyed.into_iter().map(|k| k.1).collect();
            note(&mut place, &layers[at]);
        }
    }
}

/// Places in the unit square, for a sheet so many times as wide as high: stress majorisation (Gansner et al. 2004) from a
/// circle.
pub(super) fn by_distance(n: usize, links: &[(usize, usize)], shape: f64) -> Vec<(f64, f64)> {
    let far = distances(n, links);
    let order = breadth_first(n, links);
    let mut at = vec![(0.0, 0.0); n];
    for (k, &i) in order.iter().enumerate() {
        let angle = std::f64::consts::TAU * k as f64 / n as f64;
        // The radius grows a little, so that no three start in one line with equal pulls.
        let r = (n as f64).sqrt() * (1.0 + 0.1 * k as f64 / n as f64);
        at[i] = (r * angle.cos() * shape.max(1.0).sqrt(), r * angle.sin());
    }
    for _ in 0..ROUNDS {
        for i in 0..n {
            at[i] = pulled(i, &at, &far);
        }
    }
    fitted(&at)
}

/// Where the distances of node i pull it.
fn pulled(i: usize, at: &[(f64, f64)], far: &[Vec<f64>]) -> (f64, f64) {
    let (mut x, mut y, mut total) = (0.0, 0.0, 0.0);
    for j in (0..at.len()).filter(|&j| j != i) {
        let (d, w) = (far[i][j], far[i][j].powi(-2));
        let (dx, dy) = (at[i].0 - at[j].0, at[i].1 - at[j].1);
        let long = dx.hypot(dy).max(1e-9);
        x += w * (at[j].0 + d * dx / long);
        y += w * (at[j].1 + d * dy / long);
        total += w;
    }
    if total > 0.0 { (x / total, y / total) } else { at[i] }
}

/// Into the unit square, each direction by itself; a direction without extent stands in the middle.
fn fitted(at: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let fit = |pick: fn(&(f64, f64)) -> f64| {
        let lo = at.iter().map(pick).fold(f64::INFINITY, f64::min);
        let hi = at.iter().map(pick).fold(f64::NEG_INFINITY, f64::max);
        move |p: &(f64, f64)| if hi - lo > 1e-6 { (pick(p) - lo) / (hi - lo) } else { 0.5 }
    };
    let (x, y) = (fit(|p| p.0), fit(|p| p.1));
    at.iter().map(|p| (x(p), y(p))).collect()
}

fn neighbours(n: usize, links: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut near = vec![Vec::new(); n];
    for &(a, b) in links.iter().filter(|l| l.0 != l.1) {
        near[a].push(b);
        near[b].push(a);
    }
    near
}

/// Lengths of shortest paths; between parts that are not connected a little more than the longest one.
fn distances(n: usize, links: &[(usize, usize)]) -> Vec<Vec<f64>> {
    let near = neighbours(n, links);
    let mut all: Vec<Vec<f64>> = (0..n).map(|i| from_node(i, &near)).collect();
    let longest = all.iter().flatten().copied().filter(|d| d.is_finite()).fold(0.0, f64::max);
    all.iter_mut().flatten().filter(|d| d.is_infinite()).for_each(|d| *d = longest * 0.6 + 2.0);
    all
}

fn from_node(start: usize, near: &[Vec<usize>]) -> Vec<f64> {
    let mut far = vec![f64::INFINITY; near.len()];
    far[start] = 0.0;
    let mut queue = VecDeque::from([start]);
    while let Some(i) = queue.pop_front() {
        for &j in &near[i] {
            if far[j].is_infinite() {
                far[j] = far[i] + 1.0;
                queue.push_back(j);
            }
        }
    }
    far
}

/// All nodes, neighbours near to one another: the order on the circle to start from.
fn breadth_first(n: usize, links: &[(usize, usize)]) -> Vec<usize> {
    let near = neighbours(n, links);
    let (mut seen, mut order) = (vec![false; n], Vec::with_capacity(n));
    for start in 0..n {
        let mut queue = VecDeque::from([start]);
        while let Some(i) = queue.pop_front() {
            if !std::mem::replace(&mut seen[i], true) {
                order.push(i);
                queue.extend(near[i].iter().copied().filter(|&j| !seen[j]));
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_follow_the_arrows() {
        let links = [(0, 1), (1, 2), (0, 2), (0, 3)];
        assert_eq!(layers(4, &links).unwrap(), [vec![0], vec![1, 3], vec![2]]);
        assert_eq!(layers(2, &[(0, 1), (1, 0)]), None);
        assert_eq!(layers(1, &[(0, 0)]), None);
    }

    #[test]
    fn neighbours_stand_nearer_than_strangers() {
        let path: Vec<(usize, usize)> = (0..9).map(|i| (i, i + 1)).collect();
        let at = by_distance(10, &path, 1.5);
        let far = |i: usize, j: usize| (at[i].0 - at[j].0).hypot(at[i].1 - at[j].1);
        assert!((1..9).all(|i| far(i, i + 1) < far(0, 9)));
        assert!(at.iter().all(|p| (0.0..=1.0).contains(&p.0) && (0.0..=1.0).contains(&p.1)));
        assert_eq!(by_distance(10, &path, 1.5), at);
        assert_eq!(by_distance(1, &[], 1.0), [(0.5, 0.5)]);
        assert!(by_distance(5, &[], 1.0).iter().all(|p| p.0.is_finite() && p.1.is_finite()));
    }
}
