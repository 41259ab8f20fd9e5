"""What a model costs: as the project's settings say, else by a small dated table, else unknown."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

from rollout.settings import Price, Settings

_DATE = re.compile(r"-\d{4}-\d{2}-\d{2}$")


def price_of(model_id: str, settings: Settings, *, listed: bool = True) -> Price | None:
    """The price of a model by the id it is asked for by, or None, which is not to be taken for nothing.

    ``listed`` is False for a server of the user's own, whose prices only the settings know.
    """
    known = settings.prices.get(model_id)
    if known is not None or not listed:
        return known
    return _table().get(model_id) or _table().get(_DATE.sub("", model_id))


@cache
def _table() -> dict[str, Price]:
    text = Path(__file__).with_name("prices.json").read_text(encoding="utf-8")
    return {model: Price(**price) for model, price in json.loads(text)["prices"].items()}


__all__ = ["price_of"]
