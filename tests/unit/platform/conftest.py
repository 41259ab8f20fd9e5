"""The two databases that the platform keeps its data in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from servers.postgres import Postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with Postgres() as server:
        yield server
