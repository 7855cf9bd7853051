//! Parameters as `safetensors` files: names and shapes as PyTorch has them, a weight as [out, in]; read back bit by bit.

use super::folder::Contents;
use crate::network::Network;
use crate::number::Number;
use crate::optimiser::Optimiser;
use crate::parameter::{Parameter, Role};
use crate::{Error, Result};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use sapwood_sparse::Block;

/// The present weights of a network.
pub(super) fn weights<T: Number>(network: &Network<T>) -> Result<Vec<u8>> {
    written(network.parameters().map(|p| (p.name.clone(), p, &p.value)))
}

/// Blocks in the order of the parameters.
pub(super) fn best<T: Number>(network: &Network<T>, blocks: &[Block<T>]) -> Result<Vec<u8>> {
    written(network.parameters().zip(blocks).map(|(p, block)| (p.name.clone(), p, block)))
}

/// What an optimiser remembers: `exp_avg.<parameter>` and so on.
pub(super) fn optimiser<T: Number>(network: &Network<T>, optimiser: &dyn Optimiser<T>) -> Result<Vec<u8>> {
    let state = optimiser.state();
    let all = state.iter().flat_map(|(name, blocks)| {
        network.parameters().zip(*blocks).map(move |(p, block)| (format!("{name}.{}", p.name), p, block))
    });
    written(all)
}

/// Fills a network with the weights of a file.
pub(super) fn read_weights<T: Number>(file: &Contents, network: &mut Network<T>) -> Result<()> {
    let tensors = open(file, network.parameters().count())?;
    for parameter in network.parameters_mut() {
        let value = block(file, &tensors, &parameter.name, parameter)?;
        parameter.value = value;
    }
    Ok(())
}

/// The blocks of a file, in the order of the parameters.
pub(super) fn read_best<T: Number>(file: &Contents, network: &Network<T>) -> Result<Vec<Block<T>>> {
    let tensors = open(file, network.parameters().count())?;
    network.parameters().map(|p| block(file, &tensors, &p.name, p)).collect()
}

/// Restores what an optimiser remembers.
pub(super) fn read_optimiser<T: Number>(
    file: &Contents,
    network: &Network<T>,
    optimiser: &mut dyn Optimiser<T>,
) -> Result<()> {
    let mut state = optimiser.state_mut();
    let tensors = open(file, state.iter().map(|(_, blocks)| blocks.len()).sum())?;
    for (name, blocks) in &mut state {
        for (parameter, own) in network.parameters().zip(blocks.iter_mut()) {
            *own = block(file, &tensors, &format!("{name}.{}", parameter.name), parameter)?;
        }
    }
    Ok(())
}

/// Matrices are transposed: PyTorch multiplies by Wᵀ.
fn transposed(role: Role) -> bool {
    role == Role::Weight
}

fn shape<T: Number>(parameter: &Parameter<T>) -> Vec<usize> {
    let (rows, cols) = parameter.shape;
    if transposed(parameter.role) { vec![cols, rows] } else { vec![cols] }
}

/// The number type's name and its bytes.
fn dtype<T>() -> Dtype {
    if size_of::<T>() == 8 { Dtype::F64 } else { Dtype::F32 }
}

fn written<'p, T: Number>(parts: impl Iterator<Item = (String, &'p Parameter<T>, &'p Block<T>)>) -> Result<Vec<u8>> {
    let encoded: Vec<(String, Vec<usize>, Vec<u8>)> =
        parts.map(|(name, parameter, block)| (name, shape(parameter), bytes(parameter.role, block))).collect();
    let failed = |e: safetensors::SafeTensorError| Error::Settings(format!("the weights cannot be written: {e}"));
    let views: Result<Vec<(&str, TensorView<'_>)>> = encoded
        .iter()
        .map(|(name, shape, bytes)| {
            Ok((name.as_str(), TensorView::new(dtype::<T>(), shape.clone(), bytes).map_err(failed)?))
        })
        .collect();
    safetensors::serialize(views?, None).map_err(failed)
}

/// The elements in the file's order, little-endian.
fn bytes<T: Number>(role: Role, block: &Block<T>) -> Vec<u8> {
    let mut out = Vec::with_capacity(size_of_val(block.as_slice()));
    if transposed(role) {
        for j in 0..block.cols() {
            (0..block.rows()).for_each(|i| block.row(i)[j].push_le(&mut out));
        }
    } else {
        block.as_slice().iter().for_each(|v| v.push_le(&mut out));
    }
    out
}

fn open<'f>(file: &'f Contents, expected: usize) -> Result<SafeTensors<'f>> {
    let tensors = SafeTensors::deserialize(&file.bytes)
        .map_err(|e| Error::checkpoint(&file.path, format!("is no safetensors file: {e}")))?;
    if tensors.len() != expected {
        let what = format!("holds {} tensors, the network has {expected}", tensors.len());
        return Err(Error::checkpoint(&file.path, what));
    }
    Ok(tensors)
}

/// The block of the tensor `name`, in the shape of `parameter`.
fn block<T: Number>(
    file: &Contents,
    tensors: &SafeTensors<'_>,
    name: &str,
    parameter: &Parameter<T>,
) -> Result<Block<T>> {
    let wrong = |what: String| Error::checkpoint(&file.path, format!("tensor {name}: {what}"));
    let tensor = tensors.tensor(name).map_err(|_| wrong("is not there".into()))?;
    let expected = shape(parameter);
    if tensor.dtype() != dtype::<T>() || tensor.shape() != expected {
        return Err(wrong(format!(
            "is {:?} {:?}, the network has {:?} {expected:?}",
            tensor.dtype(),
            tensor.shape(),
            dtype::<T>()
        )));
    }
    let (rows, cols) = parameter.shape;
    let element = |at: usize| {
        let size = size_of::<T>();
        tensor.data().get(at * size..(at + 1) * size).map_or(T::ZERO, T::from_le)
    };
    let at = |i: usize, j: usize| if transposed(parameter.role) { j * rows + i } else { i * cols + j };
    Ok(Block::from_fn(rows, cols, |i, j| element(at(i, j)))?)
}
