"""Dense layers for a few positions at a time, compiled: NumPy spends longer on its calls than on the numbers.

Inputs that are 0 are skipped, most of an observation and half of a rectified layer.
"""

import numpy as np

from samurai_env.core.jit import jit


@jit
def add_row(out, factor, row):
    """Add a row of weights times a factor."""
    for column in range(row.shape[0]):
        out[column] += factor * row[column]


@jit
def dense(inputs, weights, bias, rectified, out):
    """Write a layer's outputs.

    Args:
        inputs: float32 (batch, inputs).
        weights: float32 (inputs, outputs).
        bias: float32 (outputs,).
        rectified: whether negative outputs become 0.
        out: float32 (batch, outputs).
    """
    for i in range(inputs.shape[0]):
        row = out[i]
        for column in range(row.shape[0]):
            row[column] = bias[column]
        for entry in range(inputs.shape[1]):
            if inputs[i, entry] != np.float32(0.0):
                add_row(row, inputs[i, entry], weights[entry])
        if rectified:
            for column in range(row.shape[0]):
                row[column] = max(row[column], np.float32(0.0))


@jit
def observed(observations, weights, bias, out):
    """Write what a layer makes of observations, int8 (batch, entries), before what else it reads; as `dense`."""
    for i in range(observations.shape[0]):
        row = out[i]
        for column in range(row.shape[0]):
            row[column] = bias[column]
        for entry in range(observations.shape[1]):
            if observations[i, entry] != 0:
                add_row(row, np.float32(observations[i, entry]), weights[entry])


@jit
def prior_logits(features, temperature, out):
    """Write the logits of the heuristic prior, see `network.PolicyValueNet.heuristic_logits`.

    Args:
        features: float32 (batch, actions, columns); column 0 is the gap to the best legal action.
        temperature: float32.
        out: float32 (batch, actions).
    """
    for i in range(out.shape[0]):
        for action in range(out.shape[1]):
            out[i, action] = max(-features[i, action, 0] / temperature, np.float32(-20.0))


@jit
def add_prior(prior, masks, weights, out):
    """Add what the first layer makes of the heuristic prior's shares of the legal actions.

    Args:
        prior: float32 (batch, actions), logits.
        masks: int8 (batch, actions).
        weights: float32 (actions, outputs).
        out: float32 (batch, outputs), in and out.
    """
    for i in range(out.shape[0]):
        for action in range(masks.shape[1]):
            if masks[i, action]:
                add_row(out[i], np.exp(prior[i, action]), weights[action])


@jit
def add_action_scores(features, masks, context, first, of_mean, second, bias, score, work, logits):
    """Add what `layers.ActionLayers` says of the legal actions.

    Args:
        features: float32 (batch, actions, columns).
        masks: int8 (batch, actions).
        context: float32 (batch, width): of the whole position, with the first layer's bias; changes.
        first: float32 (columns, width): the first layer's weights for the features, with their scale.
        of_mean: float32 (columns, width): what it takes off for the mean of the position's actions.
        second: float32 (width, width).
        bias: float32 (width,).
        score: float32 (width + 1,), the weights of the last layer and its bias.
        work: float32 (3, the larger of columns and width), scratch.
        logits: float32 (batch, actions), in and out.
    """
    mean, one, two = work[0], work[1], work[2]
    columns, width = first.shape
    for i in range(masks.shape[0]):
        count = np.float32(0.0)
        for column in range(columns):
            mean[column] = np.float32(0.0)
        for action in range(masks.shape[1]):
            if masks[i, action]:
                count += np.float32(1.0)
                add_row(mean, np.float32(1.0), features[i, action])
        for column in range(columns):
            add_row(context[i], -mean[column] / count, of_mean[column])
        for action in range(masks.shape[1]):
            if masks[i, action]:
                for k in range(width):
                    one[k], two[k] = context[i, k], bias[k]
                for column in range(columns):
                    add_row(one, features[i, action, column], first[column])
                for k in range(width):
                    if one[k] > np.float32(0.0):
                        add_row(two, one[k], second[k])
                total = score[width]
                for k in range(width):
                    if two[k] > np.float32(0.0):
                        total += two[k] * score[k]
                logits[i, action] += total


@jit
def log_softmax(logits, masks, masked):
    """Turn logits, float32 (batch, actions), into log-probabilities; illegal actions get about `masked`."""
    for i in range(logits.shape[0]):
        best = masked
        for action in range(logits.shape[1]):
            if masks[i, action]:
                best = max(best, logits[i, action])
        total = np.float32(0.0)
        for action in range(logits.shape[1]):
            logits[i, action] = (logits[i, action] if masks[i, action] else masked) - best
            if masks[i, action]:
                total += np.exp(logits[i, action])
        total = np.log(total)
        for action in range(logits.shape[1]):
            logits[i, action] -= total
