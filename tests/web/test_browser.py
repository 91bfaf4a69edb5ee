"""The page in a real browser: headless Chromium plays by clicks. Each test keeps a picture in its folder."""

import os
import random
import shutil
import time

import pytest

from experiments.web.table import Table
from samurai_env import make_variant
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
WAIT = 120.0  # seconds; a loaded machine is slow
CLICK = """
const marked = [...document.querySelectorAll('.legal')];
const named = [...document.querySelectorAll('#choices .action')].filter((one) => !one.closest('details'));
const all = [...marked, ...named];
if (document.querySelector('.replay:not([hidden])')) return 'over';
if (!all.length) return '';
const one = all[Math.floor(arguments[0] * all.length)];
one.dispatchEvent(new MouseEvent('click', { bubbles: true }));
return 'clicked';
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
        rng, clicks, end = random.Random(seed), 0, time.time() + WAIT
        while clicks < decisions and time.time() < end:
            found = self.run(CLICK, rng.random())
            if found == "over":
                return True
            clicks += found == "clicked"
            time.sleep(0.02)
        return False


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with served(tmp_path_factory.mktemp("web") / "tables.sqlite") as running:
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


@pytest.mark.parametrize(("variant", "players"), [("samurai players=4", 4), ("samurai_spirit players=7", 7)])
def test_clicks_play_with_many_seats(server, wide, variant, players):
    token = server.new(variant, "person", *["greedy"] * (players - 1))["seats"][0]
    wide.open(server.address, token)
    wide.play(8)
    wide.picture(variant.replace(" ", "-"))
    assert len(wide.run("return [...document.querySelectorAll('#moves li')].map((one) => one.textContent)")) >= 1
    assert not wide.errors()


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
    wide.until("return document.querySelectorAll('#judge option').length")
    wide.run("document.getElementById('analyse').click()")
    assert wide.until("return document.querySelectorAll('.rows tbody tr').length") > 1
    assert wide.run("return document.querySelectorAll('.share').length") > 0
    wide.picture("analysis")
    wide.run("document.querySelectorAll('#moves button')[9].click()")
    wide.until(
        "return document.querySelector('#moves .here').dataset.text === arguments[0]", [t for _, t in record.moves()][9]
    )
    assert not wide.errors()


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
