//! Megatron-LM's rules, written from what they say and not from our parser: text replacement, then checks of the list.

/// Virtual stages of a string as letters, or nothing if Megatron-LM refuses it.
pub(super) fn stages(text: &str) -> Option<Vec<String>> {
    // Far beyond what any test writes, so that a replacement cannot fill the memory.
    const LIMIT: usize = 1 << 16;
    let mut text = text.replace(',', "");
    // Every "(…)*n" in turn, from the left: an inside of at least one character without ")".
    let mut out = String::new();
    while let Some(open) = text.find('(') {
        let close = text[open..].find(')').map(|at| open + at)?;
        let inside = &text[open + 1..close];
        let rest = text[close + 1..].strip_prefix('*')?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let times: usize = rest[..digits].parse().ok()?;
        // The replacement is not looked at again, so an inner "(" would stay and be refused.
        if inside.is_empty() || inside.contains('(') || times.checked_mul(inside.len())? > LIMIT {
            return None;
        }
        out.push_str(&text[..open]);
        out.push_str(&inside.repeat(times));
        text = rest[digits..].to_owned();
    }
    let text = out + &text;
    // Every "x*n" in turn.
    let mut plain = String::new();
    let marks: Vec<char> = text.chars().collect();
    let mut at = 0;
    while at < marks.len() {
        let digits = marks.get(at + 2..).unwrap_or(&[]).iter().take_while(|c| c.is_ascii_digit()).count();
        if marks.get(at + 1) == Some(&'*') && digits > 0 {
            let times: usize = marks[at + 2..at + 2 + digits].iter().collect::<String>().parse().ok()?;
            if times > LIMIT {
                return None;
            }
            plain.extend(std::iter::repeat_n(marks[at], times));
            at += 2 + digits;
        } else {
            plain.push(marks[at]);
            at += 1;
        }
    }
    if plain.chars().any(|c| !"EtmL|".contains(c)) {
        return None;
    }
    Some(plain.split('|').map(str::to_owned).collect())
}

/// Whether a layout may run on so many stages with so many layers.
pub(super) fn accepts(text: &str, pipeline: usize, layers: usize, mtp: usize) -> bool {
    let Some(list) = stages(text) else { return false };
    if !list.len().is_multiple_of(pipeline) {
        return false;
    }
    let chunks = list.len() / pipeline;
    let flat = list.concat();
    let count = |letter: char| flat.chars().filter(|&c| c == letter).count();
    let after_mtp = flat.split_once('m').map_or("", |(_, rest)| rest);
    let with_mtp: Vec<usize> = (0..list.len()).filter(|&at| list[at].contains('m')).collect();
    flat.starts_with('E')
        && flat.ends_with('L')
        && count('E') == 1
        && count('L') == 1
        && count('t') == layers
        && count('m') == mtp
        && !after_mtp.contains('t')
        && with_mtp.len() <= 1
        && with_mtp.iter().all(|at| at / pipeline == chunks - 1 && (at % pipeline != 0 || pipeline == 1))
}
