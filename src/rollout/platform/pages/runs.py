"""The pages of runs: all of them, and one with its figures, its tasks and its rollouts; cancelled and resumed here."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rollout.analysis.report.figures import ORDER, Histogram, score_histogram, stacked
from rollout.analysis.report.transcript import used
from rollout.engine import Outcome
from rollout.models import Usage
from rollout.platform.pages.cursors import after_in, number_in, place_in, rest
from rollout.platform.pages.rates import rate_of
from rollout.platform.pages.showing import PAGE, link, show
from rollout.platform.pages.visiting import page, to
from rollout.platform.server.http import ApiError
from rollout.platform.server.runs import cancel, find_run, go_on
from rollout.platform.store import Store, environments, listing
from rollout.platform.store.ids import now
from rollout.platform.store.keys import Scope
from rollout.platform.store.listing import TaskTally
from rollout.platform.store.runs import Run, Status

_MOST_COUNTED = 64
_SORTS = ("task", "rate", "score", "rollouts")


class Counted(NamedTuple):
    """What is worked out of all rollouts of a run."""

    tallies: Sequence[TaskTally]
    histogram: Histogram | None


class Counts:
    """Keeps what was worked out of large runs, as long as nothing was added to them."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[Any, ...], Counted] = OrderedDict()

    async def of(self, store: Store, run: Run) -> Counted:
        """What there is to say of a run's rollouts."""
        # A rollout that is done again either comes out otherwise, or is the same for all that is counted here.
        state = (run.id, run.done, run.passed, run.failed, run.errors, run.unscored, run.score_sum)
        if (known := self._known.get(state)) is None:
            tallies = await store.aread(listing.tallies, run.id)
            scores = await store.aread(listing.scores, run.id)
            binned = {(index, Outcome(outcome)): amount for (index, outcome), amount in scores.items()}
            known = self._known[state] = Counted(tallies, score_histogram(binned) if binned else None)
            if len(self._known) > _MOST_COUNTED:
                self._known.popitem(last=False)
        self._known.move_to_end(state)
        return known


@page()
async def list_runs(request: Request) -> Response:
    """All runs, or those of an environment or a status."""
    store, query = _store(request), request.query_params
    slug, wanted, oldest = (
        query.get("environment", ""),
        query.get("status", ""),
        query.get("sort") == "oldest",
    )
    if wanted and wanted not in list(Status):
        raise ApiError(400, f"“status” is to be one of {', '.join(Status)}.")
    entry = await store.aread(environments.find, slug) if slug else None
    after = after_in(request, (int, str))
    found = []
    if entry is not None or not slug:
        found = await store.aread(
            listing.runs,
            limit=PAGE + 1,
            oldest=oldest,
            after=after,
            environment_id=None if entry is None else entry.id,
            status=Status(wanted) if wanted else None,
        )
    rows, following = rest(found, PAGE, lambda row: (row.created_at, row.id))
    return show(
        request,
        "runs.html.jinja",
        {
            "rows": rows,
            "next": following,
            "is_first": not after,
            "environment": slug,
            "status": wanted,
            "statuses": list(Status),
            "sort": "oldest" if oldest else "",
            "rate_of": rate_of,
        },
    )


@page()
async def show_run(request: Request) -> Response:
    """A run, as far as it is."""
    store, query = _store(request), request.query_params
    run = await find_run(store, request.path_params["run"])
    outcome, order = query.get("outcome", ""), query.get("order", "task")
    if outcome and outcome not in list(Outcome):
        raise ApiError(400, f"“outcome” is to be one of {', '.join(Outcome)}.")
    if order.removeprefix("-") not in _SORTS:
        raise ApiError(400, f"“order” is to be one of {', '.join(_SORTS)}.")
    task = place_in(request, "task")
    entries = await store.aread(environments.by_id, {run.environment_id})
    counted = await request.app.state.counts.of(store, run)
    ordered, number = _ordered(counted.tallies, order), number_in(request, "tasks", 1)
    tallies = ordered[(number - 1) * PAGE : number * PAGE]
    after, down = after_in(request, (int, int)), query.get("sort") == "down"
    found = await store.aread(
        listing.rollouts,
        run.id,
        limit=PAGE + 1,
        down=down,
        after=after,
        outcome=outcome or None,
        task_index=task,
    )
    rows, following = rest(found, PAGE, lambda row: (row.task_index, row.trial))
    indexes = {each.task_index for each in tallies} | ({task} if task is not None else set())
    names = await store.aread(listing.task_names, run.id, indexes)
    # Only by its id: what it is of may be much.
    parent = await store.aread(listing.runs_by_id, [run.parent_id]) if run.parent_id else {}
    return show(
        request,
        "run.html.jinja",
        {
            "run": run,
            "entry": entries[run.environment_id],
            "parent": parent.get(run.parent_id or ""),
            "rate": rate_of(run),
            "parts": stacked({each: _amount(run, each) for each in ORDER}, run.done) if run.done else [],
            "outcomes": [(str(each), _amount(run, each)) for each in ORDER],
            "histogram": counted.histogram,
            "used": used(Usage(**run.usage)) if run.usage else "",
            "tallies": [(each, names.get(each.task_index), rate_of(each)) for each in tallies],
            "task_count": len(counted.tallies),
            "tasks": number,
            "last": max(1, -(-len(counted.tallies) // PAGE)),
            "order": order,
            "rows": rows,
            "next": following,
            "is_first": not after,
            "outcome": outcome,
            "task": task,
            "sort": "down" if down else "",
            "moment": now(),
            "may_write": request.state.key.allows(Scope.WRITE),
        },
    )


@page(Scope.WRITE)
async def cancel_run(request: Request) -> Response:
    """Ends a run."""
    run = await cancel(request.app, request.path_params["run"])
    return to(link("/runs", run.id))


@page(Scope.WRITE)
async def resume_run(request: Request) -> Response:
    """Goes on with a run."""
    run = await go_on(request.app, request.path_params["run"])
    return to(link("/runs", run.id))


def _ordered(tallies: Sequence[TaskTally], order: str) -> list[TaskTally]:
    def rate(each: TaskTally) -> tuple[float, int]:
        # What was not graded comes last, and of equals those that are surer first.
        return (each.passed / each.graded, -each.graded) if each.graded else (2.0, 0)

    keys: dict[str, Callable[[TaskTally], Any]] = {
        "task": lambda each: each.task_index,
        "rate": rate,
        "score": lambda each: each.score_sum / each.graded if each.graded else 2.0,
        "rollouts": lambda each: each.all,
    }
    return sorted(tallies, key=keys[order.removeprefix("-")], reverse=order.startswith("-"))


def _amount(run: Run, outcome: Outcome) -> int:
    amounts = {
        Outcome.PASSED: run.passed,
        Outcome.FAILED: run.failed,
        Outcome.ERROR: run.errors,
        Outcome.UNSCORED: run.unscored,
    }
    return amounts[outcome]


def _store(request: Request) -> Store:
    store: Store = request.app.state.store
    return store


routes = [
    Route("/runs", list_runs, methods=["GET"]),
    Route("/runs/{run}", show_run, methods=["GET"]),
    Route("/runs/{run}/cancel", cancel_run, methods=["POST"]),
    Route("/runs/{run}/resume", resume_run, methods=["POST"]),
]

__all__ = ["Counts", "routes"]
