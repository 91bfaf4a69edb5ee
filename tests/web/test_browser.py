"""The page in a real browser: headless Chromium plays by clicks. Each test keeps a picture in its folder."""

import os
import random
import re
import shutil
import time
from pathlib import Path

import pytest

from experiments.common.provenance import RESULTS
from experiments.web.table import Table
from samurai_env import game_names, make_variant
from samurai_env.editors import set_up, start
from samurai_env.game_record import GameRecord
from tests.web.served import served

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER) and not os.environ.get("REQUIRE_BROWSER"),
    reason="no Chromium with its driver (apt-get install chromium chromium-driver)",
)
FLAGS = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
FLAGS += " --disable-component-update --disable-sync"
WAIT = 400.0  # seconds; a loaded machine is slow
PLAY = """
const [decisions, end, done] = [arguments[0], Date.now() + 1000 * arguments[2], arguments[3]];
let [seed, clicks] = [arguments[1] + 1, 0];
function next() {
  if (document.querySelector('.replay:not([hidden])')) return done(true);
  if (clicks >= decisions || Date.now() > end) return done(false);
  const marked = [...document.querySelectorAll('.legal')];
  const named = [...document.querySelectorAll('#choices .action')].filter((one) => !one.closest('details'));
  const all = [...marked, ...named];
  if (all.length) {
    seed = (seed * 48271) % 2147483647;
    clicks += 1;
    all[seed % all.length].dispatchEvent(new MouseEvent('click', { bubbles: true }));
  }
  setTimeout(next, 5);
}
next();
"""


class Page:
    """A browser at one size."""

    def __init__(self, folder, width, height):
        from selenium import webdriver

        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for flag in [*FLAGS.split(), f"--user-data-dir={folder / 'profile'}"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        os.environ["SE_OFFLINE"] = "true"
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
        self.driver.set_page_load_timeout(WAIT)
        self.driver.set_script_timeout(WAIT)
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.folder = folder

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, script, *arguments):
        """What a script finds, as soon as that is something."""
        end = time.time() + WAIT
        while time.time() < end:
            if found := self.run(script, *arguments):
                return found
            time.sleep(0.05)
        self.picture("timeout")
        raise AssertionError(f"never true: {script}")

    def picture(self, name):
        self.driver.save_screenshot(str(self.folder / f"{name}.png"))

    def errors(self):
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]

    def open(self, address, token):
        self.driver.get("about:blank")
        self.driver.get(f"{address}#/t/{token}")
        self.until(
            "return document.querySelector('.picture') !== null && document.getElementById('status').textContent"
        )

    def play(self, decisions, seed=0):
        """Random clicks; whether the game has come to its end."""
        return self.driver.execute_async_script(PLAY, decisions, seed, WAIT)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with served(tmp_path_factory.mktemp("web") / "tables.sqlite", folders=[RESULTS / "tenth-4"]) as running:
        yield running


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    page = Page(tmp_path_factory.mktemp("wide"), 1280, 720)
    yield page
    page.driver.quit()


@pytest.fixture(scope="module")
def phone(tmp_path_factory):
    page = Page(tmp_path_factory.mktemp("phone"), 390, 844)
    yield page
    page.driver.quit()


def finished(name, n=2, seed=1):
    rng = random.Random(seed)
    return GameRecord.play(make_variant(name, n), seed, lambda position: rng.choice(position.legal_actions()))


def test_a_game_is_started_and_played_to_the_end_by_clicks(server, wide):
    wide.driver.get(server.address)
    wide.until("return document.querySelectorAll('#game option').length")
    wide.run(
        "const game = document.getElementById('game'); game.value = 'samurai_card';"
        "game.dispatchEvent(new Event('change')); document.querySelector('.big').click()"
    )
    wide.until("return document.querySelector('.picture') !== null")
    wide.picture("start")
    assert wide.play(1000)
    wide.picture("end")
    assert "Game over" in wide.run("return document.getElementById('status').textContent") or wide.until(
        "return document.querySelectorAll('#moves li').length > 10"
    )
    assert not wide.errors()


@pytest.mark.parametrize(
    ("variant", "players", "agent"),
    [
        ("samurai players=2 first_hand=random figure_setup=random", 2, "mcts:20"),
        ("samurai_card players=3", 3, "mcts:20"),
        ("samurai players=4 first_hand=random figure_setup=random", 4, "greedy"),
        ("samurai_spirit players=7 difficulty=heroic", 7, "greedy"),
    ],
)
def test_games_are_played_to_the_end_by_clicks(server, wide, variant, players, agent):
    token = server.new(variant, "person", *[agent] * (players - 1))["seats"][0]
    wide.open(server.address, token)
    assert wide.play(2000)
    wide.picture(f"end-{variant.split()[0]}-{players}")
    assert server.call("view", token)["over"]
    assert wide.run("return document.querySelectorAll('#moves li').length") > 10
    # What was secret is told, and each move leads to its position.
    unlike = "[...document.querySelectorAll('#moves li')].filter((one) => !one.querySelector('button .text')).length"
    assert wide.run(f"return {unlike}") == 0
    assert not wide.errors()


@pytest.mark.parametrize("game", game_names())
def test_a_position_is_set_up_by_clicks(server, wide, game):
    wide.driver.get("about:blank")
    wide.driver.get(f"{server.address}#/set")
    wide.until("return document.querySelector('.editable')")
    wide.run(
        "const games = document.getElementById('variant'); games.value = `${arguments[0]} players=2`;"
        "document.getElementById('problem').textContent = '';"
        "games.dispatchEvent(new Event('change'))",
        game,
    )
    playable = "return document.getElementById('problem').textContent.includes('can be played')"
    wide.until(playable)
    wide.run("document.querySelector('.editable').dispatchEvent(new MouseEvent('click', { bubbles: true }))")
    wide.until("return document.querySelector('#picked select')")
    wide.picture(f"set-{game}")
    change = (
        "const select = document.querySelector('#groups select[data-entry=\"turn\"]') || (() => {"
        " const group = document.querySelector('#groups details'); group.open = true; })();"
        "if (!select) return false; select.value = arguments[0];"
        "select.dispatchEvent(new Event('change')); return true;"
    )
    wide.until(change, "1")
    wide.until("return document.getElementById('problem').textContent")
    wide.until(change, "0")
    wide.until(playable)
    wide.run("document.getElementById('play').click()")
    wide.until("return location.hash.startsWith('#/t/') && document.querySelector('.picture')")
    wide.until("return document.querySelectorAll('#choices .action, #board .legal').length")
    assert not wide.errors()


def test_a_link_to_a_position_opens_it(server, wide):
    variant = make_variant("samurai_card", 2)
    word = set_up(variant, start(variant), 1).to_text()
    wide.driver.get("about:blank")
    wide.driver.get(f"{server.address}#/p/{word}")
    wide.until("return location.hash.startsWith('#/t/') && document.querySelectorAll('#judges input').length")
    wide.run("document.getElementById('judge-greedy').click(); document.getElementById('analyse').click()")
    wide.until("return document.querySelectorAll('.opinion').length === 2")
    assert wide.run("return document.querySelectorAll('.line').length") >= 1
    wide.driver.get(f"{server.address}#/p/nothing")
    assert "position as text" in wide.until("return document.querySelector('.card')?.textContent")
    assert len(wide.errors()) == 1  # Chromium notes the refusal


def test_results_are_shown_and_games_played_again(server, wide):
    wide.driver.get("about:blank")
    wide.driver.get(f"{server.address}#/results")
    wide.until("return document.querySelectorAll('.payoff .cell').length > 4")
    wide.picture("results")
    wide.run(
        "[...document.querySelectorAll('.cell button')]"
        ".find((one) => one.title.startsWith('greedy against random')).click()"
    )
    wide.until("return document.querySelectorAll('#games li button').length")
    wide.run("document.querySelector('#games li button').click()")
    wide.until("return document.querySelectorAll('#moves li').length > 3")
    assert not wide.errors()


def choose_tournament(page, server, name):
    """Open the results and choose a table."""
    page.driver.get("about:blank")
    page.driver.get(f"{server.address}#/results")
    page.until("return document.querySelectorAll('#board-name option').length > 1")
    page.run(
        "const names = document.getElementById('board-name');"
        "names.value = arguments[0]; names.dispatchEvent(new Event('change'))",
        name,
    )


def test_a_free_for_all_has_a_column_of_win_shares(server, wide):
    choose_tournament(wide, server, "tenth-4")
    wide.until("return document.getElementById('payoff').textContent.includes('Free-for-all')")
    wide.picture("free-for-all")
    head = wide.run("return [...document.querySelectorAll('.payoff thead th')].map((one) => one.textContent)")
    assert head == ["agent", "rating", "win share", "CPU time", "1", "2", "3", "4"]
    for row in wide.run(
        "return [...document.querySelectorAll('.payoff tbody tr')]"
        ".map((one) => [...one.children].map((cell) => cell.textContent))"
    ):
        assert len(row) == len(head)
        assert row[2].split("%")[0].replace(".", "").isdigit()
    assert not wide.errors()


def test_a_cooperative_table_tells_intervals_at_a_click(server, wide):
    choose_tournament(wide, server, "ladder-spirit")
    wide.until("return document.querySelectorAll('.rates .cell').length > 27")
    wide.run("document.querySelector('.rates .cell button').click()")
    told = wide.run("return document.getElementById('games').textContent")
    assert re.match(r"random, easy, 1 player: \d+\.\d% \[\d+\.\d%, \d+\.\d%\], 1,000 games", told)
    wide.picture("cooperative")
    assert not wide.errors()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", ["wide", "phone"])
def test_axe_finds_nothing_serious(server, request, theme, size):
    if os.environ.get("REQUIRE_BROWSER"):
        import axe_core_python as axe
    else:
        axe = pytest.importorskip("axe_core_python", reason="axe is not there: pip install axe-core-python")
    source = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    page = request.getfixturevalue(size)
    table = Table.of_record(finished("samurai_card"))
    server.server.add(table)
    playing = server.new("samurai players=2 first_hand=random figure_setup=random", "person", "greedy")["seats"][0]
    found = {}
    for name, ready in {
        "#/": "document.querySelectorAll('.seat').length",
        "#/set": "document.querySelector('.editable')",
        "#/results": "document.querySelectorAll('.payoff .cell').length",
        f"#/t/{table.watch}": "document.querySelectorAll('#judges input').length",
        f"#/t/{playing}": "document.querySelector('.legal')",
    }.items():
        page.driver.get(server.address)
        page.run("localStorage.setItem('theme', arguments[0])", theme)
        page.driver.get("about:blank")
        page.driver.get(f"{server.address}{name}")
        page.until(f"return {ready}")
        page.run("document.getAnimations().forEach((one) => one.finish())")
        page.run(source)
        result = page.driver.execute_async_script("axe.run({ resultTypes: ['violations'] }).then(arguments[0])")
        bad = [one for one in result["violations"] if one["impact"] in ("serious", "critical")]
        found |= {f"{name[:5]} {one['id']}": [node["target"] for node in one["nodes"]][:3] for one in bad}
        assert page.run("return document.documentElement.scrollWidth <= window.innerWidth"), name
    assert not found
    assert page.run("return document.documentElement.dataset.theme") == theme


def test_the_keyboard_plays(server, wide):
    from selenium.webdriver.common.keys import Keys

    token = server.new("samurai players=2 first_hand=random figure_setup=random", "person", "person")["seats"][0]
    wide.open(server.address, token)
    status = "return document.getElementById('status').textContent"
    for _ in range(2):  # a tile, then its hex
        wide.until("return document.querySelector('.legal[tabindex]')")
        wide.run(
            "const here = document.activeElement; if (!here.matches('.legal')) document.querySelector('.legal').focus()"
        )
        wide.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
        before = wide.run(status)
        wide.driver.switch_to.active_element.send_keys(Keys.ENTER)
        wide.until(f"{status} !== arguments[0]", before)
    assert wide.run("return document.querySelectorAll('#moves li').length") == 1


def test_two_browsers_at_one_table(server, wide, phone):
    tokens = server.new("samurai_card players=2", "person", "person")["seats"]
    wide.open(server.address, tokens[0])
    phone.open(server.address, tokens[1])
    for turn in range(4):
        page = (wide, phone)[turn % 2]
        page.until("return document.getElementById('status').textContent.startsWith('Your turn')")
        while page.run("return document.getElementById('status').textContent.startsWith('Your turn')"):
            page.play(1, turn)
            time.sleep(0.1)
    phone.picture("card-game")
    count = "return document.querySelectorAll('#moves li').length"
    assert wide.until(f"{count} >= 4 && document.querySelectorAll('#moves li').length") == phone.run(count)
    assert not phone.errors()


@pytest.mark.parametrize("variant", ["samurai players=2", "samurai_card players=2", "samurai_spirit players=4"])
def test_the_page_fits_a_phone(server, phone, variant):
    n = int(variant[-1])
    token = server.new(variant, "person", *["greedy"] * (n - 1))["seats"][0]
    phone.open(server.address, token)
    phone.play(2)
    phone.until("return document.querySelectorAll('.picture').length > 1")
    phone.picture(variant.replace(" ", "-"))
    assert phone.run("return document.documentElement.scrollWidth") <= 390


def test_a_record_is_replayed_and_analysed(server, wide):
    record = finished("samurai_card")
    table = Table.of_record(record)
    server.server.add(table)
    wide.open(server.address, table.watch)
    wide.until("return document.getElementById('ply').max > 0")
    wide.run("document.activeElement.blur()")
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    wide.driver.find_element(By.TAG_NAME, "body").send_keys(Keys.ARROW_RIGHT)
    assert wide.until("return Number(document.getElementById('ply').value)") == 2
    wide.until("return document.querySelectorAll('#judges input').length")
    wide.run("document.getElementById('analyse').click()")
    assert wide.until("return document.querySelectorAll('.rows tbody tr').length") > 1
    assert wide.run("return document.querySelectorAll('.share').length") > 0
    head = wide.run("return [...document.querySelectorAll('.rows th')].map((cell) => cell.textContent)")
    assert head == ["Move", "Visits", "Prior", "Seat 0", "Seat 1"]
    cells = wide.run("return [...document.querySelectorAll('.rows tbody td')].map((cell) => cell.textContent.trim())")
    assert int(cells[1]) > 1
    assert int(cells[3].rstrip("%")) + int(cells[4].rstrip("%")) in (99, 100, 101)
    wide.picture("analysis")
    wide.run("document.getElementById('analyse').click()")  # again, when it is known
    assert not wide.run("return document.getElementById('analyse').disabled")
    wide.run("document.getElementById('judge-greedy').click(); document.getElementById('judge-mcts:20').click()")
    wide.run("document.getElementById('analyse-game').click()")
    drop = wide.until("return document.querySelector('.drops button')?.textContent")
    wide.until("return document.getElementById('stop').hidden")
    assert "the judge would" in drop
    wide.run("document.querySelector('.drops button').click()")  # the position before the blunder
    mover = "return document.querySelector('.drops button').textContent.match(/^seat ([0-9])/)[1]"
    wide.until(f"{mover} === document.querySelector('.seats .now')?.textContent[0]")
    wide.run("document.querySelectorAll('#moves button')[9].click()")
    wide.until(
        "return document.querySelector('#moves .here').dataset.text === arguments[0]", [t for _, t in record.moves()][9]
    )
    assert not wide.errors()


def test_play_from_here_takes_an_agent_that_is_offered(tmp_path, wide):
    with served(tmp_path / "tables.sqlite", agents=("random",)) as running:
        table = Table.of_record(finished("samurai_card"))
        running.server.add(table)
        wide.open(running.address, table.watch)
        wide.until("return document.querySelector('.tools button[aria-label^=\"Start a game\"]')").click()
        wide.until(
            "return document.querySelector('.toast')?.textContent || location.hash !== arguments[0]",
            f"#/t/{table.watch}",
        )
        assert wide.run("return document.querySelector('.toast')") is None
        wide.driver.get("about:blank")


def test_a_wrong_link_says_so(server, wide):
    wide.driver.get("about:blank")
    wide.driver.get(f"{server.address}#/t/nothing")
    assert "opens no table" in wide.until("return document.querySelector('.card')?.textContent")


def test_a_click_is_drawn_quickly(server, wide):
    """From the click to the next position; processor time of this machine is shared, so the bound is wide."""
    token = server.new("samurai players=2", "person", "person")["seats"][0]
    wide.open(server.address, token)
    times = []
    for _ in range(4):
        times.append(
            wide.driver.execute_async_script(
                "const done = arguments[0]; const start = performance.now();"
                "const before = document.getElementById('status').textContent;"
                "new MutationObserver((_, seen) => { if (document.getElementById('status').textContent !== before) {"
                " seen.disconnect(); done(performance.now() - start); } })"
                ".observe(document.getElementById('status'), { childList: true });"
                "document.querySelector('#choices .action').click()"
            )
        )
    print("a click takes", sorted(times)[2], "ms")
    assert sorted(times)[2] < 2000


def test_strengths_in_the_lobby_are_those_of_the_options_chosen(server, wide):
    wide.errors()  # of the tests before
    wide.driver.get("about:blank")
    wide.driver.get(server.address)
    wide.until("return document.querySelectorAll('#game option').length")
    choose = "const one = document.getElementById('{}'); one.value = '{}'; one.dispatchEvent(new Event('change'));"
    wide.run(choose.format("game", "samurai_spirit"))
    wide.run(choose.format("players", "4"))
    shown = "[...document.querySelectorAll('#seat-1 option')].find((one) => one.value === 'greedy').textContent"
    told = []
    for level in ("easy", "heroic"):
        wide.run(choose.format("option-difficulty", level))
        found = server.call(f"strengths?variant=samurai_spirit%20players%3D4%20difficulty%3D{level}")
        known = found["agents"]["greedy"]["rating"]
        wide.until(f"return {shown}.includes(' · {known}')")
        told.append(known)
    assert told[0] != told[1]
    person = "document.querySelector('#seat-1 option').textContent"
    assert wide.run(f"return {person}") == "a person"
    assert not wide.errors()


def test_a_game_of_agents_is_watched_at_the_speed_chosen(server, wide):
    wide.errors()  # of the tests before
    wide.driver.get("about:blank")
    wide.driver.get(server.address)
    wide.until("return document.querySelectorAll('#game option').length")
    wide.run(
        "const game = document.getElementById('game'); game.value = 'samurai_card';"
        "game.dispatchEvent(new Event('change'));"
        "const seat = document.getElementById('seat-0'); seat.value = 'greedy';"
        "seat.dispatchEvent(new Event('change'));"
    )
    assert wide.run("return document.querySelector('.big').textContent") == "Watch the game"
    wide.run("document.querySelector('.big').click()")
    ply, run = "Number(document.getElementById('ply').value)", "document.getElementById('run').textContent"
    wide.until("return document.getElementById('ply')?.max > 20")  # the agents are far ahead
    assert wide.run(f"return [{ply} < 20, {run}]") == [True, "Pause"]
    wide.until(f"return {ply} > 0")
    step = "document.querySelector('[aria-label^=Forward]').click();"  # whoever steps wants to look
    before = wide.run(f"const now = {ply}; {step} return now")
    assert wide.run(f"return {run}") == "Play"
    at = wide.until(f"return {ply} > {before} && {ply}")  # as soon as the view is there
    time.sleep(2)
    assert wide.run(f"return {ply}") == at
    assert not wide.errors()


def test_skip_to_the_game_stays_at_the_table_and_the_lobby_has_its_own_title(server, wide):
    wide.errors()  # of the tests before
    token = server.new("samurai players=2", "person", "greedy")["seats"][0]
    wide.open(server.address, token)
    assert wide.run("return document.title.endsWith(': table')")
    wide.run("document.querySelector('.skip').click()")
    time.sleep(0.5)
    assert wide.run("return [location.hash, document.activeElement.id]") == [f"#/t/{token}", "main"]
    assert wide.run("return document.querySelector('.picture') !== null")
    wide.run("document.querySelector('.home').click()")
    wide.until("return document.title === 'Games table'")
    assert not wide.errors()


def test_the_lobby_says_with_which_options_ratings_were_measured(server, wide):
    wide.errors()  # of the tests before
    wide.driver.get("about:blank")
    wide.driver.get(server.address)
    faint = "[...document.querySelectorAll('form .faint')].at(-1).textContent"
    wide.until(f"return {faint}.includes('greedy is 0')")
    assert not wide.run(f"return {faint}.includes('measured with')")
    choose = "const one = document.getElementById('option-edition'); one.value = '1998';"
    wide.run(f"{choose} one.dispatchEvent(new Event('change'));")
    wide.until(f"return {faint}.includes('measured with edition=2016')")
    assert not wide.errors()


def test_what_has_changed_since_the_own_turn_is_marked_until_the_next_decision(server, wide):
    tokens = server.new("samurai players=3 first_hand=random figure_setup=random", *["person"] * 3)["seats"]

    def turn(token):
        """One tile and the end of the turn."""
        places = 0
        while (view := server.call("view", token))["mine"]:
            ends = [action["id"] for action in view["legal"] if action["name"] == "end"]
            action = ends[0] if ends else view["legal"][0]["id"]
            places += view["legal"][0]["label"].startswith("put ")
            server.call("play", token, {"action": action, "count": view["count"]})
        return places

    wide.open(server.address, tokens[0])
    turn(tokens[0])
    wide.until("return !document.getElementById('status').textContent.startsWith('Your turn')")
    assert turn(tokens[1]) + turn(tokens[2]) >= 2
    wide.until("return document.getElementById('status').textContent.startsWith('Your turn')")
    marked = wide.run("return [...document.querySelectorAll('.news')].map((one) => one.dataset.target)")
    assert len(marked) >= 2
    assert not [name for name in marked if name.startswith("hand")]
    assert "since your last decision" in wide.run("return document.getElementById('choices').textContent")
    wide.run("document.querySelector('.legal').dispatchEvent(new MouseEvent('click', { bubbles: true }))")
    wide.until("return !document.querySelector('.news')")
    assert not wide.errors()


def test_a_place_with_several_actions_is_marked_while_one_is_chosen(server, wide):
    token = server.new("samurai players=2 first_hand=random", "person", "person")["seats"][0]
    wide.open(server.address, token)
    place = wide.until("return document.querySelector('#board .legal[data-target^=c]')?.dataset.target")
    click = "document.querySelector(`.legal[data-target=${arguments[0]}]`).dispatchEvent(new MouseEvent('click'))"
    wide.run(click, place)
    assert wide.run("return document.querySelector('.picked').dataset.target") == place
    wide.run("document.querySelector('#choices .back').click()")
    assert wide.run("return document.querySelector('.picked')") is None
    assert wide.run("return document.activeElement.dataset.target") == place


def test_a_hint_stands_beside_the_picture_until_a_decision(server, wide):
    token = server.new("samurai players=2 first_hand=random figure_setup=random", "person", "person")["seats"][0]
    wide.open(server.address, token)
    press = "const hint = document.querySelector('[title=\"What an agent would do\"]'); hint.click();"
    assert wide.run(f"{press} return [hint.ariaBusy, hint.textContent]") == ["true", "Thinking…"]
    assert "%" in wide.until("return document.getElementById('hint')?.textContent")
    assert wide.run("return document.querySelectorAll('.share text').length") > 1
    assert wide.run("return document.querySelector('[aria-busy=true]')") is None
    wide.run("document.querySelector('.legal').dispatchEvent(new MouseEvent('click', { bubbles: true }))")
    wide.until("return !document.getElementById('hint') && !document.querySelector('.share')")


DROP = """
const files = new DataTransfer();
files.items.add(new File([arguments[0]], arguments[1], { type: 'text/plain' }));
for (const kind of ['dragover', 'drop'])
  document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: files, bubbles: true, cancelable: true }));
"""


@pytest.mark.parametrize("page", ["#/", "#/results", "#/set"])
def test_a_record_is_dropped_on_any_page(server, wide, page):
    wide.driver.get("about:blank")
    wide.driver.get(f"{server.address}{page}")
    wide.until("return document.getElementById('main').childElementCount")
    wide.run(DROP, "no record\n", "notes.txt")
    assert wide.until("return document.querySelector('.toast')?.textContent").startswith("notes.txt: line 1: ")
    wide.run(DROP, finished("samurai_card").to_text(), "game.txt")
    wide.until("return location.hash.startsWith('#/t/') && document.querySelectorAll('#moves li').length > 10")
    assert len(wide.errors()) == 1  # Chromium notes the refusal


def test_tables_are_remembered_with_who_sits_there(server, wide):
    wide.errors()  # of the tests before
    wide.open(server.address, server.new("samurai_card players=3", "person", "greedy", "person")["seats"][0])
    table = Table.of_record(finished("samurai_card"))
    server.server.add(table)
    wide.open(server.address, table.watch)
    wide.driver.get(f"{server.address}#/open")
    names = wide.until("return [...document.querySelectorAll('.recent a')].map((one) => one.textContent)")
    assert names[:2] == ["Samurai: The Card Game: a game", "Samurai: The Card Game: seat 0 with greedy, people"]
    assert not wide.errors()
