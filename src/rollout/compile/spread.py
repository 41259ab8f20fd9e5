"""A compiled payload back to the files of a folder, laid out and written so that people can review them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from rollout.compile.file_name import can_be_path, can_be_stem, fit_together, stem_from
from rollout.compile.toml_text import write_toml
from rollout.compile.yaml_text import write_yaml
from rollout.language.compiled_parts import plain_text
from rollout.source.contract import schema
from rollout.source.layout import spreads
from rollout.source.place import Route

_ROWS_ONE_A_LINE = 40
_LONGEST_YAML = 200_000
_LINE_BREAKS = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")
_NOT_IN_A_FILE = re.compile("^\ufeff|[\0\r\ud800-\udfff]")

Comments = Mapping[Route, str]


def spread(
    payload: Mapping[str, Any],
    *,
    toml: bool = False,
    one_file: bool = False,
    comments: Comments | None = None,
) -> dict[str, str]:
    """The folder that compiles to ``payload``: relative posix path → text.

    ``payload`` has ``environment`` and ``verifier`` as in the compiled file. With ``toml`` each file that TOML can say
    is TOML; with ``one_file`` everything is in one environment file. ``comments`` are written above what stands at
    their route, such as ``("config", "tools", 0)``; routes are those of one file that holds everything.
    Every path is plain and relative: fixtures and files of which one has a name that is no safe file name stay in
    ``config.yaml``.
    """
    whole = _whole(payload)
    remarks = dict(comments or {})
    writer = _Folder(toml, remarks)
    if one_file:
        writer.add("environment", whole, "environment", ())
        return writer.files
    config = whole.pop("config", None)
    if config is not None:
        writer.add_config(dict(config), whole["template"])
        if config == {}:
            whole["config"] = {}
    if _belongs_in_a_file(whole.get("description"), several_lines=True):
        writer.files["description.md"] = f"{plain_text(whole.pop('description'))}\n"
    for key in ("schema", "seed"):
        if _belongs_in_a_file(whole.get(key)):
            writer.files[f"{key}.sql"] = f"{plain_text(whole.pop(key))}\n"
    if (verifier := whole.pop("verifier", None)) is not None:
        writer.add("verifier", verifier, "verifier", ("verifier",))
    if tasks := whole.get("tasks"):
        del whole["tasks"]
        writer.files["tasks.jsonl"] = "".join(f"{_json_line(task)}\n" for task in tasks)
    writer.add("environment", whole, "environment", ())
    return dict(sorted(writer.files.items()))


class _Folder:
    def __init__(self, toml: bool, comments: Comments) -> None:
        self.files: dict[str, str] = {}
        self._toml = toml
        self._comments = comments

    def add(self, stem: str, value: dict[str, Any], contract: str, route: Route) -> None:
        """Writes one file of the format, with the line that tells an editor its schema."""
        below = {
            other[len(route) :]: words
            for other, words in self._comments.items()
            if other[: len(route)] == route and len(other) > len(route)
        }
        top = "".join(
            f"# {line}".rstrip() + "\n" for line in self._comments.get(route, "").split("\n") if line
        )
        address = schema(contract)["$id"]
        if self._toml:
            try:
                body = write_toml(value, comments=below)
            except ValueError:
                pass
            else:
                self.files[f"{stem}.toml"] = f"#:schema {address}\n{top}{body}"
                return
        head = f"# yaml-language-server: $schema={address}\n{top}"
        self.files[f"{stem}.yaml"] = head + write_yaml(value, comments=below)

    def add_config(self, config: dict[str, Any], template: str) -> None:
        """Writes the config, and its fixtures, files or pages into folders of their own where their names allow."""
        for key, kind in spreads(template).items():
            value = config.get(key)
            if kind == "page":
                if pages := _page_files(value, toml=self._toml):
                    del config[key]
                    self.files.update(pages)
            elif isinstance(value, dict):
                moved = _fixture_files(value, toml=self._toml) if kind == "data" else _source_files(value)
                # A key lives in one place: one name that is no file name keeps all of them in config.yaml.
                if moved and len(moved) == len(value):
                    del config[key]
                    self.files.update(moved.values())
        if config:
            self.add("config", config, template, ("config",))


def _whole(payload: Mapping[str, Any]) -> dict[str, Any]:
    whole = dict(payload["environment"])
    if "tasks" in whole:
        # Tasks go last: everything else is easier to find above a long list.
        whole["tasks"] = [_task_as_authored(task) for task in whole.pop("tasks")]
    if payload.get("verifier") is not None:
        tasks = whole.pop("tasks", None)
        whole["verifier"] = payload["verifier"]
        if tasks is not None:
            whole["tasks"] = tasks
    return whole


def _task_as_authored(task: Mapping[str, Any]) -> dict[str, Any]:
    authored = {"hidden_ground_truth" if key == "hiddenGroundTruth" else key: task[key] for key in task}
    if authored.get("hidden_ground_truth") == {}:
        del authored["hidden_ground_truth"]
    return authored


def _fixture_files(fixtures: dict[str, Any], *, toml: bool) -> dict[str, tuple[str, str]]:
    fitting = fit_together([name for name in fixtures if can_be_stem(name)])
    return {name: _fixture_file(f"fixtures/{name}", fixtures[name], toml=toml) for name in fitting}


def _fixture_file(path: str, value: Any, *, toml: bool) -> tuple[str, str]:
    if _is_long_table(value):
        return f"{path}.jsonl", "".join(f"{_json_line(row)}\n" for row in value)
    name, text = _data_file(path, value, toml=toml)
    if len(text) <= _LONGEST_YAML:
        return name, text
    return f"{path}.json", f"{_escape(json.dumps(value, ensure_ascii=False, indent=1))}\n"


def _data_file(path: str, value: Any, *, toml: bool) -> tuple[str, str]:
    """The name and the text of a file of data: TOML where it is wanted and can say it, else YAML."""
    if toml:
        stem = path.rpartition("/")[2]
        # TOML has only tables at its top: a list is written under the file's own name, and read from there.
        table = {stem: value} if isinstance(value, list) else value
        reads_as_list = isinstance(value, dict) and list(value) == [stem] and isinstance(value[stem], list)
        # An empty table would be an empty file, which reads as one that was never saved.
        if isinstance(table, dict) and table and not reads_as_list:
            try:
                return f"{path}.toml", write_toml(table)
            except ValueError:
                pass
    return f"{path}.yaml", write_yaml(value)


def _is_long_table(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) >= _ROWS_ONE_A_LINE
        and all(isinstance(row, dict) for row in value)
    )


def _source_files(contents: dict[str, Any]) -> dict[str, tuple[str, str]]:
    # A NUL would make a file binary.
    fitting = fit_together(
        [
            path
            for path, text in contents.items()
            if can_be_path(path) and isinstance(text, str) and "\0" not in text
        ]
    )
    return {path: (f"files/{path}", contents[path]) for path in fitting}


def _page_files(pages: Any, *, toml: bool) -> dict[str, str]:
    if not isinstance(pages, list) or len(pages) < 2 or not all(isinstance(page, dict) for page in pages):
        return {}
    width = len(str(len(pages)))
    stems: list[str] = []
    for page in pages:
        stems.append(stem_from(str(page.get("url", "")), stems))
    # The number keeps the pages in their order, which is part of the payload.
    names = [f"{number:0{width}}-{stem}" for number, stem in enumerate(stems, start=1)]
    return dict(_data_file(f"pages/{name}", page, toml=toml) for name, page in zip(names, pages, strict=True))


def _belongs_in_a_file(text: Any, *, several_lines: bool = False) -> bool:
    if not isinstance(text, str) or not plain_text(text) or _NOT_IN_A_FILE.search(plain_text(text)):
        return False
    return not several_lines or "\n" in plain_text(text)


def _json_line(value: Any) -> str:
    return _escape(json.dumps(value, ensure_ascii=False, allow_nan=False))


def _escape(text: str) -> str:
    # Some tools end a line at U+2028 or U+0085; escaped they are the same text.
    return _LINE_BREAKS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


__all__ = ["Comments", "spread"]
