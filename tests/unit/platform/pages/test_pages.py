"""What the pages show, and what their forms do, without JavaScript."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
from servers.browsing import Browser
from servers.rollout_server import Platform
from servers.stocked import Stocked

from rollout.analysis.compare.comparing import compare, other_version
from rollout.analysis.compare.words import headline
from rollout.check import check
from rollout.compile import compile_environment
from rollout.compile.scaffold import scaffold
from rollout.platform.client import Client
from rollout.platform.comparing import side_at
from rollout.source import read
from rollout.source.contract import templates

SUPPORT_DESK = Path(__file__).parents[4] / "environments" / "support-desk"


def text(answer: httpx.Response) -> str:
    """What is read of a page."""
    inside = re.sub(r"(?s)<(script|style)\b.*?</\1>|<title>.*?</title>", " ", answer.text)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", inside)))


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    with Platform(tmp_path_factory.mktemp("empty") / "data") as made:
        yield made


@pytest.fixture
def api(platform: Platform) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {platform.key}"}
    with httpx.Client(base_url=platform.address, headers=headers, timeout=60) as http:
        yield http


def test_every_page_is_there(owner: Browser, stocked: Stocked) -> None:
    expected = {"nothing": 404, "refused": 400}
    for name, path in stocked.pages.items():
        answer = owner.get(path)
        assert (name, answer.status_code) == (name, expected.get(name, 200))
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert answer.text.count("<h1") == 1


def test_where_nothing_is_yet_a_page_says_what_to_do(empty: Platform) -> None:
    with httpx.Client(base_url=empty.address, headers={"accept": "text/html"}, timeout=30) as http:
        browser = Browser(http)
        browser.sign_in(empty.key)
        assert f"rollout push environments/refund --endpoint {empty.address}" in text(
            browser.get("/environments")
        )
        assert "rollout run SLUG --model" in text(browser.get("/runs"))
        assert "rollout run SLUG --model" in text(browser.get("/compare"))
        training = text(browser.get("/training"))
        assert "POST /api/training-jobs" in training
        assert f'Client(KEY, "{empty.address}").create_training_job(RUN, ROLLOUTS' in training


def test_an_environment_shows_what_it_holds_and_what_changed(owner: Browser, stocked: Stocked) -> None:
    shown = text(owner.get("/environments/letters"))
    for part in (
        "Post",
        "version 2",
        "3 tasks",
        "You edit letters.",
        "read_Post",
        "Sign them.",
        "67 %",
        "0.9",
    ):
        assert part in shown
    assert "Do late. Post" in shown
    only = text(owner.get("/environments/letters?split=test"))
    assert ("Do polite." in only, "Do late." in only) == (True, False)
    old = text(owner.get(f"/environments/letters?digest={stocked.digests[0]}"))
    assert "This is version 1" in old
    assert "Do late. Letters" in old
    task = text(owner.get("/environments/letters/tasks/1"))
    assert "Do polite. Post" in task
    assert "shift: night" in task
    assert 'sent: "yes"' in task
    assert owner.get("/environments/letters/tasks/3").status_code == 404
    changes = text(owner.get(stocked.pages["changes"]))
    assert "Version 1 → 2" in changes
    assert "Old runs do not stay comparable" in changes
    assert "The agent sees" in changes
    assert "changed name" in changes
    back = text(owner.get(f"/environments/letters/changes?from={stocked.digests[1]}&to={stocked.digests[1]}"))
    assert "Both versions mean the same." in back


def test_a_run_shows_its_figures_and_its_rollouts_can_be_narrowed(owner: Browser, stocked: Stocked) -> None:
    run = stocked.runs[0]
    shown = text(owner.get(f"/runs/{run}"))
    assert "50 % of 2 graded, 95 % interval 9.5 % to 90.5 % (Wilson)" in shown.replace("50 % 50 %", "50 %")
    assert "5 of 6 rollouts" in shown
    assert "1 passed" in shown
    assert "The budget was used up." in shown
    assert "Resume" in shown
    page = owner.get(f"/runs/{run}").text
    assert page.count('href="/rollouts/') == 5
    assert owner.get(f"/runs/{run}?outcome=failed").text.count('href="/rollouts/') == 1
    assert owner.get(f"/runs/{run}?task=1").text.count('href="/rollouts/') == 2
    assert owner.get(f"/runs/{run[:8]}").status_code == 200
    order = re.findall(r'href="/rollouts/(\w+)"', page)
    assert order == list(stocked.rollouts)
    assert re.findall(r'href="/rollouts/(\w+)"', owner.get(f"/runs/{run}?sort=down").text) == order[::-1]
    rates = [
        re.findall(r"\?task=(\d+)#", owner.get(f"/runs/{run}?order={order}").text)[:3]
        for order in ("task", "-task", "rate")
    ]
    assert rates[0] == ["0", "1", "2"]
    assert rates[1] == ["2", "1", "0"]
    assert rates[2][-1] == "2"


def test_tasks_and_trials_have_the_numbers_that_the_api_and_the_terminal_give_them(
    owner: Browser, api: httpx.Client, stocked: Stocked
) -> None:
    run = stocked.runs[0]
    listed = text(owner.get(f"/runs/{run}"))
    told = api.get(f"/api/runs/{run}?include=rollouts").json()["rollouts"]
    assert {0, 1} == {each["trial"] for each in told}
    for each in told:
        task, trial = each["taskIndex"], each["trial"]
        assert f"{task} .{trial} rollout {each['id'][:8]}" in listed.replace(
            f"{task}.{trial}", f"{task} .{trial}"
        )
        page = text(owner.get(f"/rollouts/{each['id']}"))
        assert f"Task {task} of letters" in page
        assert f", trial {trial}" in page
    of_first = owner.get(f"/runs/{run}?task=0")
    assert "of task 0 (show all)" in text(of_first)
    assert f"/runs/{run}?outcome=failed&amp;task=0" in of_first.text
    assert of_first.text.count('href="/rollouts/') == sum(each["taskIndex"] == 0 for each in told)
    assert text(owner.get("/environments/letters/tasks/0")).count("Task 0 of") == 1
    assert "has no task 99." in text(owner.get("/environments/letters/tasks/99"))


def test_a_rollout_shows_what_was_said_what_changed_and_the_verdict(owner: Browser, stocked: Stocked) -> None:
    page = owner.get(f"/rollouts/{stocked.rollouts[1]}")
    shown = text(page)
    for part in (
        "There is no letter “L-9”.",
        "clerk.shift",
        "“send” was called 2 times, and failed each time.",
    ):
        assert part in shown
    assert f'href="/rollouts/{stocked.rollouts[0]}" rel="prev"' in page.text
    assert f'href="/rollouts/{stocked.rollouts[2]}" rel="next"' in page.text
    assert owner.get(f"/rollouts/{stocked.rollouts[1]}/line").json()["trace"]["task"] == "late"


def test_two_runs_are_compared_in_numbers_and_in_plots(owner: Browser, stocked: Stocked) -> None:
    answer = owner.get(stocked.pages["comparison"])
    shown = text(answer)
    assert "the pass rate is the same" in shown
    assert "The baseline is not whole. 5 of 6 rollouts are done. The budget was used up." in shown
    assert answer.text.count('<svg class="interval"') > 3
    assert "Nothing of it" not in shown
    live = text(owner.get(f"/compare?baseline={stocked.runs[0]}&trained={stocked.live}"))
    assert "is done yet" in live


def test_runs_are_compared_over_the_client_as_in_the_page(
    owner: Browser, platform: Platform, stocked: Stocked
) -> None:
    with Client(platform.key, platform.address) as client:
        (document,) = read(SUPPORT_DESK)
        compiled = compile_environment(check(document).environment())
        client.push_environment({**compiled.environment, "verifier": compiled.verifier})
        made = [client.create_run("support-desk", "noop", limit=3)["runId"] for _ in range(2)]
        for run in made:
            assert [event.kind for event in client.watch_run(run)][-1] == "end"
        before, after = (side_at(client, run[:12]) for run in made)
    assert len(before.rollouts) == 3
    assert other_version(before, after) == []
    said = headline(compare(before, after))
    assert said in text(owner.get(f"/compare?baseline={made[0]}&trained={made[1]}"))


def test_the_lists_go_on_where_they_end(owner: Browser, api: httpx.Client, stocked: Stocked) -> None:
    for _ in range(52):
        body = {"environmentSlug": "letters", "model": "noop", "n": 1, "split": "train"}
        assert api.post("/api/runs", json=body).status_code == 201
    first = owner.get("/runs").text
    following = re.search(r'href="(/runs\?after=[^"]+)" rel="next"', first)
    assert following is not None
    second = owner.get(unescape(following[1])).text
    seen = [set(re.findall(r'href="/runs/(\w{32})"', page)) for page in (first, second)]
    everything = {each["id"] for each in api.get("/api/runs").json()["runs"]}
    assert len(seen[0]) == 50
    assert seen[0] | seen[1] == everything
    assert not seen[0] & seen[1]
    oldest = owner.get("/runs?sort=oldest").text
    assert set(re.findall(r'href="/runs/(\w{32})"', oldest)) >= seen[1]
    assert "No run is so." in owner.get("/runs?environment=no-such").text
    some = owner.get("/runs?environment=letters&status=failed").text
    assert set(stocked.runs) <= set(re.findall(r'href="/runs/(\w{32})"', some))
    for wrong in (
        "/runs?after=x",
        "/runs?after=1",
        "/environments?sort=newest&after=a.b",
        f"/runs/{stocked.live}?after=1.x",
        f"/runs/{stocked.live}?tasks=-1",
        f"/runs/{stocked.live}?order=no",
        f"/runs/{stocked.live}?task=1e9",
        "/environments/letters?page=x",
        "/environments/letters?split=no",
        "/runs/zzz",
        "/rollouts/zzz",
    ):
        assert (wrong, owner.get(wrong).status_code) in ((wrong, 400), (wrong, 404))


def test_a_run_is_cancelled_and_resumed(owner: Browser, api: httpx.Client) -> None:
    body = {"environmentSlug": "letters", "model": "noop", "n": 100_000, "concurrency": 1}
    run = api.post("/api/runs", json=body).json()["runId"]
    assert owner.post(f"/runs/{run}/cancel").headers["location"] == f"/runs/{run}"

    def wait_for(*wanted: str) -> dict[str, Any]:
        with api.stream("GET", f"/api/runs/{run}/events") as told:
            for line in told.iter_lines():
                if any(f'"status":"{each}"' in line for each in wanted):
                    break
        found: dict[str, Any] = api.get(f"/api/runs/{run}").json()["run"]
        return found

    assert wait_for("cancelled")["status"] == "cancelled"
    assert "It was cancelled." in text(owner.get(f"/runs/{run}"))
    assert owner.post(f"/runs/{run}/resume").status_code == 303
    assert wait_for("running", "queued")["status"] in ("running", "queued")
    assert owner.post(f"/runs/{run}/cancel").status_code == 303
    assert wait_for("cancelled")["status"] == "cancelled"


@pytest.mark.parametrize("template", templates())
def test_the_form_of_a_template_makes_an_environment_as_it_is(owner: Browser, template: str) -> None:
    page = owner.get(f"/environments/new?template={template}").text
    assert "Nothing is wrong with it." in page
    paths = [
        unescape(each) for each in re.findall(r'<input type="hidden" name="path" value="([^"]+)">', page)
    ]
    texts = [
        unescape(each) for each in re.findall(r'(?s)<textarea[^>]* name="text"[^>]*>\n(.*?)</textarea>', page)
    ]
    expected = scaffold(template, slug="x", name="X")
    del expected["environment.yaml"]
    assert dict(zip(paths, texts, strict=False)) == expected
    sent = {
        "template": template,
        "slug": f"made-{template}",
        "name": "Made",
        "description": "By hand.",
        "path": paths,
        "text": [each.replace("\n", "\r\n") for each in texts],
    }
    made = owner.post("/environments/new", **sent)  # type: ignore[arg-type]
    assert (made.status_code, made.headers["location"]) == (303, f"/environments/made-{template}")
    assert "By hand." in owner.get(f"/environments/made-{template}").text
    again = owner.post("/environments/new", **sent)  # type: ignore[arg-type]
    assert again.status_code == 409
    assert f"There is an environment “made-{template}” already." in text(again)


def draft(**fields: Any) -> dict[str, Any]:
    files = scaffold("workflow", slug="x", name="X")
    del files["environment.yaml"]
    files |= fields.pop("files", {})
    return {
        "template": "workflow",
        "slug": "drafted",
        "name": "Drafted",
        "path": list(files),
        "text": list(files.values()),
        **fields,
    }


def test_what_is_wrong_with_a_draft_is_told_and_what_was_written_stays(owner: Browser) -> None:
    broken = {"verifier.yaml": "primitives:\n  - {name: odd, type: no_such}\n"}
    answer = owner.post("/environments/new", **draft(files=broken, slug="not good"))
    assert answer.status_code == 422
    shown = text(answer)
    assert "verifier.yaml:2:" in shown
    assert "no_such" in shown
    assert "2 errors." in shown
    assert 'value="not good"' in answer.text
    assert "type: no_such}" in answer.text
    assert owner.get("/environments/drafted").status_code == 404
    checked = owner.post("/environments/new", **draft(do="check"))
    assert checked.status_code == 200
    assert owner.get("/environments/drafted").status_code == 404


def test_the_script_is_told_the_same(owner: Browser) -> None:
    broken = {"tasks.jsonl": '{"instruction": 3}\n'}
    told = owner.post("/environments/new/check", **draft(files=broken)).json()
    assert told["words"] == "2 errors."
    second, first = told["diagnostics"]
    assert (first["severity"], first["file"], first["place"]) == ("error", "tasks.jsonl", "1:17")
    assert second["file"] == "tasks.jsonl"


@pytest.mark.parametrize(
    "path",
    (
        "../evil.yaml",
        "/etc/evil.yaml",
        "a/../../evil.yaml",
        "environment.yaml",
        "environment.toml",
        "Environment.YAML",
        "environment.yaml/more.yaml",
        "grade.py",
        "a\\b.yaml",
        "fixtures/con.yaml",
        "x\0.yaml",
        ".git/config.yaml",
        "fixtures/devices.yaml/x.yaml",
        "x" * 500 + ".yaml",
    ),
)
def test_no_file_is_written_elsewhere(owner: Browser, path: str, tmp_path: Path) -> None:
    refused = owner.post("/environments/new", **draft(files={path: "x: 1\n"}))
    assert refused.status_code == 400
    assert 'role="alert"' in refused.text


def test_code_of_an_author_is_not_taken(owner: Browser) -> None:
    judged = {"verifier.yaml": "primitives:\n  - {name: odd, type: python, function: grade.py:f}\n"}
    assert owner.post("/environments/new", **draft(files=judged)).status_code == 422


def test_a_key_is_shown_once(owner: Browser) -> None:
    made = owner.post("/settings/api-keys", name="laptop", scope="write")
    found = re.search(r"rk_[\w-]{40,}", made.text)
    assert found is not None
    again = owner.get("/settings/api-keys")
    assert "laptop" in again.text
    assert found[0] not in again.text
    assert found[0][:9] in again.text
    for fields in (
        {"name": "", "scope": "read"},
        {"name": "x" * 101, "scope": "read"},
        {"name": "x", "scope": "all"},
    ):
        assert owner.post("/settings/api-keys", **fields).status_code == 400
    assert owner.post("/settings/api-keys/nobody/revoke").status_code == 404


@pytest.mark.parametrize(
    "body", [b"\xff=1", b"a=1&" * 3000, b"x" * 5_000_000], ids=["bytes", "many", "large"]
)
def test_a_form_that_cannot_be_read_is_refused(owner: Browser, body: bytes) -> None:
    headers = {"content-type": "application/x-www-form-urlencoded"}
    assert owner.http.post("/sign-out", content=body, headers=headers).status_code in (400, 403, 413)
    assert owner.get("/runs").status_code == 200


def test_a_program_is_told_in_json(owner: Browser, platform: Platform) -> None:
    refused = httpx.get(f"{platform.address}/nothing", headers={"accept": "application/json"})
    assert refused.json() == {"error": "There is nothing at this address."}
    assert "content-security-policy" not in refused.headers
    assert owner.get("/api/nothing").json() == {"error": "There is nothing at this address."}
