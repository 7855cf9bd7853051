//! What Megatron-LM can state of a plan: items in virtual stages, and one setting of recomputation for all of them.
//!
//! Here is what its importers and its exporter share: the items, the [`rules`] a layout must keep, the [`shortest()`] layout
//! string, and the [`setting`]s of recomputation. Texts are read in [`crate::import`] and written in [`crate::export`].

pub mod rules;
pub mod setting;
pub mod shortest;

pub use rules::{Broken, Rules};
pub use setting::Setting;
pub use shortest::shortest;

use crate::model::Role;

/// Most items and bars of a layout: enough for any machine, and few enough that no text makes memory explode.
pub const MOST: usize = 1 << 14;

/// An item of a layout string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Item {
    /// `E`, the embedding.
    Embedding,
    /// `t`, a layer of the body.
    Decoder,
    /// `m`, a layer that predicts further tokens.
    Mtp,
    /// `L`, the loss.
    Loss,
}

impl Item {
    /// Every item.
    pub const ALL: [Item; 4] = [Item::Embedding, Item::Decoder, Item::Mtp, Item::Loss];

    /// Its letter.
    pub fn letter(self) -> char {
        match self {
            Item::Embedding => 'E',
            Item::Decoder => 't',
            Item::Mtp => 'm',
            Item::Loss => 'L',
        }
    }

    /// The item of a layer of the body.
    pub(crate) fn of_body(role: Role) -> Item {
        if role == Role::Mtp { Item::Mtp } else { Item::Decoder }
    }

    /// The item of a letter.
    pub fn of(letter: char) -> Option<Item> {
        Item::ALL.into_iter().find(|item| item.letter() == letter)
    }
}

/// How often an item is in the stages.
pub(crate) fn count(stages: &[Vec<Item>], item: Item) -> usize {
    stages.iter().flatten().filter(|&&other| other == item).count()
}
