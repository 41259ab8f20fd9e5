"""The OpenAPI document and the server say the same, whatever is sent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from servers.rollout_server import Platform
from starlette.routing import Route

from rollout.platform.server.app import application
from rollout.platform.server.runner import Runner
from rollout.platform.store import Store

UNTOLD = {"/api/openapi.json"}
"""The document itself."""


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    with Platform(tmp_path_factory.mktemp("platform") / "data") as made:
        yield made


def test_every_route_of_the_api_is_in_it_and_no_other(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/rollout.db")
    try:
        app = application(store, Runner(store))
        routes = {
            (route.path, method.lower())
            for route in app.routes
            if isinstance(route, Route) and route.path.startswith(("/api/", "/metrics"))
            for method in route.methods or ()
            if method != "HEAD"
        }
    finally:
        store.close()
    told = {
        (path, method)
        for path, methods in contract()["paths"].items()
        for method in methods
        if method in ("get", "post", "put", "delete")
    }
    assert {route for route in routes if route[0] not in UNTOLD} == told


def contract() -> Any:
    from rollout.platform.server.health import _contract

    return _contract()


schema = schemathesis.openapi.from_dict(contract())


@schema.parametrize()
@settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_whatever_is_sent_is_answered_as_it_says(case: Any, platform: Platform) -> None:
    case.headers = {**(case.headers or {}), "Authorization": f"Bearer {platform.key}"}
    case.call_and_validate(
        base_url=platform.address,
        excluded_checks=[
            check
            for check in schemathesis.checks.CHECKS.get_all()
            if check.__name__
            not in (
                "not_a_server_error",
                "status_code_conformance",
                "content_type_conformance",
                "response_schema_conformance",
            )
        ],
    )


def test_it_is_served(platform: Platform) -> None:
    assert httpx.get(f"{platform.address}/api/openapi.json").json() == contract()
