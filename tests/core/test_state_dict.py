"""Positions as plain data: the schema holds, and nothing hidden is in it."""

import json

import jsonschema
import numpy as np
import pytest

from samurai_env import Position, make_variant
from samurai_env.core.game import Variant, find_game
from samurai_env.state_dict import json_schema
from tests.common.variants import all_variants

VARIANTS = [
    variant for game in ("samurai", "samurai_card", "samurai_spirit") for variant in all_variants(find_game(game))
]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.spec)
def test_schema_holds_over_a_game(variant: Variant) -> None:
    validator = jsonschema.Draft202012Validator(json_schema(variant))
    position, rng = Position(variant, 1), np.random.default_rng(1)
    while not position.over:
        if rng.random() < 0.02:
            for seat in range(variant.num_players):
                validator.validate(json.loads(json.dumps(position.to_dict(seat))))
        position.step(int(rng.choice(position.legal_actions())))
    validator.validate(json.loads(json.dumps(position.to_dict(0))))


@pytest.mark.parametrize("variant", VARIANTS[:3] + VARIANTS[-3:], ids=lambda variant: variant.spec)
def test_same_under_determinization(variant: Variant) -> None:
    position, rng, stream = Position(variant, 4), np.random.default_rng(2), np.array([3], np.uint64)
    while not position.over:
        if rng.random() < 0.1:
            for seat in range(variant.num_players):
                assert position.determinized(seat, stream).to_dict(seat) == position.to_dict(seat)
        position.step(int(rng.choice(position.legal_actions())))


def test_content() -> None:
    variant = make_variant("samurai", num_players=2)
    position = Position(variant, 1)
    mine, theirs = position.to_dict(0), position.to_dict(1)
    assert mine["legal"] == [variant.action_names[action] for action in position.legal_actions()]
    assert theirs["legal"] == []
    assert mine["to_move"] == theirs["to_move"] == 0
    assert len(mine["observation"]["influence"]) == 2
    assert mine["returns"] is None
    assert position.to_dict(0, "planes")["observation"].keys() <= {b.name for b in variant.encoding("planes").blocks}
    with pytest.raises(ValueError, match="there is no seat 2"):
        position.to_dict(2)
    with pytest.raises(ValueError, match="no encoding"):
        position.to_dict(0, "round")


@pytest.mark.parametrize("encoding", ["flat", "tokens", "planes"])
def test_schema_of_every_encoding(encoding: str) -> None:
    variant = make_variant("samurai", num_players=3)
    jsonschema.validate(Position(variant, 1).to_dict(2, encoding), json_schema(variant, encoding))
