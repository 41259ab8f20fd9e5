"""Keys: where they are kept, who may read them, and which endpoint is sent which."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rollout.platform import credentials, endpoints
from rollout.platform.client import Client
from rollout.platform.credentials import CredentialsError
from rollout.platform.endpoints import HOSTED, EndpointError, choose, normal
from rollout.platform.errors import RolloutError
from rollout.settings import Settings

KEY = "rk_5fd1c2a90b7e4d33"
DESK = "http://127.0.0.1:8321"
NO_PROJECT = Settings()


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("ROLLOUT_ENDPOINT", "ROLLOUT_API_KEY", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    work = tmp_path / "work"
    work.mkdir()
    (work / ".git").mkdir()
    monkeypatch.chdir(work)
    return tmp_path


@pytest.fixture
def file(own_home: Path) -> Path:
    return own_home / ".config" / "rollout" / "credentials"


def test_a_key_is_kept_where_the_published_client_looks_for_it_and_for_nobody_else(file: Path) -> None:
    credentials.save(HOSTED, KEY)
    assert json.loads(file.read_text()) == {HOSTED: KEY}
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    credentials.choose_endpoint(DESK)
    assert json.loads(file.read_text()) == {HOSTED: KEY}, "each name in it is taken for an endpoint"


def test_the_folder_of_configuration_may_be_elsewhere(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(own_home / "elsewhere"))
    assert credentials.folder() == own_home / "elsewhere" / "rollout"
    monkeypatch.setenv("XDG_CONFIG_HOME", "not/absolute")
    assert credentials.folder() == own_home / ".config" / "rollout"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_a_file_with_wider_rights_is_refused_with_what_mends_it(file: Path, mode: int) -> None:
    credentials.save(DESK, KEY)
    file.chmod(mode)
    for use in (
        lambda: credentials.key_of(DESK),
        lambda: credentials.save(HOSTED, KEY),
        lambda: credentials.forget(DESK),
        lambda: choose(DESK),
    ):
        with pytest.raises(CredentialsError) as caught:
            use()
        assert str(caught.value) == f"Others can read “{file}”, which holds your keys."
        assert caught.value.hint == f"Take that away with: chmod 600 {file}"
    os.chmod(file, 0o600)  # noqa: PTH101
    assert credentials.key_of(DESK) == KEY


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1}', "\xff", "[" * 100_000])
def test_a_file_that_holds_something_else_is_told_of_and_left_alone(file: Path, text: str) -> None:
    credentials.save(DESK, KEY)
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(CredentialsError, match="does not hold keys by endpoint"):
        credentials.save(HOSTED, KEY)
    assert file.read_bytes() == text.encode("latin-1")


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    credentials.save(DESK, KEY)
    before = file.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CredentialsError, match="cannot be written: No space left on device"):
        credentials.save(HOSTED, KEY)
    assert file.read_bytes() == before
    assert {each.name for each in file.parent.iterdir()} == {"credentials", "lock"}


def test_many_logins_at_once_keep_every_key(file: Path) -> None:
    def log_in(number: int) -> None:
        code = f"from rollout.platform import credentials; credentials.save('https://p{number}.test', 'rk_{number}')"
        subprocess.run([sys.executable, "-c", code], check=True)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(log_in, range(8)))
    assert json.loads(file.read_text()) == {f"https://p{number}.test": f"rk_{number}" for number in range(8)}


def test_a_key_is_forgotten_alone() -> None:
    credentials.save(DESK, KEY)
    credentials.save(HOSTED, "rk_other")
    assert credentials.forget(DESK)
    assert not credentials.forget(DESK)
    assert credentials.endpoints() == [HOSTED]


def test_endpoints_come_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    for endpoint in (HOSTED, DESK, "https://a.test", "https://b.test", "https://c.test"):
        credentials.save(endpoint, f"rk_of_{endpoint[-6:]}")
    assert choose().url == HOSTED
    credentials.choose_endpoint(DESK)
    assert (choose().url, choose().chosen_by) == (DESK, "rollout login")
    Path("rollout.toml").write_text('endpoint = "https://a.test"\n')
    assert (choose().url, choose().chosen_by) == ("https://a.test", "rollout.toml")
    monkeypatch.setenv("ROLLOUT_ENDPOINT", "https://b.test")
    assert (choose().url, choose().chosen_by) == ("https://b.test", "ROLLOUT_ENDPOINT")
    assert choose("https://c.test").url == "https://c.test"
    assert choose("local") == endpoints.Endpoint("local", None, "given")


def test_a_key_comes_from_whoever_gives_it_first(monkeypatch: pytest.MonkeyPatch) -> None:
    credentials.save(DESK, "rk_saved")
    assert choose(DESK).key == "rk_saved"
    monkeypatch.setenv("ROLLOUT_API_KEY", "rk_of_variable")
    assert choose(DESK).key == "rk_of_variable"
    assert choose(DESK, key="rk_given").key == "rk_given"
    assert choose("local").key is None


def test_a_saved_key_is_sent_to_its_own_endpoint_only() -> None:
    credentials.save(DESK, KEY)
    for other in ("http://127.0.0.1:8322", "https://127.0.0.1:8321", "http://127.0.0.1:8321/other", HOSTED):
        with pytest.raises(EndpointError, match="There is no key for"):
            choose(other)


def test_the_published_client_may_have_written_an_endpoint_otherwise(file: Path) -> None:
    credentials.save("HTTP://127.0.0.1:8321/", KEY)
    assert choose(DESK).key == KEY


def test_with_nothing_set_it_says_so_and_offers_local() -> None:
    with pytest.raises(EndpointError) as caught:
        choose()
    assert str(caught.value) == f"There is no key for {HOSTED}."
    assert "rollout login" in caught.value.hint
    assert "--endpoint local, which needs none" in caught.value.hint


@pytest.mark.parametrize("address", ["https://platform.evil.test", DESK])
def test_a_project_cannot_have_a_key_sent_to_an_address_of_its_own(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    Path("rollout.toml").write_text(f'endpoint = "{address}"\n')
    monkeypatch.setenv("ROLLOUT_API_KEY", KEY)
    with pytest.raises(EndpointError) as caught:
        choose()
    assert str(caught.value) == (
        f"{address} is named by rollout.toml only, which came with the project, so it is not sent ROLLOUT_API_KEY."
    )
    assert f"--endpoint {address}" in caught.value.hint
    with pytest.raises(RolloutError, match="so it is not sent the key"):
        Client(KEY)
    credentials.save(HOSTED, "rk_hosted")
    with pytest.raises(EndpointError):
        choose()
    monkeypatch.delenv("ROLLOUT_API_KEY")
    with pytest.raises(EndpointError, match="There is no key for"):
        choose()


def test_an_address_of_a_project_that_the_user_trusts_is_sent_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("rollout.toml").write_text(f'endpoint = "{DESK}"\n')
    monkeypatch.setenv("ROLLOUT_API_KEY", KEY)
    credentials.save(DESK, "rk_saved")
    assert choose().key == KEY
    credentials.forget(DESK)
    credentials.choose_endpoint(DESK)
    assert choose().key == KEY
    credentials.choose_endpoint(None)
    assert choose(DESK).key == KEY
    monkeypatch.setenv("ROLLOUT_ENDPOINT", DESK)
    assert choose().key == KEY


def test_a_project_may_name_local_and_the_hosted_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROLLOUT_API_KEY", KEY)
    assert choose(settings=Settings(endpoint="local")).is_local
    assert choose(settings=Settings(endpoint=HOSTED)).key == KEY


def test_a_project_file_that_cannot_be_read_is_told_of_unless_it_does_not_count() -> None:
    Path("rollout.toml").write_text("endpoint = 7\n")
    with pytest.raises(EndpointError, match=r"rollout\.toml” cannot be used"):
        choose()
    assert choose("local").is_local


def test_a_key_is_not_shown_where_its_endpoint_is() -> None:
    endpoint = choose(DESK, key=KEY)
    assert KEY not in repr(endpoint)
    with pytest.raises(EndpointError) as caught:
        choose(DESK, key=f"{KEY}\nrk_second")
    assert KEY not in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://Rollout.MV37.org/", HOSTED),
        ("https://rollout.mv37.org:443", HOSTED),
        (" http://127.0.0.1:8321/ ", DESK),
        ("http://[::1]:8321", "http://[::1]:8321"),
        ("https://a.test/platform/", "https://a.test/platform"),
        ("local", "local"),
    ],
)
def test_an_endpoint_is_known_by_one_way_of_writing_it(text: str, url: str) -> None:
    assert normal(text) == url


@pytest.mark.parametrize(
    "text",
    [
        "",
        "rollout.mv37.org",
        "ftp://a.test",
        "http://",
        "http://a.test:port",
        "http://a.test:99999",
        "http://user:secret@a.test",
        "http://a.test/?x=1",
        "http://a.test/#x",
        "http://a b.test",
        "http://[::1",
        "Local",
    ],
)
def test_what_is_no_endpoint_is_refused_without_what_may_be_secret_in_it(text: str) -> None:
    with pytest.raises(EndpointError) as caught:
        choose(text)
    assert "secret" not in str(caught.value)
