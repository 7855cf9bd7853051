//! Zip archives with any bytes in their members, stored or deflated: what tests damage.

use std::io::Write;

/// An archive of these members, named without `.npy`.
pub(crate) fn zip(members: &[(&str, Vec<u8>)], deflated: bool) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, body) in members {
        let name = format!("{name}.npy");
        let packed = if deflated { deflate(body) } else { body.clone() };
        let mut crc = flate2::Crc::new();
        crc.update(body);
        let mut facts = vec![20, 0, 0, 0, if deflated { 8 } else { 0 }, 0, 0, 0, 33, 0];
        for word in [crc.sum(), packed.len() as u32, body.len() as u32] {
            facts.extend(word.to_le_bytes());
        }
        facts.extend([name.len() as u8, 0, 0, 0]);
        let at = (out.len() as u32).to_le_bytes();
        directory.extend([b"PK\x01\x02\x14\0", &facts[..], &[0; 10], &at, name.as_bytes()].concat());
        out.extend([b"PK\x03\x04", &facts[..], name.as_bytes(), &packed].concat());
    }
    let (from, count) = ((out.len() as u32).to_le_bytes(), (members.len() as u16).to_le_bytes());
    out.extend(&directory);
    let length = (directory.len() as u32).to_le_bytes();
    out.extend([b"PK\x05\x06\0\0\0\0", &count[..], &count, &length, &from, &[0; 2]].concat());
    out
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A `.npy` file: type, shape as Python writes it, items.
pub(crate) fn npy(kind: &str, shape: &str, items: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\0", &(text.len() as u16).to_le_bytes()[..], text.as_bytes(), items].concat()
}

pub(crate) fn whole(numbers: &[i32]) -> Vec<u8> {
    let items: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    npy("<i4", &format!("({},)", numbers.len()), &items)
}

pub(crate) fn real(shape: &str, numbers: &[f32]) -> Vec<u8> {
    let items: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    npy("<f4", shape, &items)
}

pub(crate) fn words(list: &[&str]) -> Vec<u8> {
    let width = list.iter().map(|w| w.chars().count()).max().unwrap_or(1);
    let pad = |w: &&str| w.chars().map(u32::from).chain(std::iter::repeat(0)).take(width).collect::<Vec<u32>>();
    let items: Vec<u8> = list.iter().flat_map(pad).flat_map(u32::to_le_bytes).collect();
    npy(&format!("<U{width}"), &format!("({},)", list.len()), &items)
}
