"""rollout.toml: what it says, where it is found, and what is said of its mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from rollout.cli import app
from rollout.diagnostics.concise import render
from rollout.family import members
from rollout.settings import (
    Price,
    ProviderSettings,
    Settings,
    SettingsError,
    find_settings,
    read_settings,
)

CASES = Path(__file__).parents[1] / "cases" / "settings"


def test_settings_are_read() -> None:
    path = CASES / "good" / "rollout.toml"
    assert read_settings(path) == Settings(
        {
            "desk": ProviderSettings("http://127.0.0.1:8000/v1"),
            "azure": ProviderSettings(
                "https://acme.openai.azure.com/openai/v1",
                headers={"api-key": "${env.AZURE_KEY}"},
                send_reasoning=True,
                max_tokens_key="max_completion_tokens",
            ),
        },
        {"desk/llama-3.3-70b": Price(0.6, 0.6), "openai/gpt-4o-mini": Price(0.1, 0.4, 0.05)},
        path,
    )


@pytest.mark.parametrize("folder", sorted(CASES.glob("bad*")), ids=lambda folder: folder.name)
def test_mistakes_are_told_with_their_places(folder: Path, request: pytest.FixtureRequest) -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings(folder / "rollout.toml")
    found = render(caught.value.diagnostics, checked=[])
    expected = folder / "expected.txt"
    if request.config.getoption("--update-expected"):
        expected.write_text(found, encoding="utf-8")
    assert found == expected.read_text(encoding="utf-8")


def test_a_key_that_stands_in_the_settings_is_not_repeated() -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings(CASES / "bad-values" / "rollout.toml")
    assert "sk-4f6c5cce93aa71" not in str(caught.value.diagnostics)


def test_settings_are_looked_for_up_to_the_root_of_the_repository(tmp_path: Path) -> None:
    inner = tmp_path / "repo" / "envs" / "refund"
    inner.mkdir(parents=True)
    (tmp_path / "rollout.toml").touch()
    assert find_settings(inner) == tmp_path / "rollout.toml"
    (tmp_path / "repo" / ".git").mkdir()
    assert find_settings(inner) is None
    (tmp_path / "repo" / "rollout.toml").touch()
    assert find_settings(inner) == tmp_path / "repo" / "rollout.toml"


@pytest.mark.parametrize("name", members("rollout.models"))
def test_every_model_of_ours_keeps_its_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / "rollout.toml"
    path.write_text(f'[providers.{name}]\nbase_url = "http://127.0.0.1:8000/v1"\n', encoding="utf-8")
    with pytest.raises(SettingsError) as raised:
        read_settings(path)
    [found] = raised.value.diagnostics
    assert (found.slug, found.span.line, found.span.text) == (
        "malformed-value",
        1,
        path.read_text().split("\n")[0],
    )
    assert "this one means a model here already" in str(found.hint)


def test_a_command_ends_with_the_mistakes_in_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rollout.toml").write_text("[providers.desk]\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    environment = CASES.parent / "models" / "desk"
    ended = CliRunner().invoke(app, ["test", str(environment), "--model", "desk/llama"])
    assert ended.exit_code == 2
    assert "rollout.toml:1:12: error: Provider “desk” has no “base_url”." in ended.stderr
