"""Making a better model of rollouts: what it is trained on, and the providers that train it."""

from __future__ import annotations
