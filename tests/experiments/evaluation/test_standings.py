"""Intervals, early stopping, ratings and alpha-rank, against known answers."""

from itertools import combinations

import numpy as np
import pytest

from experiments.evaluation.alpha_rank import INTENSITY, POPULATION, alpha_rank, fixation, stationary
from experiments.evaluation.matches import estimate, estimate_ratio
from experiments.evaluation.matchups import Matchup, Results
from experiments.evaluation.ratings import ELO, Comparison, one_among_others, rate
from experiments.evaluation.standings import duration, masses, rating_text, span, standings
from experiments.evaluation.stopping import (
    LIMIT,
    StopRule,
    confidence_sequence,
    log_wealth,
    narrow_after,
    ratio_sequence,
)


def played(chance, deals, games, rng):
    """Win shares of independent games."""
    return (rng.random((deals, games)) < chance).astype(float)


def matchups(strengths, deals, players, seed):
    """One among copies of each other, by strengths (natural logarithms)."""
    rng = np.random.default_rng(seed)
    return {
        (i, j): one_among_others(played(1.0 / (1.0 + (players - 1) * np.exp(b - a)), deals, players, rng))
        for i, a in enumerate(strengths)
        for j, b in enumerate(strengths)
        if i < j or (players > 2 and i != j)
    }


def pairs(found):
    """Matchups of one against another, from the win shares of the one."""
    return {pair: one_among_others(shares) for pair, shares in found.items()}


def together(strengths, deals, players, rng):
    """Free-for-alls of every choice of agents: one sole winner in each of `players` games of a deal."""
    found = {}
    for lineup in combinations(range(len(strengths)), players):
        odds = np.exp(np.array(strengths)[list(lineup)])
        won = rng.choice(players, p=odds / odds.sum(), size=(deals, players))
        found[lineup] = (won[:, None] == np.arange(players)[:, None]).astype(float)
    return found


# --- Stopping ---


def test_a_meeting_stops_when_its_interval_is_narrow_enough():
    shares = played(0.7, 1000, 2, np.random.default_rng(0))
    deals = narrow_after(shares, 0.1)
    assert deals is not None
    assert deals % 10 == 0
    at, before = estimate(shares[:deals]), estimate(shares[: deals - 10])
    assert at.high - at.low <= 0.1 < before.high - before.low
    assert narrow_after(shares, 0.01) is None
    assert narrow_after(shares[:40], 0.5) is None


@pytest.mark.parametrize("chance", [0.5, 0.8, 0.97])
def test_intervals_stay_honest_under_stopping(chance):
    rng, covered = np.random.default_rng(1), 0
    for _ in range(1000):
        shares = played(chance, 400, 2, rng)
        found = estimate(shares[: narrow_after(shares, 0.12)])
        covered += found.low <= chance <= found.high
    assert covered >= 935  # 950 less two standard deviations


@pytest.mark.parametrize("chance", [0.25, 0.5, 0.9])
def test_one_may_look_at_a_confidence_sequence_at_any_time(chance):
    """Over 400 looks at the true mean a plain interval would leave it out sometime in two runs of five."""
    rng, missed, plain = np.random.default_rng(2), 0, 0
    for _ in range(400):
        by_deal = played(chance, 400, 2, rng).mean(1)
        missed += (log_wealth(by_deal[:, None], np.array([chance])) >= LIMIT).any()
        number = np.arange(1, 401)
        mean = by_deal.cumsum() / number
        plain += (np.abs(mean - chance) > 1.96 * by_deal.std() / np.sqrt(number))[20:].any()
    assert missed <= 0.05 * 400 + 9  # and two standard deviations
    assert plain > 0.2 * 400


@pytest.mark.parametrize("players", [2, 4])
def test_a_matchup_ends_once_a_winner_is_known(players):
    rule, rng = StopRule(winner=True), np.random.default_rng(3)
    clear, even = played(0.8, 200, players, rng), played(1 / players, 200, players, rng)
    deals = rule.after(clear)
    assert deals is not None
    assert 3 < deals < 40
    assert rule.estimate(clear[:deals]).low >= 1 / players - 0.001 > rule.estimate(clear[: deals - 1]).low
    assert rule.after(even) is None
    found = rule.estimate(even)
    assert found.low < 1 / players < found.high
    assert rule.after(even[:0]) is None
    loser = rule.after(1.0 - clear) if players == 2 else rule.after(played(0.05, 200, players, rng))
    assert loser is not None


def test_a_matchup_ends_once_a_share_is_known():
    shares = played(0.8, 300, 2, np.random.default_rng(5))
    low, high = (StopRule(above=share).after(shares) for share in (0.6, 0.95))
    assert low is not None
    assert high is not None
    first = StopRule(winner=True).after(shares)
    assert first == StopRule(above=0.5).after(shares)
    assert first < low < 300
    rule = StopRule(above=0.6)
    assert rule.estimate(shares[:low]).low >= 0.599 > rule.estimate(shares[: low - 1]).low
    assert StopRule(above=0.95).estimate(shares[:high]).high <= 0.951
    assert StopRule(above=0.8).after(shares) is None
    assert str(rule) == "ended once known to be above or below 60%"


def test_a_confidence_sequence_is_somewhat_wider_than_an_interval():
    shares = played(0.7, 100, 2, np.random.default_rng(4))
    plain, found = estimate(shares), confidence_sequence(shares)
    assert found.mean == plain.mean
    assert 1.0 < (found.high - found.low) / (plain.high - plain.low) < 2.5
    nothing = confidence_sequence(np.zeros((30, 2)))
    assert nothing.low == 0.0
    assert 0.0 < nothing.high < 0.3
    thirds = confidence_sequence(np.full((20_000, 3), 1 / 3))  # not on the grid
    assert thirds.low < 1 / 3 < thirds.high < thirds.low + 0.003
    assert StopRule(winner=True).after(np.full((20_000, 3), 1 / 3)) is None


def free_for_all(chances, deals, rng):
    """Win shares, (deals, agents, games), of games that are alone; a deal has its own luck, as real ones have."""
    agents = len(chances)
    luck = rng.dirichlet(30 * np.array(chances), deals)
    winners = np.array([rng.choice(agents, agents, p=row) for row in luck])
    return (winners[:, None] == np.arange(agents)[:, None]).astype(float)


def test_a_free_for_all_ends_once_a_leader_is_known():
    rule, rng = StopRule(leader=True), np.random.default_rng(6)
    clear = free_for_all([0.2, 0.6, 0.2], 200, rng)
    deals = rule.after(clear.reshape(200, -1))
    assert deals is not None
    assert 5 < deals < 80
    won = clear.sum(2)
    for other in (0, 2):
        found = rule.estimate_ratio(won[:deals, 1], won[:deals, 1] + won[:deals, other], 3)
        assert found.low >= 0.499
        assert found.mean == pytest.approx(won[:deals, 1].sum() / (won[:deals, 1] + won[:deals, other]).sum())
    assert rule.after(clear[:0].reshape(0, 9)) is None
    equals = free_for_all([0.45, 0.45, 0.1], 100, rng)  # two lead
    assert rule.after(equals.reshape(100, -1)) is None


@pytest.mark.parametrize("chances", [(0.4, 0.4, 0.2), (0.3, 0.3, 0.3, 0.1)])
def test_among_equals_a_leader_is_rarely_named(chances):
    """Though one looks after each deal."""
    rng, wrong, rule = np.random.default_rng(7), 0, StopRule(leader=True)
    for _ in range(300):
        wrong += rule.after(free_for_all(chances, 150, rng).reshape(150, -1)) is not None
    assert wrong <= 8  # 13 if each pair had all of the 5 %


@pytest.mark.parametrize(("own", "other"), [(0.5, 0.5), (0.3, 0.1), (0.05, 0.2)])
def test_one_may_look_at_the_interval_of_a_ratio_at_any_time(own, other):
    rng, missed, ratio = np.random.default_rng(8), 0, own / (own + other)
    for _ in range(200):
        shares = free_for_all([own, other, 1.001 - own - other], 60, rng)
        won = shares.sum(2)
        ends = [ratio_sequence(won[:n, 0], won[:n, 0] + won[:n, 1], 3) for n in (15, 30, 60) if won[:n, :2].any()]
        missed += any(not end.low <= ratio <= end.high for end in ends)
    assert missed <= 0.05 * 200  # plain intervals: 22, 20 and 14


def test_one_rule_at_a_time():
    with pytest.raises(ValueError, match="choose one"):
        StopRule(width=0.1, winner=True)
    with pytest.raises(ValueError, match="choose one"):
        StopRule(above=0.6, winner=True)
    with pytest.raises(ValueError, match="choose one"):
        StopRule(leader=True, winner=True)
    with pytest.raises(ValueError, match="--above must be between 0 and 1, not 1"):
        StopRule(above=1.0)


# --- Ratings ---


@pytest.mark.parametrize("players", [2, 3, 4])
def test_ratings_recover_known_strengths(players):
    strengths = np.log([8.0, 4.0, 2.0, 1.0])
    table = rate(matchups(strengths, 4000, players, 0), Comparison(4, 1, players), np.random.default_rng(0), 200)
    known = ELO * (strengths - strengths[1])
    assert table[1].tolist() == [0.0, 0.0, 0.0]
    assert table[:, 0] == pytest.approx(known, abs=15)
    assert (np.delete(table[:, 2] - table[:, 1], 1) < 50).all()


@pytest.mark.parametrize("strengths", [(1.1, 0.0, -0.9), (6.0, 3.0, 0.0, -2.0, -5.0)])
@pytest.mark.parametrize("players", [2, 4])
def test_intervals_of_ratings_cover_what_they_should(strengths, players):
    trials, covered, anchor = 100, 0, strengths.index(0.0)
    known = ELO * np.array(strengths)
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        table = rate(matchups(strengths, 60, players, seed), Comparison(len(strengths), anchor, players), rng, 100)
        assert table[anchor].tolist() == [0.0, 0.0, 0.0]
        covered += ((table[:, 1] <= known) & (known <= table[:, 2])).sum() - 1
    assert covered / (len(strengths) - 1) >= 0.9 * trials


@pytest.mark.parametrize(("players", "strengths"), [(3, (1.5, 0.7, 0.0, -1.0)), (4, (1.5, 0.7, 0.0, -1.0))])
def test_ratings_of_free_for_alls_recover_known_strengths(players, strengths):
    rng, known = np.random.default_rng(0), ELO * np.array(strengths)
    table = rate(together(strengths, 4000, players, rng), Comparison(4, 2, players), rng, 200)
    assert table[2].tolist() == [0.0, 0.0, 0.0]
    assert table[:, 0] == pytest.approx(known, abs=15)
    covered = 0
    for _ in range(100):
        table = rate(together(strengths, 40, players, rng), Comparison(4, 2, players), rng, 100)
        covered += ((table[:, 1] <= known) & (known <= table[:, 2])).sum() - 1
    assert covered >= 0.9 * 300


def test_free_for_alls_and_matchups_of_copies_are_rated_together():
    """One agent has met the others in a free-for-all alone, another in copies alone: both have a rating."""
    strengths, rng = (0.8, 0.0, -0.6, 1.6), np.random.default_rng(0)
    found = {(0, 1, 2): together(strengths[:3], 3000, 3, rng)[0, 1, 2]}
    found[3, 0] = one_among_others(played(1.0 / (1.0 + 2.0 * np.exp(0.8 - 1.6)), 3000, 3, rng))
    table = rate(found, Comparison(4, 1, 3), rng, 100)
    assert table[:, 0] == pytest.approx(ELO * np.array(strengths), abs=25)
    assert (table[:, 2] - table[:, 1])[3] > (table[:, 2] - table[:, 1])[0]  # the way to the anchor is longer


def test_shares_of_free_for_alls(tmp_path):
    """Counted by hand: two deals of three games, of which the second has a shared win."""
    results = Results(tmp_path / "none.json", "samurai players=3")
    first = [[1, 1, 0], [0, 0, 1], [0, 0, 0]]
    second = [[0.5, 0, 1], [0.5, 1, 0], [0, 0, 0]]
    deals = {number: [share for row in deal for share in row] for number, deal in enumerate((first, second))}
    results.matchups["greedy", "mcts:9", "random"] = Matchup(deals, [1.0, 2.0, 3.0], [10, 10, 10])
    found = standings(results, ["greedy", "mcts:9", "random"])
    assert found.agents == ("greedy", "mcts:9", "random")
    assert [found.wins[agent].mean for agent in found.agents] == [3.5 / 6, 2.5 / 6, 0.0]
    assert found.shares["greedy", "mcts:9"].mean == 3.5 / 6
    assert found.shares["mcts:9", "greedy"].mean == 2.5 / 6
    assert found.shares["greedy", "random"].mean == 1.0
    assert found.deals["greedy", "random"] == 2
    assert found.seconds == {"greedy": 0.1, "mcts:9": 0.2, "random": 0.3}
    assert found.ratings["random"][1] == -np.inf
    assert found.masses == {}
    assert found.head(found.agents)[:3] == ["agent", "rating", "win share"]
    assert found.row("mcts:9", found.agents)[2].startswith("41.7% [")


def test_shares_of_free_for_alls_of_unequal_length(tmp_path):
    """An agent's games are put together by deal; line-ups without it say nothing, nor how many deals there are."""
    alone, rest = (
        Results(tmp_path / "none.json", "samurai players=3"),
        Results(tmp_path / "none.json", "samurai players=3"),
    )
    one = {0: [1, 1, 1, 0, 0, 0, 0, 0, 0], 1: [0, 0, 0, 1, 1, 1, 0, 0, 0], 2: [1, 1, 0, 0, 0, 1, 0, 0, 0]}
    other = {number: [0, 1, 0, 1, 0, 0, 0, 0, 1] for number in range(100)}
    for results in (alone, rest):
        results.matchups["greedy", "mcts:9", "random"] = Matchup(one)
    rest.matchups["random", "mcts:8", "mcts:7"] = Matchup(other)
    agents = ["greedy", "mcts:9", "random", "mcts:8", "mcts:7"]
    few, many = standings(alone, agents[:3]), standings(rest, agents)
    assert few.shares["greedy", "mcts:9"] == many.shares["greedy", "mcts:9"]
    assert (few.wins["greedy"], few.deals["greedy", "mcts:9"]) == (many.wins["greedy"], 3)
    assert many.wins["random"].mean == 100 / 309
    assert many.deals["random", "mcts:8"] == 100
    rest.matchups["greedy", "random", "mcts:8"] = Matchup({0: [0, 0, 0, 0, 0, 0, 1, 1, 1]})
    found = standings(rest, agents)
    won = np.array([3.0, 0.0, 2.0])
    assert found.wins["greedy"] == estimate_ratio(won, np.array([6.0, 3.0, 3.0]))  # both line-ups have deal 0


def test_who_never_won_a_free_for_all():
    """With one line-up strengths are as the wins, each with a third of the one imagined deal for each agent."""
    shares = np.zeros((20, 3, 3))
    shares[:10, 0] = shares[10:, 1] = 1.0
    table = rate({(0, 1, 2): shares}, Comparison(3, 0, 3), np.random.default_rng(0), 200)
    assert table[1, 0] == pytest.approx(0.0, abs=1e-4)
    assert table[2, 0] == pytest.approx(400 * np.log10((1 / 3) / (10 + 1 / 3)), abs=1e-4)
    assert table[2, 1] == -np.inf
    assert -596 < table[2, 2] < 0


def test_an_interval_of_a_ratio_knows_that_games_of_a_deal_go_together():
    rng, true, covered, width = np.random.default_rng(5), 0.6, 0, [0.0, 0.0]
    for _ in range(500):
        games = rng.integers(1, 5, 60).astype(float)
        won = games * (rng.random(60) < true)  # all games of a deal alike
        found = estimate_ratio(won, games)
        covered += found.low <= true <= found.high
        width[0] += found.high - found.low
        apart = rng.binomial(games.astype(int), true).astype(float)
        width[1] += (found := estimate_ratio(apart, games)).high - found.low
    assert 0.92 <= covered / 500 <= 0.98
    assert width[0] > 1.4 * width[1]


def test_who_lost_everything_has_an_open_interval():
    rng = np.random.default_rng(0)
    found = {(0, 1): played(0.7, 200, 2, rng), (0, 2): np.ones((200, 2)), (1, 2): np.ones((200, 2))}
    table = rate(pairs(found), Comparison(3, 1, 2), np.random.default_rng(0), 200)
    assert table[2, 1] == -np.inf
    # 200 deals won leave a chance of at most 1.3 % to lose the next one (Jeffreys' interval), about 750 points.
    assert -900 < table[2, 2] < -600
    assert np.isfinite(table[:2]).all()
    assert rating_text(-998.0, *table[2, 1:]) == f"-998 [-∞, {table[2, 2]:.0f}]"
    # A single win closes it.
    found[1, 2][17, 1] = 0.0
    table = rate(pairs(found), Comparison(3, 1, 2), np.random.default_rng(0), 200)
    assert np.isfinite(table).all()
    assert table[2, 2] - table[2, 1] > 100


@pytest.mark.parametrize("deals", [8, 24, 56])
def test_equals_are_rated_equal(deals):
    """Exactly: else rounding, which differs between processors, would say who comes first in a table."""
    even = np.tile([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [0.0, 1.0]], (deals // 4, 1))
    found = {(0, 1): even, (1, 2): played(0.6, 24, 2, np.random.default_rng(deals))}
    rating = rate(pairs(found), Comparison(3, 0, 2), np.random.default_rng(0), 50)[1, 0]
    assert rating == 0.0
    assert not np.signbit(rating)


def test_who_met_nobody_has_no_rating():
    found = {(0, 1): played(0.7, 50, 2, np.random.default_rng(0)), (2, 3): np.ones((5, 2))}
    table = rate(pairs(found), Comparison(5, 1, 2), np.random.default_rng(0), 50)
    assert np.isfinite(table[:2]).all()
    assert np.isnan(table[2:]).all()
    assert rating_text(*table[4]) == ""
    assert np.isnan(rate({}, Comparison(2, 0, 2), np.random.default_rng(0), 50)[1]).all()


# --- Alpha-rank ---


def test_fixation_follows_the_closed_formula():
    """With a constant advantage: (1 - exp(-u)) / (1 - exp(-m u)), and 1 / m without one (Omidshafiei et al., 2019)."""
    for advantage in (-0.3, -0.02, 0.05, 0.9):
        u = INTENSITY * advantage
        assert fixation(advantage, advantage) == pytest.approx(np.expm1(-u) / np.expm1(-POPULATION * u))
    assert fixation(0.0, 0.0) == pytest.approx(1.0 / POPULATION)
    assert fixation(0.2, -0.2) < fixation(0.2, 0.0) < fixation(0.2, 0.2)


def test_stationary_distribution():
    rng = np.random.default_rng(0)
    chain = rng.random((6, 6)) ** 8
    chain = chain / chain.sum(1, keepdims=True)
    mass = stationary(chain)
    assert mass.sum() == pytest.approx(1.0)
    assert mass @ chain == pytest.approx(mass)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_rock_paper_scissors_share_the_mass(players):
    worst, best = 0.0, 0.9
    shares = np.full((3, 3), 1.0 / players)
    for i in range(3):
        shares[i, (i + 1) % 3], shares[i, (i + 2) % 3] = best, worst
    assert alpha_rank(shares, players) == pytest.approx([1 / 3] * 3)


def test_the_end_of_a_chain_has_all_the_mass():
    shares = np.array([[0.5, 0.4, 0.3, 0.1], [0.6, 0.5, 0.4, 0.3], [0.7, 0.6, 0.5, 0.4], [0.9, 0.7, 0.6, 0.5]])
    assert alpha_rank(shares, 2) == pytest.approx([0, 0, 0, 1], abs=1e-6)


def test_a_cycle_above_a_loser():
    shares = np.array([[0.5, 0.9, 0.1, 1.0], [0.1, 0.5, 0.9, 1.0], [0.9, 0.1, 0.5, 1.0], [0.0, 0.0, 0.0, 0.5]])
    assert alpha_rank(shares, 2) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0], abs=1e-6)


def test_equals_share_the_mass_and_a_sure_lead_takes_it():
    rng = np.random.default_rng(0)
    even = {(0, 1): np.tile([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]], (25, 1))}
    assert masses(pairs(even), 2, 2) == pytest.approx([0.5, 0.5], abs=0.1)
    assert masses(pairs({(0, 1): played(0.7, 300, 2, rng)}), 2, 2)[0] > 0.99


# --- Words ---


def test_numbers_as_text():
    assert [duration(s) for s in (2.31e-6, 4.2e-5, 0.00123, 0.9999, 12.3)] == [
        "2.3 µs",
        "42 µs",
        "1.2 ms",
        "1.0 s",
        "12 s",
    ]
    assert [span([200, 200]), span([1000, 50]), span([])] == ["200", "50 to 1,000", "0"]
    assert rating_text(12.4, -3.0, 25.6) == "+12 [-3, +26]"
