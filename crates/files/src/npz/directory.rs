//! The directory of a zip archive (PKWARE's APPNOTE 6.3): where members are, with the 64-bit forms that NumPy writes for
//! large arrays. Nothing is believed before it is seen to lie inside the file.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use super::read::{Fault, damage};

type Result<T> = std::result::Result<T, Fault>;

/// A member, as the directory describes it.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) crc: u32,
    /// Bytes in the file.
    pub(super) packed: u64,
    /// Bytes of the content.
    pub(super) size: u64,
    /// Where its local header is.
    at: u64,
}

impl Member {
    /// The name of the array in it.
    pub(super) fn array(&self) -> &str {
        self.name.strip_suffix(".npy").unwrap_or(&self.name)
    }
}

const LOCAL: usize = 30;
const ENTRY: usize = 46;
const END: usize = 22;
const LOCATOR: usize = 20;
const END_64: usize = 56;
/// A comment at the end of the file is at most this long.
const LONGEST_COMMENT: u64 = u16::MAX as u64;

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|b| b.try_into().ok()).map_or(0, u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
}

/// `length` bytes from byte `at`, which lie inside the file.
fn part(file: &mut File, at: u64, length: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != length {
        return damage(format!("the file ends before byte {}, it is truncated", at.saturating_add(length)));
    }
    Ok(bytes)
}

/// All members, and where the directory begins.
pub(super) fn read(file: &mut File) -> Result<(Vec<Member>, u64)> {
    let length = file.seek(SeekFrom::End(0))?;
    let tail_at = length.saturating_sub(END as u64 + LONGEST_COMMENT);
    let tail = part(file, tail_at, length - tail_at)?;
    // the comment must reach exactly to the end of the file
    let is_end = |&at: &usize| {
        tail[at..].starts_with(b"PK\x05\x06") && at + END + usize::from(u16_at(&tail, at + 20)) == tail.len()
    };
    let Some(at) = (0..(tail.len() + 1).saturating_sub(END)).rev().find(is_end) else {
        return damage("it is no zip archive, or its end with the directory is cut off");
    };
    let end = &tail[at..at + END];
    let end_at = tail_at + at as u64;
    let disks = [u16_at(end, 4), u16_at(end, 6)];
    let (mut count, mut size, mut from) =
        (u64::from(u16_at(end, 10)), u64::from(u32_at(end, 12)), u64::from(u32_at(end, 16)));
    let large = count == u64::from(u16::MAX) || size == u64::from(u32::MAX) || from == u64::from(u32::MAX);
    if large && let Some(facts) = end_64(file, end_at)? {
        (count, size, from) = facts;
    }
    if disks.iter().any(|&disk| disk != 0 && disk != u16::MAX) {
        return damage("it is one part of an archive in several files");
    }
    if from.checked_add(size).is_none_or(|stop| stop > end_at) {
        return damage(format!("its directory of {size} bytes from byte {from} does not fit the file"));
    }
    let members = members(&part(file, from, size)?, count)?;
    Ok((members, from))
}

/// Count, size and place of the directory of a large archive, where its end is followed by the small one at `end_at`.
fn end_64(file: &mut File, end_at: u64) -> Result<Option<(u64, u64, u64)>> {
    let Some(locator_at) = end_at.checked_sub(LOCATOR as u64) else { return Ok(None) };
    let locator = part(file, locator_at, LOCATOR as u64)?;
    if !locator.starts_with(b"PK\x06\x07") {
        return Ok(None);
    }
    let at = u64_at(&locator, 8);
    if at.checked_add(END_64 as u64).is_none_or(|stop| stop > locator_at) {
        return damage(format!("its 64-bit end at byte {at} does not fit the file"));
    }
    let end = part(file, at, END_64 as u64)?;
    if !end.starts_with(b"PK\x06\x06") {
        return damage(format!("there is no 64-bit end at byte {at}"));
    }
    Ok(Some((u64_at(&end, 32), u64_at(&end, 40), u64_at(&end, 48))))
}

/// The entries of a directory.
fn members(bytes: &[u8], count: u64) -> Result<Vec<Member>> {
    let (mut members, mut at) = (Vec::<Member>::new(), 0);
    while at < bytes.len() {
        let entry = &bytes[at..];
        if entry.len() < ENTRY || !entry.starts_with(b"PK\x01\x02") {
            return damage(format!("entry {} of its directory is corrupt", members.len()));
        }
        let [name, extra, comment] = [28, 30, 32].map(|field| usize::from(u16_at(entry, field)));
        let Some(rest) = entry.get(ENTRY..ENTRY + name + extra + comment) else {
            return damage(format!("entry {} of its directory is cut off", members.len()));
        };
        members.push(member(entry, &rest[..name], &rest[name..name + extra])?);
        at += ENTRY + name + extra + comment;
    }
    if members.len() as u64 != count {
        return damage(format!("its directory has {} entries, {count} are stated", members.len()));
    }
    let mut names: Vec<&str> = members.iter().map(Member::array).collect();
    names.sort_unstable();
    match names.windows(2).find(|w| w[0] == w[1]) {
        Some(twice) => damage(format!("two members are called {}", twice[0])),
        None => Ok(members),
    }
}

fn member(entry: &[u8], name: &[u8], mut extra: &[u8]) -> Result<Member> {
    let Ok(name) = String::from_utf8(name.to_vec()) else {
        return damage(format!("the name of member {} is not UTF-8", String::from_utf8_lossy(name)));
    };
    let [packed, size, at] = [20, 24, 42].map(|field| u64::from(u32_at(entry, field)));
    let (flags, method, crc) = (u16_at(entry, 8), u16_at(entry, 10), u32_at(entry, 16));
    let mut member = Member { name, flags, method, crc, packed, size, at };
    while let [a, b, c, d, rest @ ..] = extra {
        let (kind, length) = (u16::from_le_bytes([*a, *b]), usize::from(u16::from_le_bytes([*c, *d])));
        let Some(mut body) = rest.get(..length) else { break };
        if kind == 1 {
            // only the fields that do not fit 32 bits are there, in this order
            for field in [&mut member.size, &mut member.packed, &mut member.at] {
                if *field == u64::from(u32::MAX) {
                    let Some((word, after)) = body.split_first_chunk::<8>() else {
                        return damage(format!("member {}: its 64-bit sizes are cut off", member.name));
                    };
                    *field = u64::from_le_bytes(*word);
                    body = after;
                }
            }
        }
        extra = &rest[length..];
    }
    Ok(member)
}

/// Where the content of a member begins: behind its local header, which must be that of this member.
pub(super) fn content_start(file: &mut File, member: &Member) -> Result<u64> {
    let head = part(file, member.at, LOCAL as u64)?;
    if !head.starts_with(b"PK\x03\x04") {
        return damage(format!("there is no header at byte {}", member.at));
    }
    let (name, extra) = (u64::from(u16_at(&head, 26)), u64::from(u16_at(&head, 28)));
    let start = member.at + LOCAL as u64; // read above, so inside the file
    if part(file, start, name)? != member.name.as_bytes() {
        return damage(format!("the header at byte {} has another name", member.at));
    }
    Ok(start + name + extra)
}
