"""The games on the first page of the site: records of whole games, a page each."""

from pathlib import Path

from docs.generate.replays import FOLDER, GAMES, on_post_build
from samurai_env import parse_variant
from samurai_env.game_record import GameRecord


def test_each_game_has_a_record_and_a_page(tmp_path):
    on_post_build({"site_dir": str(tmp_path)})
    first = (Path(__file__).parents[2] / "docs" / "index.md").read_text(encoding="utf-8")
    for name, (spec, seed) in GAMES.items():
        record = GameRecord.load(FOLDER / f"{name}.txt")
        assert record.over
        assert (record.variant, record.seed) == (parse_variant(spec), seed)
        page = (tmp_path / "replays" / f"{name}.html").read_text(encoding="utf-8")
        assert "<script src" not in page
        assert f'src="replays/{name}.html"' in first
        assert all(f"`{agent}`" in first for agent in record.tags.values())
