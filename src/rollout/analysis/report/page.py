"""Writes the page: figures first, then a block of data for each rollout, then the script that shows them.

The rollouts are read one by one from a file and written to a second one, so that memory does not grow with their
number. Where they are too much for a browser, transcripts are left out, those of rollouts that passed first.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import rollout
from rollout.analysis.report import ReportError
from rollout.analysis.report.figures import MOST_TASKS, Figures, outcome_parts, task_rates
from rollout.analysis.report.parts import HERE, asset, policy, rendered
from rollout.analysis.report.texts import Texts
from rollout.analysis.report.transcript import row, transcript, used
from rollout.analysis.summary import Brief, Summary, counted_ks
from rollout.engine import Outcome, Trace
from rollout.engine.rollout_line import dump, read_line
from rollout.engine.run_folder import index
from rollout.engine.stored import StoredError, from_json

MOST_BYTES = 64_000_000
"""So many bytes of transcripts are in one page, which a browser opens in a second or two."""

_MOST_BYTES_A_TRANSCRIPT = 1_000_000
_LENGTHS = (50_000, 4_000, 400)
_ROWS_A_BLOCK = 500
_OF_ANOTHER_SHAPE = (AttributeError, KeyError, TypeError, ValueError)
_FRAME_STYLE = (
    ":root{color-scheme:light}"
    "body{font:15px/1.5 system-ui,sans-serif;margin:0;padding:1rem;color:#1b1f24;background:#fff}"
    "header{border-bottom:1px solid #d9dee3;margin-bottom:1rem;padding-bottom:.4rem}code{color:#5f6b76}"
    "table{border-collapse:collapse}td,th{border:1px solid #d9dee3;padding:.2rem .5rem;text-align:left}"
    "a{color:#2f55c8;text-decoration:underline}.form,.section{border-left:3px solid #d9dee3;padding-left:.8rem}"
)


@dataclass(frozen=True, slots=True)
class Run:
    """What a report is made from.

    ``rollouts`` is a file of lines as in a run's journal. ``config`` is its configuration as in ``run.json``,
    ``planned`` how many rollouts it was to have, ``stopped`` why it ended before: None where that is not known. Both
    were told when ``counted`` rollouts were done, and are left out where there are others by now; None is for now.
    ``folder`` is the run's, where all of it is kept. ``secrets`` are texts that must not be shown. ``picture`` gives
    HTML of the page that a rollout ended on, None for a world without pages.
    """

    rollouts: Path
    config: Mapping[str, Any] | None = None
    planned: int | None = None
    stopped: str | None = None
    counted: int | None = None
    folder: str | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)
    picture: Callable[[Trace], str | None] | None = None


def write_page(run: Run, stream: IO[bytes], *, most_bytes: int = MOST_BYTES) -> None:
    """Writes the report of a run.

    Raises ReportError for a line that is no rollout and for a configuration of another shape, OSError for want of room.
    """
    _expect_config(run.config or {})
    with TemporaryFile() as data:
        body = _Body(run, data, most_bytes)
        body.fill()
        stream.write(_head(run, body).encode())
        data.seek(0)
        shutil.copyfileobj(data, stream, 1 << 20)
        stream.write(f"<script>{asset(HERE / 'page.js')}</script>\n</body>\n</html>\n".encode())


class _Body:
    """The data of all rollouts, written to a file while they are counted."""

    def __init__(self, run: Run, data: IO[bytes], most_bytes: int) -> None:
        self.summary = Summary()
        self.figures = Figures()
        self.models: set[str] = set()
        self.environments: set[str] = set()
        self.left_out = 0
        self.texts = Texts(run.secrets)
        self._run = run
        self._data = data
        self._room = most_bytes

    def fill(self) -> None:
        """Reads all rollouts and writes what is to be in the page."""
        places = sorted(index(self._run.rollouts)[0].values())
        passed: list[tuple[int, tuple[int, int]]] = []
        rows: list[dict[str, Any]] = []
        with self._run.rollouts.open("rb") as lines:
            for at, place in enumerate(places):
                line = self._read(lines, place)
                rows.append(self._count(at, line))
                if line["verdict"]["outcome"] == Outcome.PASSED:
                    passed.append((at, place))
                else:
                    self._add(at, line)
                if len(rows) == _ROWS_A_BLOCK:
                    self._write("rows", rows)
                    rows = []
            self._write("rows", rows)
            for done, (at, place) in enumerate(passed):
                if self._room <= 0:
                    self.left_out += len(passed) - done
                    break
                self._add(at, self._read(lines, place))

    def _read(self, lines: IO[bytes], place: tuple[int, int]) -> dict[str, Any]:
        lines.seek(place[0])
        line: dict[str, Any] = read_line(lines.read(place[1]))
        return line

    def _count(self, at: int, line: Mapping[str, Any]) -> dict[str, Any]:
        try:
            told = from_json(line)
            brief = Brief.of_line(line)
            shown = row(brief, told, self.texts)
        except StoredError as error:
            raise self._unread(at, str(error)) from None
        except _OF_ANOTHER_SHAPE as error:
            raise self._unread(at, _shape(error)) from None
        self.summary.add(brief)
        self.figures.add(brief, len(told.trace.calls), shown["marks"])
        self.models.add(told.trace.model)
        self.environments.add(told.trace.environment)
        return {"at": at, **shown}

    def _add(self, at: int, line: Mapping[str, Any]) -> None:
        told = from_json(line)
        picture = None if self._run.picture is None else self._run.picture(told.trace)
        for longest in _LENGTHS:
            try:
                made = transcript(told, line.get("earlier") or (), self.texts.up_to(longest), picture)
            except _OF_ANOTHER_SHAPE as error:
                raise self._unread(at, _shape(error)) from None
            block = _block(f'id="rollout-{at}"', made)
            if len(block) <= min(_MOST_BYTES_A_TRANSCRIPT, self._room):
                self._data.write(block)
                self._room -= len(block)
                return
        self.left_out += 1
        if len(block) > self._room:
            # What comes after would not be missed for its own size.
            self._room = 0

    def _unread(self, at: int, what: str) -> ReportError:
        return ReportError(f"Rollout {at + 1} of “{self._run.rollouts}” {what}.", "Take its line out.")

    def _write(self, name: str, value: Any) -> None:
        self._data.write(_block(f'class="{name}"', value))


def _shape(error: Exception) -> str:
    return f"has parts that cannot be read ({type(error).__name__}: {error})"


def _block(attribute: str, value: Any) -> bytes:
    """JSON in an element that is no script to a browser; nothing in it can end the element or begin another."""
    data = dump(value)
    for character in b"<>&":
        data = data.replace(bytes([character]), b"\\u%04x" % character)
    return b'<script type="application/json" %s>%s</script>\n' % (attribute.encode(), data.rstrip(b"\n"))


def _head(run: Run, body: _Body) -> str:
    return rendered(HERE / "page.html.jinja", _told(run, body))


def _told(run: Run, body: _Body) -> dict[str, Any]:
    summary, texts, config = body.summary, body.texts, run.config or {}
    inputs = config.get("inputs") or {}
    is_of_now = run.counted in (None, summary.tally.all)
    rates = task_rates(summary, texts)
    names = sorted({*([inputs["model"]] if "model" in inputs else []), *body.models})
    return {
        "policy": policy(styles=[asset(HERE / "page.css"), _FRAME_STYLE], scripts=[asset(HERE / "page.js")]),
        "style": asset(HERE / "page.css"),
        "frame_style": _FRAME_STYLE,
        "version": rollout.__version__,
        "environment": texts.line(
            config.get("environment") or ", ".join(sorted(body.environments)) or "no rollouts", 120
        ),
        "models": texts.line(", ".join(names), 200),
        "begun": texts.line(config.get("begun", "")).replace("T", " ").removesuffix("Z")
        + (" UTC" if config.get("begun") else ""),
        "settings": [(texts.line(name), texts.line(value)) for name, value in _settings(config)],
        "planned": run.planned if is_of_now else None,
        "stopped": texts.line(run.stopped) if is_of_now and run.stopped is not None else None,
        "left_out": body.left_out,
        "folder": None if run.folder is None else texts.line(run.folder),
        "summary": summary,
        "tally": summary.tally,
        "figures": summary.data(),
        "outcomes": outcome_parts(summary),
        "primitives": body.figures.primitives(),
        "histograms": body.figures.histograms(),
        "means": body.figures.means(),
        "task_count": len(rates),
        "tasks": rates[:MOST_TASKS],
        "more_tasks": max(0, len(rates) - MOST_TASKS),
        "passes": list(_passes(summary)),
        "used": used(summary.usage + summary.judge_usage),
        "used_by_judges": used(summary.judge_usage),
    }


def _expect_config(config: Mapping[str, Any]) -> None:
    inputs = config.get("inputs") or {}
    if (
        not isinstance(inputs, Mapping)
        or not isinstance(inputs.get("model", ""), str)
        or not isinstance(inputs.get("sampling") or {}, Mapping)
        or not isinstance(config.get("options") or {}, Mapping)
    ):
        raise ReportError(
            "What the run was begun with cannot be read: its run.json is not as it was written.",
            "A copy of its rollouts.jsonl elsewhere has a report without that.",
        )


def _passes(summary: Summary) -> Iterator[tuple[int, float, float, int]]:
    for k in counted_ks(summary.most_trials):
        at, hat = summary.pass_at(k), summary.pass_hat(k)
        if at is not None and hat is not None:
            yield k, at.value, hat.value, at.tasks


def _settings(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The configuration in words, a line each. Where the environment is on whose machine is nobody else's business."""
    names = {"version": "rollout", "begun": "begun", "template": "template", "digest": "digest"}
    yield from ((shown, str(config[name])) for name, shown in names.items() if name in config)
    inputs = dict(config.get("inputs") or {})
    sampling = inputs.pop("sampling", None) or {}
    for part in ("environment", "tasks", "solutions", "verifier"):
        if (found := inputs.pop(part, None)) is not None:
            yield f"digest of {part}", str(found)
    options = {**(config.get("options") or {}), **inputs, **sampling}
    for name, value in options.items():
        if name != "path" and value is not None and value is not False:
            yield name.replace("_", " "), "yes" if value is True else str(value)


__all__ = ["MOST_BYTES", "Run", "write_page"]
