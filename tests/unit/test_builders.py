"""The builders write the shapes that the published SDK writes."""

from __future__ import annotations

from typing import Any

import pytest

from rollout import (
    action_tool,
    browser_config,
    browser_page,
    code_editing_config,
    custom_config,
    custom_tool,
    lookup_tool,
    mock_tool,
    primitive,
    verifier_config,
    workflow_config,
)


def test_a_lookup_tool_names_its_fixture_and_the_field_that_must_match() -> None:
    assert lookup_tool(
        "get_order",
        from_array="orders",
        match_field="id",
        description="Read an order.",
        params_schema={"id": "string"},
    ) == {
        "kind": "lookup",
        "name": "get_order",
        "description": "Read an order.",
        "paramsSchema": {"id": "string"},
        "fromArray": "orders",
        "matchField": "id",
    }


def test_an_action_tool_names_the_state_array_it_appends_to() -> None:
    assert action_tool("refund", state_array="refunds", description="Issue a refund.") == {
        "kind": "action",
        "name": "refund",
        "description": "Issue a refund.",
        "paramsSchema": {},
        "stateArray": "refunds",
    }


@pytest.mark.parametrize("response", [None, 0, False, "", [], {}, {"ok": True}])
def test_a_mock_tool_keeps_its_response_as_given_even_when_it_is_falsy(response: Any) -> None:
    tool = mock_tool("ping", description="Say pong.", response=response)
    assert tool == {
        "kind": "mock",
        "name": "ping",
        "description": "Say pong.",
        "paramsSchema": {},
        "response": response,
    }
    assert type(tool["response"]) is type(response)


def test_a_custom_tool_has_a_response_and_mutates_only_when_told() -> None:
    assert custom_tool("look", description="Look around.") == {
        "name": "look",
        "description": "Look around.",
        "paramsSchema": {},
        "response": None,
    }
    assert custom_tool(
        "open",
        description="Open the door.",
        params_schema={"door": "string"},
        response={"opened": "${args.door}"},
        mutates={"path": "door.open", "value": True},
    ) == {
        "name": "open",
        "description": "Open the door.",
        "paramsSchema": {"door": "string"},
        "response": {"opened": "${args.door}"},
        "mutates": {"path": "door.open", "value": True},
    }


def test_a_custom_tool_with_cases_has_no_answer_of_its_own_unless_told() -> None:
    cases = [{"when": "args.n > vars.most", "error": "Too many."}, {"response": "${args.n}"}]
    most = {"most": "10"}
    tool = custom_tool(
        "take", description="Take some.", params_schema={"n": "number"}, vars=most, cases=cases
    )
    assert tool == {
        "name": "take",
        "description": "Take some.",
        "paramsSchema": {"n": "number"},
        "vars": {"most": "10"},
        "cases": cases,
    }
    assert custom_tool("take", description="Take some.", response=False, cases=cases)["response"] is False


def test_a_custom_tool_may_mutate_several_paths() -> None:
    changes = [{"path": "a", "value": 1}, {"path": "log[]", "value": "a"}]
    assert custom_tool("set", description="Set a.", mutates=changes)["mutates"] == changes


def test_configs_leave_out_what_was_not_given_and_keep_what_is_empty() -> None:
    assert workflow_config(tools=[]) == {"tools": []}
    assert workflow_config(tools=[{}], fixtures={}, initial_mutable_state={}, description="") == {
        "tools": [{}],
        "description": "",
        "fixtures": {},
        "initialMutableState": {},
    }
    assert custom_config(tools=[]) == {"tools": []}
    assert custom_config(tools=[], initial_state={"n": 0}, description="d") == {
        "tools": [],
        "description": "d",
        "initialState": {"n": 0},
    }
    assert code_editing_config(files={"a.py": "x = 1\n"}) == {"files": {"a.py": "x = 1\n"}}
    assert code_editing_config(files={}, description="d") == {"files": {}, "description": "d"}


def test_a_browser_config_opens_one_of_its_pages() -> None:
    page = browser_page("/", title="Home", elements=[{"id": "go", "type": "link", "href": "/cart"}])
    assert page == {
        "url": "/",
        "title": "Home",
        "elements": [{"id": "go", "type": "link", "href": "/cart"}],
    }
    assert browser_config(initial_url="/", pages=[page]) == {"initialUrl": "/", "pages": [page]}
    assert browser_config(initial_url="/", pages=[], description="d")["description"] == "d"


def test_keys_stand_in_the_published_order() -> None:
    tool = lookup_tool("t", from_array="a", match_field="b", description="c")
    assert list(tool) == ["kind", "name", "description", "paramsSchema", "fromArray", "matchField"]
    config = workflow_config(tools=[], fixtures={}, initial_mutable_state={}, description="d")
    assert list(config) == ["tools", "description", "fixtures", "initialMutableState"]


def test_a_primitive_carries_the_options_of_its_type_whatever_they_are() -> None:
    assert primitive("called", "tool_was_called", tool="refund", weight=None, **{"not": True}) == {
        "name": "called",
        "type": "tool_was_called",
        "tool": "refund",
        "weight": None,
        "not": True,
    }


def test_a_verifier_lists_its_primitives_in_order() -> None:
    first, second = primitive("a", "no_tool_errors"), primitive("b", "contains_terms", terms=["x"])
    assert verifier_config(first, second) == {"primitives": [first, second]}
    assert verifier_config() == {"primitives": []}


def test_a_list_of_primitives_without_its_star_is_refused_with_the_way_out() -> None:
    with pytest.raises(TypeError, match=r"verifier_config\(\*primitives\)"):
        verifier_config([primitive("a", "no_tool_errors")])  # type: ignore[arg-type]
