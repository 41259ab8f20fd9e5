"""The platform: what the client asks, what the server answers, and the store beneath it.

The public names are loaded when they are first used.
"""

from __future__ import annotations
