"""The configuration of a network: variant, encoding and layers."""

from dataclasses import asdict, dataclass

from llvmlite import binding

from agents.heuristics import ActionFeatures, tuned
from samurai_env.core.encoding import Graph
from samurai_env.core.game import Variant

MASKED = -1e9  # logit of an illegal action


@dataclass(frozen=True)
class NetworkConfig:
    """The variant, encoding and layers of a network.

    Attributes:
        variant: spec of the variant it was trained on.
        encoding: name of the encoding it reads.
        hidden: widths of the hidden layers.
        heuristic_prior: whether it also reads the game's heuristic policy (`agents.heuristics`) and adds it to its
            logits.
        tuned_prior: whether that is the tuned policy, with weights for the number of players.
        entity_width: width of the layers that read each of the encoding's `entities` with shared weights; 0 for none.
        action_width: width of the layers that read the features of each action with shared weights; 0 for none.
        spatial_width: width of the layers that read planes by convolutions, tokens by attention; 0 for none.
        graph_width: width of the layers that read the map as a graph, with shared weights; 0 for none.
    """

    variant: str
    encoding: str
    hidden: tuple[int, ...] = (256, 256)
    heuristic_prior: bool = False
    entity_width: int = 0
    action_width: int = 0
    spatial_width: int = 0
    graph_width: int = 0
    tuned_prior: bool = False

    def differences(self, wanted: "NetworkConfig") -> str:
        """Describe what differs from another, such as "hidden (64,) instead of (256, 256)"."""
        here, there = asdict(self), asdict(wanted)
        return ", ".join(f"{name} {here[name]} instead of {there[name]}" for name in here if here[name] != there[name])


def prior_variant(config: NetworkConfig, variant: Variant) -> Variant:
    """The variant whose heuristic policy a network reads.

    Raises:
        ValueError: it is to read the tuned policy, and the game has none; or that or the features of actions without
            a heuristic prior.
    """
    if config.action_width and not config.heuristic_prior:
        raise ValueError("action_width is of layers beside the heuristic policy: it needs heuristic_prior")
    if config.tuned_prior and not config.heuristic_prior:
        raise ValueError("tuned_prior says which heuristic policy is read: it needs heuristic_prior")
    return tuned(variant) if config.tuned_prior else variant


def prior_features(config: NetworkConfig, variant: Variant) -> ActionFeatures | None:
    """What computes the action features that a network with a heuristic prior reads; None for one without."""
    return ActionFeatures(prior_variant(config, variant)) if config.heuristic_prior else None


def graph_of(variant: Variant, encoding: str) -> Graph:
    """The map as a graph that a network with `graph_width` reads.

    Raises:
        ValueError: the game has no map, or the encoding is not flat.
    """
    if variant.game.graph is None or len(variant.encoding(encoding).shape) != 1:
        raise ValueError(
            f"graph_width needs a game with a map, and a flat encoding; this is {variant.game.name} {encoding!r}"
        )
    return variant.game.graph(variant.num_players)


def supports_bfloat16() -> bool:
    """Whether this processor has instructions for products of bfloat16 numbers."""
    return bool(binding.get_host_cpu_features().get("avx512bf16"))
