//! The messages of an ONNX file, and reading them from bytes.

use crate::error::{Error, Result};
use prost::Message;

#[expect(unreachable_pub, reason = "made by build.rs from onnx.proto")]
mod messages {
    include!(concat!(env!("OUT_DIR"), "/onnx.rs"));
}

pub(super) use messages::*;

/// A message that fills `bytes`; `what` is named where it does not.
pub(super) fn decode<M: Message + Default>(bytes: &[u8], what: &str) -> Result<M> {
    let mut message = M::default();
    let mut rest = bytes;
    match message.merge(&mut rest) {
        Ok(()) => Ok(message),
        Err(fault) => {
            let place = bytes.len() - rest.len();
            Err(Error::onnx(what, format!("no such message, at byte {place} of {}: {fault}", bytes.len())))
        }
    }
}
