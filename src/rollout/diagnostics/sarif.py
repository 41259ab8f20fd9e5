"""For code scanning: SARIF 2.1.0, with each rule's story beside its findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rollout import __version__
from rollout.diagnostics import Diagnostic, Span
from rollout.diagnostics._visible import dump_json
from rollout.family import member

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_HOME = "https://rollout.mv37.org"


def render(diagnostics: Sequence[Diagnostic], *, color: bool = False, checked: Sequence[str] = ()) -> str:
    """One run. Regions count code points; a fingerprint holds while a finding only moves to another line."""
    rules = {diagnostic.code: diagnostic for diagnostic in reversed(diagnostics)}
    codes = sorted(rules)
    seen: Counter[str] = Counter()
    results = []
    for diagnostic in diagnostics:
        mark = _fingerprint(diagnostic)
        seen[mark] += 1
        results.append(_result(diagnostic, codes.index(diagnostic.code), f"{mark}:{seen[mark]}"))
    driver = {
        "name": "rollout",
        "version": __version__,
        "informationUri": _HOME,
        "rules": [_rule(rules[code]) for code in codes],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return dump_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(diagnostic: Diagnostic) -> dict[str, Any]:
    rule: dict[str, Any] = {
        "id": diagnostic.code,
        "name": diagnostic.slug,
        "helpUri": f"{_HOME}/docs/rules/{diagnostic.slug}",
        "defaultConfiguration": {"level": diagnostic.severity.value},
    }
    families = ("rollout.check.rules", "rollout.check.problems")
    module = next((found for family in families if (found := member(family, diagnostic.slug))), None)
    if module is not None and module.__doc__:
        first, _, story = module.__doc__.strip().partition("\n")
        rule["shortDescription"] = {"text": first}
        rule["fullDescription"] = {"text": story.strip() or first}
        rule["help"] = {"text": module.__doc__.strip(), "markdown": module.__doc__.strip()}
    return rule


def _result(diagnostic: Diagnostic, rule_index: int, fingerprint: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule_index,
        "level": diagnostic.severity.value,
        "message": {"text": "\n".join(filter(None, (diagnostic.message, diagnostic.hint)))},
        "locations": [{"physicalLocation": _location(diagnostic.span)}],
        "partialFingerprints": {"rollout/v1": fingerprint},
    }
    if diagnostic.related:
        result["relatedLocations"] = [
            {"id": number, "message": {"text": related.message}, "physicalLocation": _location(related.span)}
            for number, related in enumerate(diagnostic.related, start=1)
        ]
    return result


def _location(span: Span) -> dict[str, Any]:
    return {
        "artifactLocation": _artifact(span.path),
        "region": {
            "startLine": span.line,
            "startColumn": span.column,
            "endLine": span.end_line,
            "endColumn": span.end_column,
        },
    }


def _artifact(path: str) -> dict[str, str]:
    """A relative URI below the folder that the command ran in, or a ``file:`` URI for an absolute path."""
    if Path(path).is_absolute():
        return {"uri": Path(path).as_uri()}
    return {"uri": quote(path.replace("\\", "/"), safe="/", errors="surrogatepass"), "uriBaseId": "%SRCROOT%"}


def _fingerprint(diagnostic: Diagnostic) -> str:
    facts = (diagnostic.slug, diagnostic.span.path, diagnostic.span.text.strip(), diagnostic.message)
    return sha256("\0".join(facts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


__all__ = ["render"]
