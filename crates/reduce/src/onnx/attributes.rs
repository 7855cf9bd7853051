//! The attributes of a node, by name and type.

use super::proto::attribute_proto::AttributeType;
use super::proto::{AttributeProto, TensorProto};
use crate::error::{Error, Result};

/// Attributes of one node with their names, which for a node of a function may be others than the messages'.
#[derive(Debug, Clone, Default)]
pub(super) struct Attributes<'a>(pub(super) Vec<(&'a str, &'a AttributeProto)>);

impl<'a> Attributes<'a> {
    /// The attribute, if it is there; files of old versions do not give types.
    fn find(&self, name: &str, kind: AttributeType) -> Result<Option<&'a AttributeProto>> {
        let Some(&(_, found)) = self.0.iter().find(|a| a.0 == name) else { return Ok(None) };
        match found.r#type() {
            AttributeType::Undefined => Ok(Some(found)),
            given if given == kind => Ok(Some(found)),
            given => {
                let message = format!("the attribute is of type {}, not {}", given.as_str_name(), kind.as_str_name());
                Err(Error::value(name, message))
            }
        }
    }

    pub(super) fn int(&self, name: &str) -> Result<Option<i64>> {
        Ok(self.find(name, AttributeType::Int)?.map(|a| a.i))
    }

    /// A truth value, which ONNX gives as 0 or another number.
    pub(super) fn flag(&self, name: &str, default: bool) -> Result<bool> {
        Ok(self.int(name)?.map_or(default, |i| i != 0))
    }

    pub(super) fn float(&self, name: &str) -> Result<Option<f64>> {
        Ok(self.find(name, AttributeType::Float)?.map(|a| f64::from(a.f)))
    }

    pub(super) fn ints(&self, name: &str) -> Result<Option<&'a [i64]>> {
        Ok(self.find(name, AttributeType::Ints)?.map(|a| &a.ints[..]))
    }

    pub(super) fn floats(&self, name: &str) -> Result<Option<&'a [f32]>> {
        Ok(self.find(name, AttributeType::Floats)?.map(|a| &a.floats[..]))
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<&'a str>> {
        let found = self.find(name, AttributeType::String)?;
        found.map(|a| std::str::from_utf8(&a.s).map_err(|_| Error::value(name, "the attribute is no text"))).transpose()
    }

    pub(super) fn tensor(&self, name: &str) -> Result<Option<&'a TensorProto>> {
        Ok(self.find(name, AttributeType::Tensor)?.and_then(|a| a.t.as_ref()))
    }
}
