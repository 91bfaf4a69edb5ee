"""The card game against its plain reference: every field after every decision, views at samples."""

from collections import Counter

import pytest

from samurai_env.games.card.game import GAME
from tests.agreement import card
from tests.agreement import match as agreement
from tests.agreement.match import DisagreementError, play, wrong_fields_missed
from tests.card.table import CLOSING

GAMES = 300  # of each number of players


def played(n: int, seeds: range, views: float = 0.05) -> Counter[str]:
    """What came up in these games; `board width` is the largest one."""
    events: Counter[str] = Counter()
    for seed in seeds:
        found = play(GAME.variant(n), seed, views)
        width = max(events["board width"], found.pop("board width"))
        events += found
        events["board width"] = width
    return events


@pytest.mark.slow
@pytest.mark.parametrize("n", GAME.players)
def test_card_game_agrees_with_the_reference(n: int) -> None:
    events = played(n, range(GAMES))
    assert events["games"] == GAMES
    wanted = {"turn": 25 * GAMES, "stones taken": 4000, "views": 3 * GAMES, "phase village": GAMES, "sole win": 200}
    wanted |= {"stones used up": 20, "cards used up": 30, "all share": 1, "board width": 15, "substitute stones": 1}
    if n > 2:  # with two players the village cards last
        wanted |= {"village stack used up": 50, "choice with one card left": 5, "some share": 1}
    scarce = {event: (events[event], least) for event, least in wanted.items() if events[event] < least}
    assert not scarce, f"came up too rarely (found, wanted): {scarce}"


@pytest.mark.parametrize("n", GAME.players)
def test_any_seat_may_begin(n: int) -> None:
    for seed in range(10 * n):
        events = play(GAME.variant(n, first=seed % n if seed % 2 else "random"), seed)
        assert events["games"] == 1


@pytest.mark.parametrize("n", CLOSING)
def test_they_agree_when_the_board_closes(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    class Scripted(card.Match):
        """Lays any card, but on these cells."""

        def choose(self, legal: list[str]) -> str:
            return legal[0] if self.game.phase == "card" else next(self.words)

        words = iter(CLOSING[n].split())

    monkeypatch.setattr(agreement, "match_of", lambda game: Scripted)
    events = play(GAME.variant(n), 1, views=1)
    assert events["closed"] == 1
    assert events["closed in mid-round"] == (n == 3)


def test_a_disagreement_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def first_of_a_tie(amounts: dict[int, int]) -> int:
        return max(amounts, key=amounts.__getitem__)

    monkeypatch.setattr(card.reference, "sole_highest", first_of_a_tie)
    with pytest.raises(DisagreementError, match="stones"):
        play(GAME.variant(2), 0)


def test_a_wrong_bit_is_found_in_every_field() -> None:
    checked = 0

    def look_and_choose(match: card.Match, legal: list[str]) -> str:
        nonlocal checked
        if match.rng.random() < 0.1 and match.game.phase != "village":  # there `laid` leads to what is compared
            assert not wrong_fields_missed(match, set(match.expected.fields) - set(card.OWN_AFFAIRS))
            checked += 1
        return match.choose(legal)

    for seed in range(3):
        play(GAME.variant(2 + seed), seed, 0, look_and_choose)
    assert checked > 10


@pytest.mark.parametrize("encoding", GAME.encodings)
def test_a_wrong_observation_is_found(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def with_an_error(position, seat, name=None, out=None):
        seen = observe(position, seat, name, out)
        if name == encoding:
            seen = seen.copy()
            seen[..., -1] ^= 1
        return seen

    observe = card.Position.observe
    monkeypatch.setattr(card.Position, "observe", with_an_error)
    with pytest.raises(DisagreementError, match=f"{encoding} block"):
        play(GAME.variant(3), 0)
