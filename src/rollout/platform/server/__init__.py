"""The platform's application: what the API answers, who may ask, and the runs that it executes.

:func:`rollout.platform.server.app.application` makes it of a store; `rollout serve` and ``local`` both run that.
"""

from __future__ import annotations
