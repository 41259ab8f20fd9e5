"""The platform's pages in a browser: nothing in them runs that should not, and everybody can use them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python
import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from servers.rollout_server import Platform
from servers.stocked import Stocked, stock

from browser.test_report_in_browser import HOSTILE
from rollout.platform.store import Store, rollouts, runs
from rollout.platform.store.rollouts import Finished
from rollout.platform.store.runs import Status

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
EVERYTHING = " ".join(HOSTILE.values())
PAGES = tuple(Stocked("letters", ("", ""), ("", ""), "", ("",) * 5, "", "", "").pages)

SignedIn = Callable[..., Page]

TOUCH = """() => {
  for (const each of document.querySelectorAll("*")) {
    for (const kind of ["mouseover", "mouseenter", "focus", "toggle", "load", "error", "animationstart"])
      each.dispatchEvent(new Event(kind, { bubbles: true }));
  }
}"""

LOOK = """() => {
  const all = [...document.querySelectorAll("*")];
  const addresses = all.flatMap((each) => ["href", "src", "action"].map((name) => each.getAttribute(name)));
  return {
    handlers: all.flatMap((each) => each.getAttributeNames()).filter((name) => /^on|^style$/.test(name)),
    scripts: document.scripts.length,
    elsewhere: addresses.filter((each) => each !== null && new URL(each, location).origin !== location.origin),
    moving: document.body.innerText.match(/[\\u0080-\\u009f\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]/g),
    frames: document.querySelectorAll("iframe, object, embed, img, base, meta[http-equiv]").length,
  };
}"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("platform") / "data"


@pytest.fixture(scope="module")
def store(data: Path) -> Iterator[Store]:
    made = Store(f"sqlite:///{data / 'rollout.db'}")
    yield made
    made.close()


@pytest.fixture(scope="module")
def stocked(store: Store) -> Stocked:
    return stock(store)


@pytest.fixture(scope="module")
def hostile(store: Store, stocked: Stocked) -> Stocked:
    return stock(store, EVERYTHING, slug='"><img src=x onerror=alert(1)>\u202e')


@pytest.fixture(scope="module")
def platform(data: Path, stocked: Stocked, hostile: Stocked) -> Iterator[Platform]:
    made = Platform(data)
    made.key = stocked.key
    with made:
        yield made


@pytest.fixture
def signed_in(chromium: Browser, platform: Platform) -> Iterator[SignedIn]:
    """Opens pages in a browser that is signed in; what goes wrong in them is in ``trouble`` of the page."""
    contexts: list[BrowserContext] = []

    def open_it(*, width: int = 1200, dark: bool = False, script: bool = True) -> Page:
        context = chromium.new_context(
            base_url=platform.address,
            java_script_enabled=script,
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
        )
        contexts.append(context)
        with httpx.Client(base_url=platform.address, headers={"accept": "text/html"}) as http:
            token = re.search(r'name="csrf" value="([^"]+)"', http.get("/sign-in").text)
            assert token is not None
            http.post("/sign-in", data={"csrf": token[1], "key": platform.key})
            session = http.cookies["rollout_session"]
        context.add_cookies([{"name": "rollout_session", "value": session, "url": platform.address}])
        return context.new_page()

    yield open_it
    for context in contexts:
        context.close()


def watch(page: Page) -> list[str]:
    """All that should not happen in a page, as it happens."""
    trouble: list[str] = []

    def dialog(asked: Any) -> None:
        trouble.append(f"dialog: {asked.message}")
        asked.dismiss()

    page.on("dialog", dialog)
    page.on("console", lambda message: trouble.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: trouble.append(f"error: {error}"))
    page.on("popup", lambda popup: trouble.append(f"window: {popup.url}"))
    page.on("download", lambda download: trouble.append(f"download: {download.url}"))
    page.expose_function("noteTrouble", lambda words: trouble.append(words))
    page.add_init_script(
        "addEventListener('securitypolicyviolation', (event) =>"
        " noteTrouble(`forbidden: ${event.violatedDirective} ${event.blockedURI}`))"
    )
    return trouble


def open_everything(page: Page) -> None:
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")


@pytest.mark.parametrize("name", PAGES)
def test_nothing_that_others_wrote_runs(signed_in: SignedIn, hostile: Stocked, name: str) -> None:
    page = signed_in()
    trouble = watch(page)
    page.goto(hostile.pages[name])
    open_everything(page)
    page.evaluate(TOUCH)
    told = page.evaluate(LOOK)
    assert told == {"handlers": [], "scripts": 1, "elsewhere": [], "moving": None, "frames": 0}
    # That a page is not there, or is refused, is what these two are for.
    expected = ["console: Failed to load resource"] if name in ("nothing", "refused") else []
    assert [each[:32] for each in trouble] == [each[:32] for each in expected]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", [*PAGES, "sign-in"])
def test_a_page_can_be_used_by_everybody(
    signed_in: SignedIn, stocked: Stocked, name: str, dark: bool
) -> None:
    page = signed_in(dark=dark)
    if name == "sign-in":
        page.context.clear_cookies()
    page.goto(stocked.pages.get(name, "/sign-in"))
    open_everything(page)
    page.evaluate(AXE)
    found = page.evaluate("axe.run(document)")
    wrong = [
        (
            each["impact"],
            each["id"],
            [(node["html"][:200], node["failureSummary"]) for node in each["nodes"][:3]],
        )
        for each in found["violations"]
    ]
    assert wrong == []


@pytest.mark.parametrize("width", [320, 360, 700])
@pytest.mark.parametrize("name", PAGES)
def test_nothing_sticks_out_of_a_narrow_screen(
    signed_in: SignedIn, stocked: Stocked, hostile: Stocked, name: str, width: int
) -> None:
    page = signed_in(width=width)
    for each in (stocked, hostile):
        page.goto(each.pages[name])
        open_everything(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_what_came_past_the_escaping_would_be_forbidden_by_the_policy(
    signed_in: SignedIn, stocked: Stocked
) -> None:
    page = signed_in()
    trouble = watch(page)
    markup = (
        "<script>document.title = 'taken'</script><img src=https://evil.test/a><style>body{display:none}</style>"
        "<iframe src=https://evil.test/b></iframe><a onclick=\"document.title = 'taken'\">x</a>"
        "<form action=https://evil.test/c><button>send</button></form>"
    )

    def change(route: Any) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace("<h1>", f"{markup}<h1>", 1))

    page.route("**/runs", change)
    page.goto("/runs")
    page.get_by_text("x", exact=True).click()
    page.evaluate("document.querySelector('form[action^=https] button').click()")
    page.wait_for_timeout(200)
    assert page.evaluate("document.title") == "Runs · rollout"
    assert page.url.endswith("/runs")
    forbidden = {each.split()[1] for each in trouble if each.startswith("forbidden:")}
    assert {
        "script-src-elem",
        "img-src",
        "style-src-elem",
        "frame-src",
        "script-src-attr",
        "form-action",
    } <= forbidden


def test_no_other_page_can_show_it_in_a_frame(signed_in: SignedIn, platform: Platform) -> None:
    page = signed_in()
    page.route(
        "http://other.test/",
        lambda route: route.fulfill(
            body=f"<iframe src='{platform.address}/runs'></iframe>", content_type="text/html"
        ),
    )
    page.goto("http://other.test/")
    page.wait_for_timeout(300)
    assert [each.url for each in page.frames[1:]] == ["chrome-error://chromewebdata/"]


def test_signing_in_and_out(chromium: Browser, platform: Platform) -> None:
    context = chromium.new_context(base_url=platform.address)
    page = context.new_page()
    page.goto("/runs?status=failed")
    expect(page.get_by_label("Key")).to_be_focused()
    page.keyboard.type("rk_wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("The key is not known here")
    page.get_by_label("Key").fill(platform.key)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Runs")
    assert page.url == f"{platform.address}/runs?status=failed"
    assert page.evaluate("document.cookie") == ""
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    context.close()


def test_it_is_used_with_a_keyboard(signed_in: SignedIn, stocked: Stocked) -> None:
    page = signed_in()
    page.goto(f"/runs/{stocked.runs[0]}")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#overview"
    reached, without_outline = set(), []
    for _ in range(60):
        page.keyboard.press("Tab")
        words, is_page, outline = page.evaluate(
            "[document.activeElement.textContent.trim(), document.activeElement === document.body,"
            " getComputedStyle(document.activeElement).outlineStyle]"
        )
        reached.add(words)
        if outline == "none" and not is_page:
            without_outline.append(words)
    assert {"Resume", "Compare with …", "Pass rate", "failed"} <= reached
    assert without_outline == []


def finished(index: int, trial: int) -> Finished:
    return Finished(index, trial, "late", "Do it.", "dev", "passed", False, 1.0, "", 1, 0.5, b"{}\n")


def test_a_run_is_followed_while_it_goes_on(signed_in: SignedIn, store: Store, stocked: Stocked) -> None:
    page = signed_in()
    page.goto(f"/runs/{stocked.live}")
    expect(page.locator("#progress")).to_contain_text("0 of 6 rollouts")
    expect(page.locator("#rate")).to_contain_text("Nothing is graded yet.")
    page.get_by_role("link", name="Compare with").focus()
    for number in range(3):
        store.write(rollouts.keep, stocked.live, "nobody", [finished(number, 0)], None)
        expect(page.locator("#progress")).to_contain_text(f"{number + 1} of 6 rollouts", timeout=15_000)
    expect(page.locator("#rate")).to_contain_text("100 %")
    expect(page.locator("#rollouts tbody tr")).to_have_count(3)
    expect(page.locator("#scores")).to_be_visible()
    # Whoever is in a part of the page with the keyboard is not thrown out of it.
    expect(page.get_by_role("link", name="Compare with")).to_be_focused()
    page.get_by_role("link", name="Compare with").evaluate("(link) => link.blur()")
    store.write(runs.end, stocked.live, "nobody", Status.DONE)
    expect(page.get_by_role("status")).to_have_text("The run is done.", timeout=15_000)
    expect(page.locator("#head .status")).to_have_text("done")


def test_without_javascript_a_run_is_loaded_again(
    signed_in: SignedIn, store: Store, stocked: Stocked
) -> None:
    run = store.read(runs.get, stocked.live)
    assert run is not None
    waiting = store.write(
        runs.create,
        environment_id=run.environment_id,
        digest=run.digest,
        model="m",
        options={"n": 1},
        total=6,
    )
    store.write(runs.lease, "nobody", 3600.0, only=waiting.id)
    page = signed_in(script=False)
    page.goto(f"/runs/{waiting.id}")
    expect(page.locator("#progress")).to_contain_text("0 of 6 rollouts")
    store.write(rollouts.keep, waiting.id, "nobody", [finished(0, 0)], None)
    page.get_by_role("link", name="Load again").click()
    expect(page.locator("#progress")).to_contain_text("1 of 6 rollouts")
    page.get_by_role("link", name="Pass rate").click()
    expect(page.get_by_role("columnheader", name="Pass rate")).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Is being cancelled")).to_be_visible()


def test_an_environment_is_checked_while_it_is_written(signed_in: SignedIn) -> None:
    page = signed_in()
    trouble = watch(page)
    page.goto("/environments/new?template=custom")
    expect(page.get_by_role("status").first).to_have_text("Nothing is wrong with it.")
    verifier = page.get_by_label("verifier.yaml")
    written = verifier.input_value()
    verifier.fill("primitives:\n  - {name: odd, type: <img src=x onerror=alert(1)>}\n")
    expect(page.locator("#found li.error")).to_have_count(1, timeout=30_000)
    expect(page.locator("#found li.error")).to_contain_text("verifier.yaml:2:")
    expect(page.locator("#found img")).to_have_count(0)
    verifier.fill(written)
    expect(page.locator("#found-words")).to_have_text("Nothing is wrong with it.", timeout=30_000)
    page.get_by_label("Slug").fill("written-here")
    page.get_by_role("button", name="Create it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Example")
    assert page.url.endswith("/environments/written-here")
    assert trouble == []


def test_a_key_is_made_and_taken_back(signed_in: SignedIn, platform: Platform) -> None:
    page = signed_in()
    page.goto("/settings/api-keys")
    page.get_by_label("Name").fill("laptop")
    page.get_by_role("button", name="Make a key").click()
    key = page.locator("#new-key").inner_text()
    headers = {"authorization": f"Bearer {key}"}
    assert httpx.get(f"{platform.address}/api/whoami", headers=headers).json()["name"] == "laptop"
    row = page.get_by_role("row", name="laptop")
    row.locator("summary").click()
    row.get_by_role("button", name="Yes, revoke it").click()
    expect(page.get_by_role("row", name="laptop")).to_contain_text("revoked")
    assert httpx.get(f"{platform.address}/api/whoami", headers=headers).status_code == 401
