"""`graph_layers.GraphLayers` on a CPU, for learning: the compiled kernels as functions that torch differentiates."""

from typing import Any

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from agents.networks.maps.embed_kernels import (
    EmbedInputs,
    EmbedWeights,
    embed,
    embed_gradient,
    new_embedded,
    transposed,
)
from agents.networks.maps.score_kernels import ScoreInputs, ScoreWeights, add_logits, logits_gradient, new_work


def arrays(tensors: Any) -> list[np.ndarray]:
    """Tensors as arrays in C order, with the same memory where they are in that order."""
    return [tensor.detach().contiguous().numpy() for tensor in tensors]


class Embed(torch.autograd.Function):
    """`embed_kernels.embed`: from int8 (batch, entries) to `around`, `nodes`, `mean` and `most` of `Embedded`."""

    @staticmethod
    def forward(
        ctx: Any, obs: torch.Tensor, inputs: EmbedInputs, keep: bool, *weights: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        """Embed positions; `keep` for the gradient."""
        (observed,), w = arrays([obs]), EmbedWeights(*arrays(weights))
        out = new_embedded(len(observed), inputs, w.third.shape[0], keep)
        embed(observed, inputs, w, out)
        ctx.kept = observed, inputs, w, out
        return tuple(torch.from_numpy(array) for array in (out.around, out.nodes, out.mean, out.most))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *by_output: torch.Tensor) -> tuple[Any, ...]:
        """The gradient by the weights."""
        observed, inputs, w, seen = ctx.kept
        out = EmbedWeights(*map(np.zeros_like, w))
        embed_gradient(observed, inputs, transposed(w), seen, tuple(arrays(by_output)), out)
        return None, None, None, *map(torch.from_numpy, out)


def _nested(weights: list[np.ndarray]) -> ScoreWeights:
    """`ScoreWeights` from their arrays one after the other."""
    scores, bias, scale, *by_kind = weights
    kinds = len(by_kind) // 2
    return ScoreWeights(scores, bias, scale, tuple(by_kind[:kinds]), tuple(by_kind[kinds:]))


class AddLogits(torch.autograd.Function):
    """`score_kernels.add_logits` to logits, float32 (batch, actions)."""

    @staticmethod
    def forward(
        ctx: Any,
        logits: torch.Tensor,
        obs: torch.Tensor,
        nodes: torch.Tensor,
        gate: torch.Tensor,
        inputs: ScoreInputs,
        *weights: torch.Tensor,
    ) -> torch.Tensor:
        """The sum."""
        w, total = _nested(arrays(weights)), logits.detach().clone(memory_format=torch.contiguous_format)
        read = *arrays([obs, nodes, gate]), inputs, w
        add_logits(*read, new_work(inputs, nodes.shape[2]), total.numpy())
        ctx.kept = read
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_logits: torch.Tensor) -> tuple[Any, ...]:
        """The gradients by logits, nodes, gate and weights."""
        _, nodes, gate, inputs, w = ctx.kept
        by_nodes, by_gate = np.empty_like(nodes), np.empty_like(gate)
        out = [np.zeros_like(array) for array in (w.scores, w.scores_bias, w.piece_scale, *w.own, *w.own_bias)]
        (by,), work = arrays([by_logits]), new_work(inputs, nodes.shape[2])
        logits_gradient(*ctx.kept, by, work, by_nodes, by_gate, _nested(out))
        by_parts = [torch.from_numpy(array) for array in (by_nodes, by_gate)]
        return by_logits, None, *by_parts, None, *map(torch.from_numpy, out)
