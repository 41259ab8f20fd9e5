"""Whatever authors, models and tools wrote is text in the pages: never markup, never what turns text around."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from browser.test_report_in_browser import HOSTILE
from servers.browsing import Browser
from servers.rollout_server import Platform
from servers.stocked import Stocked, letters, stock

from rollout.platform.store import Store, environments, rollouts, runs
from rollout.platform.store.rollouts import Finished

OURS = frozenset(
    """html head meta title link script body header main nav section article figure figcaption footer h1 h2 h3 p br a b
    small span bdi code pre dl dt dd ul li table caption thead tbody tr th td details summary div form input select
    option button label textarea progress time svg g line rect circle text noscript""".split()  # noqa: SIM905
)
MOVING = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
SLUGS = (
    '"><img src=x onerror=alert(1)>',
    "x' onclick='alert(2)",
    "{{7*7}}",
    "\u202egnp.exe",
    "&lt;b&gt;#a?b=c&d%2e",
)


@dataclass
class Read(HTMLParser):
    """What a browser would make of a page."""

    names: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        for name, value in attrs:
            value = value or ""
            if name.startswith("on") or name in ("style", "srcdoc", "xlink:href", "formaction"):
                self.wrong.append(f"{tag} {name}={value[:80]}")
            leads = name in ("href", "src", "action") and not value.startswith(("/", "#"))
            if leads or (name in ("href", "src", "action") and value.startswith("//")):
                self.wrong.append(f"{tag} {name}={value[:80]}")


def check(answer: httpx.Response) -> None:
    read = Read()
    read.feed(answer.text)
    assert read.names <= OURS
    assert read.wrong == []
    assert MOVING.search(answer.text) is None
    assert answer.text.count("<script") == 1


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Platform, list[Stocked]]]:
    data = tmp_path_factory.mktemp("hostile") / "data"
    store = Store(f"sqlite:///{data / 'rollout.db'}")
    texts = list(HOSTILE.values())
    made = [
        stock(store, text, slug=f"{SLUGS[number % len(SLUGS)]}{number}") for number, text in enumerate(texts)
    ]
    store.close()
    platform = Platform(data)
    platform.key = made[0].key
    with platform:
        yield platform, made


@pytest.fixture(scope="module")
def owner(spoilt: tuple[Platform, list[Stocked]]) -> Iterator[Browser]:
    platform, _ = spoilt
    with httpx.Client(base_url=platform.address, headers={"accept": "text/html"}, timeout=60) as http:
        browser = Browser(http)
        browser.sign_in(platform.key)
        yield browser


@pytest.mark.parametrize("number", range(len(HOSTILE)), ids=HOSTILE.keys())
def test_what_others_wrote_is_text(
    owner: Browser, spoilt: tuple[Platform, list[Stocked]], number: int
) -> None:
    expected = {"nothing": 404, "refused": 400}
    for name, path in spoilt[1][number].pages.items():
        answer = owner.get(path)
        assert (name, answer.status_code) == (name, expected.get(name, 200))
        check(answer)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_stands_in_an_address_is_text(
    owner: Browser, spoilt: tuple[Platform, list[Stocked]], text: str
) -> None:
    said = text.encode("utf-8", "replace").decode()
    slug, run = spoilt[1][0].slug, spoilt[1][0].runs[0]
    for path, name in (
        ("/runs", "environment"), ("/runs", "status"), ("/runs", "after"), ("/runs", "sort"),
        (f"/runs/{run}", "outcome"), (f"/runs/{run}", "task"), (f"/runs/{run}", "order"),
        ("/compare", "baseline"), ("/compare", "trained"), ("/compare", "across"),
        ("/environments", "after"), ("/environments", "sort"), ("/environments/new", "template"),
        (f"/environments/{quote(slug, safe='')}", "digest"), (f"/environments/{quote(slug, safe='')}", "split"),
    ):  # fmt: skip
        answer = owner.http.get(path, params={name: said})
        assert answer.status_code in (200, 400, 404)
        # What somebody typed stays in its field as it was typed.
        read = Read()
        read.feed(answer.text)
        assert read.names <= OURS
        assert read.wrong == []
    for path in ("/runs/", "/rollouts/", "/training/", "/environments/", "/nothing/"):
        answer = owner.get(f"{path}{quote(said.replace('/', ''), safe='')}")
        assert answer.status_code == 404
        check(answer)
    signed_out = httpx.get(
        httpx.URL(owner.http.base_url).join("/sign-in"),
        params={"next": said},
        headers={"accept": "text/html"},
    )
    read = Read()
    read.feed(signed_out.text)
    assert read.names <= OURS
    assert read.wrong == []


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_what_somebody_types_into_a_form_is_text(owner: Browser, text: str) -> None:
    said = text.encode("utf-8", "replace").decode()
    shown = owner.post(
        "/environments/new",
        template="workflow",
        slug=said,
        name=said,
        description=said,
        path="config.yaml",
        text=f"tools: {said}\n{said}",
    )
    assert shown.status_code in (400, 422)
    read = Read()
    read.feed(shown.text)
    assert read.names <= OURS
    assert read.wrong == []
    refused = owner.post("/environments/new", template=said)
    assert refused.status_code == 404
    check(refused)
    wrong_file = owner.post("/environments/new", template="workflow", path=f"../{said}", text="x")
    assert wrong_file.status_code == 400
    check(wrong_file)
    made = owner.post("/settings/api-keys", name=said[:90] or "x", scope="read")
    assert made.status_code == 200
    check(made)


def test_a_megabyte_is_cut_and_can_be_had_whole(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'data' / 'rollout.db'}")
    stocked = stock(store)
    long = "z" * 1_000_000
    entry = store.read(environments.find, "letters")
    assert entry is not None
    [line, *_] = letters()
    line["trace"]["messages"][-1]["content"] = long
    line["trace"]["final_state"]["long"] = long
    run = store.write(
        runs.create,
        environment_id=entry.id,
        digest=entry.digest,
        model=long,
        options={"n": 1},
        total=1,
        name=long,
    )
    store.write(runs.lease, "me", 60.0, only=run.id)
    kept = Finished(0, 0, long, long, "dev", "failed", False, 0.5, long, 1, 1.0, json.dumps(line).encode())
    store.write(rollouts.keep, run.id, "me", [kept], None)
    [brief] = store.read(rollouts.page, run.id)
    store.close()
    platform = Platform(tmp_path / "data")
    platform.key = stocked.key
    with (
        platform,
        httpx.Client(base_url=platform.address, headers={"accept": "text/html"}, timeout=60) as http,
    ):
        browser = Browser(http)
        browser.sign_in(platform.key)
        for path in ("/runs", "/compare", f"/runs/{run.id}"):
            assert len(browser.get(path).content) < 60_000
        cut = browser.get(f"/rollouts/{brief.id}")
        assert len(cut.content) < 200_000
        assert "… 950,000 more characters." in cut.text
        assert f'href="/rollouts/{brief.id}?all=1"' in cut.text
        assert long in browser.get(f"/rollouts/{brief.id}?all=1").text
        assert long in browser.get(f"/rollouts/{brief.id}/line").text
