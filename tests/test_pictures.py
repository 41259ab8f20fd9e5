"""The pictures in docs/pictures show what is there: the real imports, and what a command really prints."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from pictures import architecture, layers, terminal  # noqa: E402
from pictures.imports import read_packages, without_shortcuts  # noqa: E402

# That they are not stale, tests/test_reference.py says, with all that scripts/generate writes.


def write_house(folder: Path, **modules: str) -> Path:
    house = folder / "house"
    for name, text in modules.items():
        (house / name).mkdir(parents=True)
        (house / name / "__init__.py").write_text(text, encoding="utf-8")
    return house


def words(svg: str) -> list[str]:
    texts = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return ["".join(text.itertext()) for text in texts]


def test_the_architecture_has_a_box_for_every_package() -> None:
    packages = read_packages(ROOT / "src" / "rollout")
    assert {"check", "cli", "source"} <= packages.keys()
    assert packages.keys() <= set(words(architecture.draw(ROOT / "src" / "rollout")))


def test_imports_are_read_wherever_they_stand(tmp_path: Path) -> None:
    house = write_house(
        tmp_path,
        roof='"""Roof: keeps the rain out. Long."""\ndef leak():\n    from house import walls\n',
        walls='"""What holds the roof: bricks."""\nimport house.ground.cellar\n',
        ground="",
    )
    packages = read_packages(house)
    assert {name: set(package.imports) for name, package in packages.items()} == {
        "roof": {"walls"},
        "walls": {"ground"},
        "ground": set(),
    }
    assert packages["roof"].purpose == "Keeps the rain out"
    assert packages["walls"].purpose == "What holds the roof: bricks"


def test_an_arrow_that_follows_from_others_is_left_out(tmp_path: Path) -> None:
    house = write_house(tmp_path, a="from house import b, c", b="import house.c", c="")
    assert without_shortcuts(read_packages(house)) == {"a": {"b"}, "b": {"c"}, "c": set()}


def test_packages_that_import_each_other_are_refused(tmp_path: Path) -> None:
    house = write_house(tmp_path, a="import house.b", b="import house.a")
    with pytest.raises(ValueError, match="a → b → a: packages import each other in a ring"):
        without_shortcuts(read_packages(house))


def test_every_arrow_points_down_and_nothing_overlaps() -> None:
    arrows = {"a": {"b", "d"}, "b": {"c"}, "c": {"d", "e"}, "d": set(), "e": set(), "alone": set()}
    layout = layers.arrange(arrows, width=lambda name: 10, gap=2)
    row_of = {name: number for number, row in enumerate(layout.rows) for name in row}
    assert all(row_of[above] < row_of[below] for above in arrows for below in arrows[above])
    assert [row_of[name] for name in layout.ways["a", "d"]] == [0, 1, 2, 3]
    for row in layout.rows:
        places = [layout.x[name] for name in row]
        assert all(right - left >= 12 - 1e-9 for left, right in pairwise(places))


def test_colours_become_classes_and_columns_are_kept() -> None:
    runs = list(terminal.read_runs("\x1b[1;31merror\x1b[0m: it is “<x>”\x1b[2m [RL1]\x1b[0m"))
    assert [(run.column, run.text, run.style) for run in runs] == [
        (0, "error", "strong red"),
        (5, ": it is “<x>”", ""),
        (18, " [RL1]", "dim"),
    ]


def test_the_terminal_shows_the_places_and_the_ways_out() -> None:
    svg = (ROOT / "docs" / "pictures" / "validate.svg").read_text(encoding="utf-8")
    shown = words(svg)
    assert "hotel/verifier.yaml:3:55" in shown
    assert any("Did you mean “name”?" in text for text in shown)
    assert 'class="strong red"' in svg


@pytest.mark.parametrize("name", ["architecture", "validate"])
def test_a_picture_needs_nothing_from_elsewhere(name: str) -> None:
    svg = (ROOT / "docs" / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
    assert ElementTree.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert svg.count("http") == 1  # the namespace
    assert not {"@import", "url(http", "<image", "<script"} & set(svg.split())
