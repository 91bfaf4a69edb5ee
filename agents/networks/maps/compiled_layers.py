"""Layers over a map on a CPU, for learning: the compiled kernels as functions that torch differentiates."""

from typing import Any

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from agents.networks.maps.embed_kernels import (
    FixedEmbedInputs,
    GridEmbedInputs,
    embed_fixed,
    embed_fixed_gradient,
    embed_grid,
    embed_grid_gradient,
    new_embedded,
)
from agents.networks.maps.grid_score_kernels import (
    GridScoreInputs,
    GridScoreWeights,
    add_grid_logits,
    grid_logits_gradient,
)
from agents.networks.maps.score_kernels import ScoreInputs, ScoreWeights, add_logits, logits_gradient, new_work
from agents.networks.maps.site_kernels import EmbedWeights, transposed


def arrays(tensors: Any) -> list[np.ndarray]:
    """Tensors as arrays in C order, with the same memory where they are in that order."""
    return [tensor.detach().contiguous().numpy() for tensor in tensors]


class Embed(torch.autograd.Function):
    """`embed_kernels.embed_fixed` or `embed_grid`: from int8 (batch, entries) to four arrays of `Embedded`."""

    @staticmethod
    def forward(
        ctx: Any, obs: torch.Tensor, inputs: FixedEmbedInputs | GridEmbedInputs, keep: bool, *weights: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        """Embed positions; `keep` for the gradient. Returns `around`, `nodes`, `mean` and `most`."""
        (observed,), w = arrays([obs]), EmbedWeights(*arrays(weights))
        if isinstance(inputs, FixedEmbedInputs):
            nodes, embed = len(observed) * len(inputs.rows), embed_fixed
        else:
            nodes, embed = inputs.tables.nodes, embed_grid
        out = new_embedded(len(observed), nodes, w.third.shape[0], keep)
        embed(observed, inputs, w, out)
        ctx.kept = observed, inputs, w, out
        return tuple(torch.from_numpy(array) for array in (out.around, out.nodes, out.mean, out.most))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *by_output: torch.Tensor) -> tuple[Any, ...]:
        """The gradient by the weights."""
        observed, inputs, w, seen = ctx.kept
        out = EmbedWeights(*map(np.zeros_like, w))
        gradient = embed_fixed_gradient if isinstance(inputs, FixedEmbedInputs) else embed_grid_gradient
        gradient(observed, inputs, transposed(w), seen, tuple(arrays(by_output)), out)
        return None, None, None, *map(torch.from_numpy, out)


def _nested(inputs: ScoreInputs | GridScoreInputs, weights: list[np.ndarray]) -> ScoreWeights | GridScoreWeights:
    """Weights, or their gradients, from the arrays one after the other."""
    if isinstance(inputs, GridScoreInputs):
        return GridScoreWeights(*weights)
    scores, bias, scale, *by_kind = weights
    kinds = len(by_kind) // 2
    return ScoreWeights(scores, bias, scale, tuple(by_kind[:kinds]), tuple(by_kind[kinds:]))


class AddLogits(torch.autograd.Function):
    """`score_kernels.add_logits` or `add_grid_logits` to logits, float32 (batch, actions)."""

    @staticmethod
    def forward(
        ctx: Any,
        logits: torch.Tensor,
        obs: torch.Tensor,
        nodes: torch.Tensor,
        gate: torch.Tensor,
        inputs: ScoreInputs | GridScoreInputs,
        *weights: torch.Tensor,
    ) -> torch.Tensor:
        """The sum."""
        flat = arrays(weights)
        total = logits.detach().clone(memory_format=torch.contiguous_format)
        read = *arrays([obs, nodes, gate]), inputs, _nested(inputs, flat)
        if isinstance(inputs, GridScoreInputs):
            add_grid_logits(*read, total.numpy())
        else:
            add_logits(*read, new_work(inputs, nodes.shape[2]), total.numpy())
        ctx.kept = read, flat
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_logits: torch.Tensor) -> tuple[Any, ...]:
        """The gradients by logits, nodes, gate and weights."""
        read, flat = ctx.kept
        _, nodes, gate, inputs, _ = read
        by_nodes, by_gate, out = np.empty_like(nodes), np.empty_like(gate), [np.zeros_like(array) for array in flat]
        (by,), by_weights = arrays([by_logits]), _nested(inputs, out)
        if isinstance(inputs, GridScoreInputs):
            grid_logits_gradient(*read, by, by_nodes, by_gate, by_weights)
        else:
            logits_gradient(*read, by, new_work(inputs, nodes.shape[2]), by_nodes, by_gate, by_weights)
        by_parts = [torch.from_numpy(array) for array in (by_nodes, by_gate)]
        return by_logits, None, *by_parts, None, *map(torch.from_numpy, out)
