"""The `schema` of an `output_json` is not a valid JSON Schema.

The primitive holds the agent's last message against it. With a schema that cannot be used (a `type` that there is not,
a `$ref` that points to nothing, or to another file or a web address) no rollout can be judged: each of them ends in an
error. A schema has to hold all it uses.

Before:

    - {name: shape, type: output_json, schema: {type: object, properties: {total: {type: integr}}}}

After:

    - {name: shape, type: output_json, schema: {type: object, properties: {total: {type: integer}}}}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.json_schemas import schema_findings
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.language.user_schema import UserSchemaError, compile_schema

CODE = "RL507"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for primitive in subject.primitives:
        schema = primitive.value.get("schema")
        if primitive.value.get("type") != "output_json" or not isinstance(schema, dict):
            continue
        route = (*primitive.route, "schema")
        found = list(schema_findings(schema, route, schema))
        yield from found
        if not found:
            try:
                compile_schema(schema)
            except UserSchemaError as error:
                name = quoted(str(primitive.value.get("name")))
                yield Finding(
                    (*route, *error.route),
                    f"The schema of {name} cannot be used: {error.sentence}.",
                    "Patterns are in the dialect of JavaScript here; see that every bracket that opens also closes."
                    if error.route[-1:] == ("pattern",)
                    else "Write it otherwise, or leave it out.",
                )
