"""The board game's heuristic policy against its definition, written plainly; equal to the bit."""

import numpy as np
import pytest

from samurai_env import GameBatch, make_variant
from samurai_env.games.board.actions import LAND0, SEA0
from samurai_env.games.board.heuristics import policy
from samurai_env.games.board.rules.tiles import FIGURE_EXCHANGE, KINDS, SHIPS, STRENGTH, TOKEN_EXCHANGE
from samurai_env.games.board.rules.topology import LAND_BESIDE, SEA_BESIDE, SETTLEMENT_LAND
from samurai_env.games.board.state import LAND, SEA, TILE, TOKEN_FROM, TOKEN_TO

PRICES = policy.WEIGHTS[policy.PRICE : policy.PRICE + KINDS]
PHASES = {TILE, LAND, SEA, TOKEN_FROM, TOKEN_TO}
GAMES = 20


class Plain:
    """A position, and gains of tiles on it."""

    def __init__(self, state) -> None:
        self.state, self.seat = state, int(state["seat"])
        self.influence = state["influence"].astype(int)
        self.importances = [self.importance(figure) for figure in range(3)]
        self.free = [hex for hex in range(len(state["land_tile"])) if state["land_tile"][hex] == 0]
        self.free_sea = [hex for hex in range(len(state["sea_tile"])) if state["sea_tile"][hex] == 0]

    def importance(self, figure):
        """Importance of one more figure of a kind."""
        left = int(self.state["figures"][figure]).bit_count() + int(self.state["pool"][figure])
        captured = self.state["captured"][:, figure].astype(int)
        mine, best = captured[self.seat], max(np.delete(captured, self.seat))
        if abs(mine - best) > left:
            return policy.WEIGHTS[policy.DECIDED]
        near = policy.WEIGHTS[policy.CLOSE] / (1.0 + abs(mine - best))
        return policy.WEIGHTS[policy.OPEN] + near + policy.WEIGHTS[policy.NEAR_END] / (1.0 + left)

    def control(self, settlement, figure, filled=0, strength=0):
        """Control of a figure, after a tile."""
        empty = int(SETTLEMENT_LAND[settlement] & self.state["land_free"]).bit_count() - filled
        rivals = max(
            self.influence[seat][settlement][figure] for seat in range(len(self.influence)) if seat != self.seat
        )
        lead = self.influence[self.seat][settlement][figure] + strength - max(rivals, 0)
        return policy.CONTROL[empty, policy.MAX_LEAD + lead]

    def gain(self, beside, kind, filled, sign=1):
        """Gain of a tile on the hex beside these settlements."""
        gains = []
        for settlement in map(int, beside):
            total = 0.0
            for figure in range(3):
                if settlement < len(self.influence[0]) and int(self.state["figures"][figure]) >> settlement & 1:
                    after = self.control(settlement, figure, filled, sign * int(STRENGTH[kind, figure]))
                    total += self.importances[figure] * (after - self.control(settlement, figure))
            gains.append(total)
        return gains[0] + gains[1]

    def on_land(self, kind):
        """Gains of a tile on each free land hex."""
        return {hex: self.gain(LAND_BESIDE[hex], kind, 1) for hex in self.free}

    def at_sea(self, kind):
        """Gains of a ship on each free sea hex."""
        return {hex: self.gain(SEA_BESIDE[hex], kind, 0) for hex in self.free_sea}

    def moved_tokens(self):
        """Gains of a token exchange by the hex whose tile is moved."""
        found = {}
        for hex, tile in enumerate(self.state["land_tile"]):
            if int(self.state["movable"][self.seat]) >> hex & 1:
                kind = int(tile) - 1 - KINDS * self.seat
                found[hex] = self.gain(LAND_BESIDE[hex], kind, 0, -1) + max(self.on_land(kind).values())
        return found

    def figure_exchange(self):
        """Best gain of exchanging two different figures of two settlements."""
        on = [{s for s in range(len(self.influence[0])) if int(bits) >> s & 1} for bits in self.state["figures"]]
        best = 0.0 if sum(map(len, on)) > len(on[0] | on[1] | on[2]) or max(map(len, on)) > 1 else policy.LOWEST
        for one in range(3):
            for two in range(3):
                for here in on[one] - on[two]:
                    for there in on[two] - on[one]:
                        best = max(
                            best,
                            self.importances[one] * (self.control(there, one) - self.control(here, one))
                            + self.importances[two] * (self.control(here, two) - self.control(there, two)),
                        )
        return best

    def logits(self, kinds):
        """The logits of the legal actions that the class knows, by action id."""
        phase, kind, n = self.state["phase"], int(self.state["tile"]), len(self.influence)
        if phase == TILE:
            return {tile: self.tile(tile) - PRICES[tile] for tile in kinds if tile < KINDS}
        if phase == SEA:
            return {SEA0[n] + hex: gain for hex, gain in self.at_sea(kind).items()}
        if phase == TOKEN_FROM:
            return {LAND0 + hex: gain for hex, gain in self.moved_tokens().items()}
        if phase == TOKEN_TO:
            kind = int(self.state["land_tile"][self.state["from_land"]]) - 1 - KINDS * self.seat
        return {LAND0 + hex: gain for hex, gain in self.on_land(kind).items()}

    def tile(self, kind):
        """Best gain of a tile."""
        if kind == FIGURE_EXCHANGE:
            return self.figure_exchange()
        if kind == TOKEN_EXCHANGE:
            return max(self.moved_tokens().values())
        return max((self.at_sea(kind) if int(SHIPS) >> kind & 1 else self.on_land(kind)).values())


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_logits_are_those_of_the_definition(players: int) -> None:
    variant = make_variant("samurai", players, token_exchange="any")
    batch, rng, seen = GameBatch(variant), np.random.default_rng(players), set()
    states = batch.reset(np.arange(GAMES))
    while len(states := states[states["over"] == 0]):
        masks = batch.legal_masks(states)
        for state, mask, logits in zip(states, masks, batch.policy_logits(states), strict=True):
            if state["phase"] in PHASES and rng.random() < 0.15:
                seen.add(int(state["phase"]))
                for action, logit in Plain(state).logits(mask.nonzero()[0]).items():
                    assert logits[action] == logit, (int(state["phase"]), action)
                assert (logits[mask == 0] == policy.LOWEST).all()
        batch.step(states, (rng.random(masks.shape) * masks).argmax(1))
    assert seen == PHASES
