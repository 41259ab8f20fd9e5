"""The published client, `rolloutdev 0.2.0`, against our server: every command of its README, unchanged."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from servers.chat import ChatServer, Connection, call, says
from servers.fine_tuning import FineTuning
from servers.rollout_server import Platform
from servers.together import TogetherFineTuning

PROVIDER_KEY = "sk-desk-4f6c5cce93aa71"

REFUND = """\
from rollout import Environment, Task

env = Environment(
    slug="refund-agent",
    name="Refund Agent",
    template="workflow",
    description="Customer-support refund workflow",
    config={
        "tools": [
            {"name": "lookup_order", "kind": "lookup", "fixturePath": "orders.${args.order_id}"},
            {
                "name": "refund",
                "kind": "action",
                "appendTo": "refunds",
                "value": {"order_id": "${args.order_id}", "amount": "${args.amount}"},
            },
        ],
        "fixtures": {"orders": {"O-1": {"customer": "Alice", "amount": 100, "status": "shipped"}}},
        "initialMutableState": {"refunds": []},
    },
    tasks=[
        Task(
            instruction="Refund order O-1 for $100 for Alice",
            hidden_ground_truth={"refunds": [{"order_id": "O-1", "amount": 100.0}]},
        ),
    ],
)
"""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of the published client, in a virtual environment of its own."""
    folder = tmp_path_factory.mktemp("published")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "rolloutdev==0.2.0"]
    quiet = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore"}
    subprocess.run(pip, check=True, env=quiet, stdin=subprocess.DEVNULL)
    return folder / "venv" / "bin" / "rollout"


@pytest.fixture(scope="module")
def provider() -> Iterator[FineTuning]:
    with FineTuning(key=PROVIDER_KEY) as made:
        yield made


@pytest.fixture(scope="module")
def platform(provider: FineTuning, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    variables = {"OPENAI_BASE_URL": provider.address, "OPENAI_API_KEY": PROVIDER_KEY}
    with Platform(tmp_path_factory.mktemp("platform") / "data", **variables) as made:
        yield made


class Person:
    """Who types the commands, in a folder and a home of their own."""

    def __init__(self, command: Path, platform: Platform, home: Path) -> None:
        self._command = command
        self._home = home
        self._variables = {"HOME": str(home), "ROLLOUT_ENDPOINT": platform.address, "PYTHONPATH": ""}

    def types(self, *arguments: str, answers: str = "") -> str:
        done = subprocess.run(
            [self._command, *arguments],
            cwd=self._home,
            env={"PATH": os.environ["PATH"], **self._variables},
            input=answers,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def waits_for(self, words: str, *arguments: str) -> str:
        for _ in range(300):
            if words in (shown := self.types(*arguments)):
                return shown
            Event().wait(0.2)
        raise AssertionError(shown)


@pytest.fixture
def person(published: Path, platform: Platform, tmp_path: Path) -> Person:
    (tmp_path / "refund_agent.py").write_text(REFUND)
    made = Person(published, platform, tmp_path)
    made.types("login", "--endpoint", platform.address, answers=f"{platform.key}\n")
    return made


def started(shown: str) -> str:
    found = re.search(r"run started: (\S+)", shown)
    assert found is not None, shown
    return found[1]


def test_its_readme_works_as_it_is_typed(person: Person, platform: Platform) -> None:
    assert platform.address in person.types("whoami")
    pushed = person.types("push", "refund_agent.py")
    assert "✓ pushed refund-agent" in pushed
    assert f"{platform.address}/environments/refund-agent" in pushed
    assert "tasks added: 1" in pushed
    assert "tasks added: 0" in person.types("push", "refund_agent.py")
    assert re.search(r"refund-agent +workflow +1 +Refund Agent", person.types("envs"))
    good = started(person.types("run", "refund-agent", "--model", "oracle", "-n", "5", "--name", "good"))
    assert re.search(rf"{good[:8]} +done +100% +5/5 +oracle", person.waits_for("5/5", "runs"))
    bad = started(person.types("run", "refund-agent", "--model", "noop", "-n", "3"))
    assert re.search(rf"{bad[:8]} +done +0% +3/3 +noop", person.waits_for("3/3", "runs", "--limit", "1"))
    compared = person.types("compare", good, bad)
    assert "Pass rate:  100.0%  →  0.0%   (-100.0 pts)" in compared
    assert "5/5 · 1.00" in compared


def test_it_trains_a_model_on_what_passed(person: Person, platform: Platform, provider: FineTuning) -> None:
    person.types("push", "refund_agent.py")
    run = started(person.types("run", "refund-agent", "--model", "oracle", "-n", "3"))
    person.waits_for("3/3", "runs", "--limit", "1")
    model = "openai/gpt-4o-mini-2024-07-18"
    improved = person.types("improve", "--run", run, "--model", model, "--method", "sft", "--suffix", "v1")
    assert "using 3 passing rollouts as training data" in improved
    assert "provider job id: ftjob-1" in improved
    assert len(provider.files[-1]) == 3
    (job,) = re.findall(r"training job started: (\S+)", improved)
    assert f"{platform.address}/training/{job}" in improved
    assert re.search(rf"{job[:8]} +queued +sft +openai +{model}", person.types("jobs"))
    provider.status = "succeeded"
    shown = json.loads(person.types("job", job[:8]))
    assert (shown["status"], shown["fineTunedModel"]) == (
        "succeeded",
        "ft:gpt-4o-mini-2024-07-18:acme:v1:1",
    )


def test_ids_may_be_given_as_its_tables_show_them(person: Person) -> None:
    person.types("push", "refund_agent.py")
    run = started(person.types("run", "refund-agent", "--model", "oracle"))
    person.waits_for("1/1", "runs", "--limit", "1")
    assert "100.0%" in person.types("compare", run[:8], run[:8])


def test_what_it_is_refused_is_told_in_its_words(person: Person, tmp_path: Path) -> None:
    done = subprocess.run(
        [person._command, "run", "nowhere", "--model", "noop"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], **person._variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "There is no environment “nowhere”" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_its_credentials_are_ours_too(person: Person, platform: Platform, tmp_path: Path) -> None:
    kept = json.loads((tmp_path / ".config" / "rollout" / "credentials").read_text())
    assert kept == {platform.address: platform.key}
    done = subprocess.run(
        [sys.executable, "-m", "rollout", "whoami", "--json"],
        env={
            **os.environ,
            "HOME": str(tmp_path),
            "ROLLOUT_ENDPOINT": platform.address,
            "XDG_CONFIG_HOME": "",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["data"]["endpoint"] == platform.address


DESK = {
    "config": {
        "tools": [
            {
                "name": "refund",
                "kind": "action",
                "description": "Pay an order back.",
                "stateArray": "refunds",
                "paramsSchema": {"order_id": "string", "amount": "number"},
            }
        ],
        "initialMutableState": {"refunds": []},
    },
    "tasks": [
        {
            "instruction": "Refund order O-1 for $100.",
            "hiddenGroundTruth": {"refunds": [{"order_id": "O-1", "amount": 100}]},
            "split": "dev",
        }
    ],
    "verifier": {"primitives": [{"name": "right state", "type": "ground_truth_match"}]},
}
LOOSE = {
    **DESK,
    "verifier": {
        "primitives": [{"name": "one refund", "type": "state_match", "expected": {"refunds.length": 1}}]
    },
}


def test_it_has_environments_written(published: Path, tmp_path: Path) -> None:
    wrong, right = says(json.dumps(LOOSE)), says(f"```json\n{json.dumps(DESK)}\n```")
    asked = ("generate", "A desk that refunds orders.", "--template", "workflow", "--model", "openai/gpt-4o")
    with ChatServer() as model:
        variables = {"OPENAI_BASE_URL": model.address, "OPENAI_API_KEY": PROVIDER_KEY}
        with Platform(tmp_path / "data", **variables) as platform:
            person = Person(published, platform, tmp_path)
            person.types("login", "--endpoint", platform.address, answers=f"{platform.key}\n")
            model.play(wrong, right)
            envelope = json.loads(person.types(*asked, "--format", "json"))
            assert {key: envelope[key] for key in DESK} == DESK
            assert len(model.asked) == 2
            model.play(right)
            made = person.types(*asked, "--format", "python", "--slug", "refund-desk")
            (tmp_path / "refund_desk.py").write_text(made)
            assert "✓ pushed refund-desk" in person.types("push", "refund_desk.py")
            model.play(wrong)
            done = subprocess.run(
                [published, *asked],
                cwd=tmp_path,
                env={"PATH": os.environ["PATH"], **person._variables},
                capture_output=True,
                text=True,
                check=False,
                timeout=120,
            )
    assert (done.returncode != 0, done.stdout) == (True, "")
    assert "was asked 3 times, and what it wrote does not hold." in done.stderr


def test_a_platform_may_have_a_model_that_writes(published: Path, tmp_path: Path) -> None:
    with ChatServer([says(json.dumps(DESK))]) as model:
        (tmp_path / "rollout.toml").write_text('[generate]\nmodel = "openai/gpt-4o"\n')
        variables = {"OPENAI_BASE_URL": model.address, "OPENAI_API_KEY": PROVIDER_KEY}
        with Platform(tmp_path / "data", **variables) as platform:
            person = Person(published, platform, tmp_path)
            person.types("login", "--endpoint", platform.address, answers=f"{platform.key}\n")
            envelope = json.loads(
                person.types("generate", "A desk.", "--template", "workflow", "--format", "json")
            )
            assert envelope["tasks"] == DESK["tasks"]
            assert model.asked[0].body["model"] == "gpt-4o"


class Wavering:
    """Refunds the right amount in the first conversation, and another in every other."""

    def __init__(self) -> None:
        self._amounts = iter([100, *[1] * 100])

    def __call__(self, connection: Connection) -> None:
        asked = [each for each in connection.server.asked if each.connection == connection.number][-1]
        if any(message["role"] == "tool" for message in asked.body["messages"]):
            says("Done.")(connection)
        else:
            arguments = json.dumps({"order_id": "O-1", "amount": next(self._amounts)})
            says(None, calls=[call("refund", arguments)])(connection)


def test_it_trains_by_preference(published: Path, tmp_path: Path) -> None:
    (tmp_path / "refund_agent.py").write_text(REFUND)
    with ChatServer([Wavering()]) as chat, TogetherFineTuning(key=PROVIDER_KEY) as together:
        variables = {"OPENAI_BASE_URL": chat.address, "OPENAI_API_KEY": PROVIDER_KEY}
        variables |= {"TOGETHER_BASE_URL": together.address, "TOGETHER_API_KEY": PROVIDER_KEY}
        with Platform(tmp_path / "data", **variables) as platform:
            person = Person(published, platform, tmp_path)
            person.types("login", "--endpoint", platform.address, answers=f"{platform.key}\n")
            person.types("push", "refund_agent.py")
            run = started(person.types("run", "refund-agent", "--model", "openai/gpt-4o-mini", "-n", "3"))
            person.waits_for("3/3", "runs", "--limit", "1")
            model = "together/deepseek-ai/DeepSeek-V3.1"
            improved = person.types("improve", "--run", run, "--model", model, "--method", "dpo")
            assert "using 1 passing rollouts as training data" in improved
            assert re.search(rf" +dpo +together +{model}", person.types("jobs"))
    ((row,),) = together.files
    amounts = [
        json.loads(row[side][0]["tool_calls"][0]["function"]["arguments"])["amount"]
        for side in ("preferred_output", "non_preferred_output")
    ]
    assert amounts == [100, 1]
