"""Layers over a map on a CPU, for learning: the compiled kernels as functions that torch differentiates."""

from typing import Any

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from agents.networks.maps.embed_kernels import (
    FixedInputs,
    LaidInputs,
    embed_fixed,
    embed_fixed_gradient,
    embed_laid,
    embed_laid_gradient,
    new_embedded,
)
from agents.networks.maps.laid_score_kernels import (
    LaidPieces,
    LaidScoreWeights,
    add_laid_logits,
    laid_logits_gradient,
)
from agents.networks.maps.laid_tables import Tables
from agents.networks.maps.score_kernels import ScoreInputs, ScoreWeights, add_logits, logits_gradient, new_work
from agents.networks.maps.site_kernels import EmbedWeights, transposed


def arrays(tensors: Any) -> list[np.ndarray]:
    """Tensors as arrays in C order, with the same memory where they are in that order."""
    return [tensor.detach().contiguous().numpy() for tensor in tensors]


class Embed(torch.autograd.Function):
    """`embed_kernels.embed_fixed` or `embed_laid`: from int8 (batch, entries) to four arrays of `Embedded`."""

    @staticmethod
    def forward(
        ctx: Any, obs: torch.Tensor, inputs: FixedInputs | LaidInputs, keep: bool, *weights: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        """Embed positions; `keep` for the gradient. Returns `around`, `nodes`, `mean` and `most`."""
        (observed,), w = arrays([obs]), EmbedWeights(*arrays(weights))
        if isinstance(inputs, FixedInputs):
            nodes, embed = len(observed) * len(inputs.rows), embed_fixed
        else:
            nodes, embed = inputs.tables.nodes, embed_laid
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
        gradient = embed_fixed_gradient if isinstance(inputs, FixedInputs) else embed_laid_gradient
        gradient(observed, inputs, transposed(w), seen, tuple(arrays(by_output)), out)
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


class AddLaidLogits(torch.autograd.Function):
    """`laid_score_kernels.add_laid_logits` to logits, float32 (batch, actions)."""

    @staticmethod
    def forward(
        ctx: Any,
        logits: torch.Tensor,
        obs: torch.Tensor,
        nodes: torch.Tensor,
        gate: torch.Tensor,
        tables: Tables,
        pieces: LaidPieces,
        *weights: torch.Tensor,
    ) -> torch.Tensor:
        """The sum."""
        (observed, embedded, gated), w = arrays([obs, nodes, gate]), LaidScoreWeights(*arrays(weights))
        total = logits.detach().clone(memory_format=torch.contiguous_format)
        ctx.kept = observed, tables, embedded, gated, pieces, w
        add_laid_logits(*ctx.kept, total.numpy())
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_logits: torch.Tensor) -> tuple[Any, ...]:
        """The gradients by logits, nodes, gate and weights."""
        _, _, nodes, gate, _, w = ctx.kept
        by_nodes, by_gate, out = np.empty_like(nodes), np.empty_like(gate), LaidScoreWeights(*map(np.zeros_like, w))
        (by,) = arrays([by_logits])
        laid_logits_gradient(*ctx.kept, by, by_nodes, by_gate, out)
        by_parts = [torch.from_numpy(array) for array in (by_nodes, by_gate)]
        return by_logits, None, *by_parts, None, None, *map(torch.from_numpy, out)
