"""What the platform keeps: each change whole or not at all, by whatever process it is made."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from alembic.command import downgrade
from alembic.config import Config
from servers.postgres import Postgres
from sqlalchemy import Connection, update

from rollout.check import check
from rollout.compile import Compiled, compile_environment
from rollout.environment import Environment
from rollout.platform.store import (
    Store,
    StoreError,
    environments,
    keys,
    migrations,
    repeats,
    rollouts,
    runs,
    tables,
)
from rollout.platform.store.keys import Scope
from rollout.platform.store.rollouts import Finished, NotHeldError
from rollout.platform.store.runs import NotOneError, Status
from rollout.source import read

DESK = Path(__file__).parents[3] / "cases" / "models" / "desk"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/rollout.db"
    postgres: Postgres = request.getfixturevalue("postgres")
    return postgres.url


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    made = Store(url)
    yield made
    made.close()


def desk() -> Environment:
    (document,) = read(DESK)
    return check(document).environment()


def compiled(name: str = "Desk") -> Compiled:
    return compile_environment(replace(desk(), name=name))


def a_run(store: Store, total: int = 4) -> runs.Run:
    entry = store.write(environments.push, compiled()).entry
    return store.write(
        runs.create, environment_id=entry.id, digest=entry.digest, model="noop", options={"n": 1}, total=total
    )


def finished(index: int, trial: int = 0, outcome: str = "passed", *, again: bool = False) -> Finished:
    score = {"passed": 1.0, "failed": 0.25}.get(outcome)
    return Finished(
        index, trial, f"t{index}", "Do it.\0\ud800", "dev", outcome, again, score, "", 2, 0.5, b"{}\n"
    )


def test_every_version_is_kept_and_the_same_one_is_kept_once(store: Store) -> None:
    first = store.write(environments.push, compiled("One"))
    second = store.write(environments.push, compiled("Two"))
    again = store.write(environments.push, compiled("Two"))
    back = store.write(environments.push, compiled("One"))
    assert (first.before, first.changed, second.changed, again.changed, back.changed) == (
        None,
        True,
        True,
        False,
        True,
    )
    entry = store.read(environments.find, first.entry.slug)
    assert entry == back.entry
    assert (entry.name, entry.version) == ("One", 1)
    kept = store.read(environments.versions, entry.id)
    assert [(each.number, each.digest) for each in kept] == [(2, compiled("Two").digest), (1, entry.digest)]
    assert store.read(environments.data, entry.id, compiled("Two").digest) == compiled("Two").data
    assert store.read(environments.data, entry.id, "sha256:0") is None


def test_a_push_that_was_made_for_another_version_changes_nothing(store: Store) -> None:
    with pytest.raises(environments.HeldError):
        store.write(environments.push, compiled(), instead_of="sha256:0", checked=True)
    entry = store.write(environments.push, compiled(), instead_of=None, checked=True).entry
    with pytest.raises(environments.HeldError) as refused:
        store.write(environments.push, compiled("Two"), instead_of=None, checked=True)
    assert refused.value.held == entry.digest
    assert store.read(environments.find, entry.slug) == entry


def test_pushes_at_once_lose_nothing(store: Store) -> None:
    names = [f"Desk {number}" for number in range(24)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda name: store.write(environments.push, compiled(name)), names))
    (entry,) = store.read(environments.list_all)
    kept = store.read(environments.versions, entry.id)
    assert sorted(each.number for each in kept) == list(range(1, 25))
    assert {each.digest for each in kept} == {compiled(name).digest for name in names}


def test_whole_numbers_that_were_kept_otherwise_are_whole_when_a_database_is_brought_up_to_date(
    url: str,
) -> None:
    store = Store(url)
    odd = {"n": 1.0, "maxTokens": 1e300, "seed": -5.0, "temperature": 0.5, "tasks": ["a"], "split": None}
    run = a_run(store)
    with store.writing() as connection:
        connection.execute(update(tables.runs).values(options=odd))
        config = Config()
        config.set_main_option("script_location", str(Path(migrations.__file__).parent))
        config.attributes["connection"] = connection
        downgrade(config, "0002")
    store.close()
    store = Store(url)
    try:
        found = store.read(runs.find, run.id).options
    finally:
        store.close()
    assert found == {**odd, "maxTokens": 2**53 - 1}
    assert [type(found[name]) for name in ("n", "maxTokens", "seed", "temperature")] == [int, int, int, float]


def test_a_run_whose_lease_was_renewed_since_is_not_freed(store: Store) -> None:
    run = a_run(store)
    store.write(runs.lease, "a", 30)
    ((run_id, owner, until),) = store.read(runs.held)
    store.write(runs.renew, run.id, "a", 60)
    store.write(runs.free, run_id, owner, until)
    assert store.write(runs.lease, "b", 30) is None
    ((run_id, owner, until),) = store.read(runs.held)
    store.write(runs.free, run_id, owner, until)
    assert store.write(runs.lease, "b", 30) is not None


def test_a_run_is_executed_by_one_at_a_time(store: Store) -> None:
    run = a_run(store)
    assert run.status is Status.QUEUED
    leased = store.write(runs.lease, "a", 30)
    assert leased is not None and (leased.id, leased.status, leased.owner) == (run.id, Status.RUNNING, "a")
    assert store.write(runs.lease, "b", 30) is None
    assert store.write(runs.renew, run.id, "b", 30) is None
    assert store.write(runs.renew, run.id, "a", -1) is not None
    taken = store.write(runs.lease, "b", 30)
    assert taken is not None and taken.owner == "b"
    assert store.write(runs.renew, run.id, "a", 30) is None
    assert store.write(runs.end, run.id, "a", Status.DONE) is None
    ended = store.write(runs.end, run.id, "b", Status.DONE)
    assert ended is not None and (ended.status, ended.owner) == (Status.DONE, None)
    assert store.write(runs.lease, "c", 30) is None


def test_a_run_says_why_it_stands_still_until_it_goes_on_or_is_cancelled(store: Store) -> None:
    run = a_run(store)
    store.write(runs.lease, "a", 30)
    told = []
    for trouble in ("The disk is full.", None, "The disk is full."):
        held = store.write(runs.renew, run.id, "a", 30, trouble)
        assert held is not None
        told.append(held.reason)
    assert told == ["The disk is full.", None, "The disk is full."]
    store.write(runs.cancel, run.id)
    held = store.write(runs.renew, run.id, "a", 30, "The disk is full.")
    assert held is not None and held.reason == "It was cancelled."


def test_a_rollout_counts_once_and_one_that_broke_is_done_again(store: Store) -> None:
    run = a_run(store)
    store.write(runs.lease, "a", 30)
    first = [finished(0), finished(1, outcome="failed"), finished(2, outcome="error", again=True)]
    store.write(rollouts.keep, run.id, "a", first, {})
    store.write(rollouts.keep, run.id, "a", [finished(0, outcome="failed"), finished(2)], {"input_tokens": 3})
    found = store.read(runs.get, run.id)
    assert found is not None
    assert (found.done, found.passed, found.failed, found.errors, found.score_sum) == (3, 2, 1, 0, 2.25)
    assert found.usage == {"input_tokens": 3}
    assert store.read(rollouts.places, run.id) == {(0, 0), (1, 0), (2, 0)}
    page = store.read(rollouts.page, run.id, limit=2)
    assert [(each.task_index, each.outcome) for each in page] == [(0, "passed"), (1, "failed")]
    assert [each.task_index for each in store.read(rollouts.page, run.id, after=(1, 0))] == [2]
    brief, line = store.read(rollouts.find, page[0].id[:8])
    # What one of the databases cannot keep looks the same in both.
    assert (brief.instruction, line) == ("Do it.\ufffd?", b"{}\n")


def test_who_lost_a_run_keeps_nothing_in_it(store: Store) -> None:
    run = a_run(store)
    store.write(runs.lease, "a", -1)
    store.write(runs.lease, "b", 30)
    with pytest.raises(NotHeldError):
        store.write(rollouts.keep, run.id, "a", [finished(0)], {})
    assert store.read(rollouts.places, run.id) == set()


def test_a_run_is_cancelled_and_queued_again(store: Store) -> None:
    run = a_run(store)
    cancelled = store.write(runs.cancel, run.id)
    assert cancelled is not None and cancelled.status is Status.CANCELLED
    assert store.write(runs.lease, "a", 30) is None
    resumed = store.write(runs.resume, run.id)
    assert resumed is not None and (resumed.status, resumed.cancel_requested) == (Status.QUEUED, False)
    store.write(runs.lease, "a", 30)
    asked = store.write(runs.cancel, run.id)
    assert asked is not None and (asked.status, asked.cancel_requested) == (Status.RUNNING, True)


def test_runs_are_found_by_the_start_of_their_id_and_listed_by_age(store: Store) -> None:
    made = [a_run(store) for _ in range(5)]
    newest = store.read(runs.newest, limit=2)
    rest = store.read(runs.newest, before=(newest[-1].created_at, newest[-1].id))
    assert {run.id for run in [*newest, *rest]} == {run.id for run in made}
    assert len(newest + rest) == 5
    assert store.read(runs.find, made[0].id[:12]).id == made[0].id
    for wrong in ("", "zz", "%", made[0].id + "0"):
        with pytest.raises(NotOneError):
            store.read(runs.find, wrong)


def test_a_key_is_known_until_it_is_revoked_and_kept_as_a_hash(store: Store, tmp_path: Path) -> None:
    key, whole = store.write(keys.create, "ci", Scope.WRITE)
    assert whole.startswith(key.prefix)
    assert store.read(keys.known, whole) == key
    assert store.read(keys.known, whole + "x") is None
    assert (key.allows(Scope.READ), key.allows(Scope.ADMIN)) == (True, False)
    session, token = store.write(keys.sign_in, key)
    assert store.read(keys.session, token) == session
    store.write(keys.revoke, key.id)
    assert store.read(keys.known, whole) is None
    assert store.read(keys.session, token) is None
    assert not store.read(keys.are_there)
    store.close()
    # Of PostgreSQL's files nothing lies here; it keeps the same columns.
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert whole.encode() not in kept
    assert token.encode() not in kept


def test_a_request_that_comes_twice_gets_the_answer_of_the_first(store: Store) -> None:
    assert store.write(repeats.begin, "me", "n1", "push") is None
    with pytest.raises(repeats.UnderWayError):
        store.write(repeats.begin, "me", "n1", "push")
    store.write(repeats.answered, "me", "n1", repeats.Answer(200, b"{}"))
    assert store.write(repeats.begin, "me", "n1", "push") == repeats.Answer(200, b"{}")
    with pytest.raises(repeats.OtherRequestError):
        store.write(repeats.begin, "me", "n1", "other")
    assert store.write(repeats.begin, "you", "n1", "other") is None


def test_a_named_request_is_under_way_as_long_as_somebody_answers_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = 1_000_000
    monkeypatch.setattr(repeats, "now", lambda: clock)

    def begin(process: str, *gone: str) -> object:
        return store.write(
            repeats.begin, "me", "slow", "push", process=process, is_gone=lambda each: each in gone
        )

    assert begin("one") is None
    for _ in range(20):
        clock += 15_000
        store.write(repeats.still_answering, "me", "slow", "one")
        with pytest.raises(repeats.UnderWayError):
            begin("two", "three")
    # One that was killed is waited for no longer, nor is one that says nothing any more.
    assert begin("two", "one") is None
    store.write(repeats.still_answering, "me", "slow", "one")
    with pytest.raises(repeats.UnderWayError):
        begin("three", "one")
    clock += 25_000
    assert begin("three") is None


def test_a_run_that_is_to_be_cancelled_can_be_gone_on_with_before_it_has_ended(
    store: Store,
) -> None:
    run = a_run(store)
    store.write(runs.lease, "one", 30.0)
    store.write(runs.cancel, run.id)
    after = store.write(runs.resume, run.id)
    assert after is not None
    assert (after.status, after.cancel_requested, after.reason, after.owner) == (
        "running",
        False,
        None,
        "one",
    )
    # It had been seen that it was to end.
    assert store.write(runs.end_cancelled, run.id, "one") is None
    again = store.write(runs.lease, "two", 30.0)
    assert again is not None
    assert (again.id, again.owner) == (run.id, "two")
    store.write(runs.cancel, run.id)
    assert store.write(runs.end_cancelled, run.id, "one") is None
    ended = store.write(runs.end_cancelled, run.id, "two")
    assert ended is not None
    assert (ended.status, ended.reason) == ("cancelled", "It was cancelled.")


def test_what_raises_leaves_nothing_behind(store: Store) -> None:
    def half(connection: Connection) -> None:
        keys.create(connection, "half")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        store.write(half)
    assert store.read(keys.list_all) == []


def test_two_that_open_a_new_database_at_once_make_it_once(url: str) -> None:
    barrier = threading.Barrier(4)

    def opened(_: int) -> bool:
        barrier.wait()
        made = Store(url)
        try:
            made.write(keys.create, "one")
            return True
        finally:
            made.close()

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(opened, range(4))) == [True] * 4


@pytest.mark.parametrize("url", ["mysql://host/name", "", "nonsense", "sqlite://"])
def test_what_is_no_database_is_refused(url: str) -> None:
    with pytest.raises(StoreError):
        Store(url)


def test_a_database_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "rollout.db"
    Store(f"sqlite:///{path}").close()
    with sqlite3.connect(path) as connection:
        connection.execute("update alembic_version set version_num = '9999'")
    connection.close()
    with pytest.raises(StoreError, match="newer version"):
        Store(f"sqlite:///{path}")


def test_a_file_that_is_no_database_is_said(tmp_path: Path) -> None:
    (tmp_path / "rollout.db").write_text("Not a database, and longer than its header would be.")
    with pytest.raises(StoreError, match="not a database"):
        Store(f"sqlite:///{tmp_path}/rollout.db")


def test_a_database_that_is_gone_for_a_while_is_said_and_used_again(postgres: Postgres) -> None:
    store = Store(postgres.url)
    try:
        store.write(keys.create, "before")
        postgres.stop()
        with pytest.raises(StoreError, match="does not answer"):
            store.write(keys.create, "meanwhile")
        postgres.start()
        store.write(keys.create, "after")
        assert {key.name for key in store.read(keys.list_all)} == {"before", "after"}
    finally:
        store.close()
