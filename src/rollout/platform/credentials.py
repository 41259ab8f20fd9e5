"""The keys of this user, one for each endpoint: a JSON object in a file that nobody else may read.

The file is the published client's, which takes every name in it for an endpoint. So the endpoint that was chosen at
``rollout login`` stands in a file of its own beside it.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class CredentialsError(ValueError):
    """Credentials that cannot be used; the text is a sentence, ``hint`` the way out."""

    def __init__(self, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.hint = hint


def folder() -> Path:
    """``rollout`` in the user's folder of configuration, which XDG_CONFIG_HOME names or else is ``~/.config``."""
    named = os.environ.get("XDG_CONFIG_HOME", "")
    # The XDG Base Directory Specification has relative ones ignored.
    base = Path(named) if Path(named).is_absolute() else Path.home() / ".config"
    return base / "rollout"


def key_of(endpoint: str) -> str | None:
    """The key that was saved for an endpoint. Raises CredentialsError."""
    return _keys().get(endpoint)


def endpoints() -> list[str]:
    """The endpoints that there are keys for. Raises CredentialsError."""
    return list(_keys())


def save(endpoint: str, key: str) -> None:
    """Keeps a key for an endpoint. Raises CredentialsError."""
    _change(lambda keys: keys.update({endpoint: key}))


def forget(endpoint: str) -> bool:
    """Removes the key of an endpoint; whether there was one. Raises CredentialsError."""
    if endpoint not in _keys():
        return False
    _change(lambda keys: keys.pop(endpoint, None))
    return True


def default_endpoint() -> str | None:
    """The endpoint that was chosen at ``rollout login``."""
    try:
        return (folder() / "endpoint").read_text().strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def choose_endpoint(endpoint: str | None) -> None:
    """Makes an endpoint the one that is asked where none is named; None for the hosted one. Raises CredentialsError."""
    path = folder() / "endpoint"
    if endpoint is None:
        with suppress(FileNotFoundError):
            path.unlink()
        return
    _write(path, f"{endpoint}\n")


def _keys() -> dict[str, str]:
    path = folder() / "credentials"
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            data = file.read()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise CredentialsError(
            f"“{path}” cannot be read: {error.strerror}.", "Set ROLLOUT_API_KEY to the key instead."
        ) from None
    if os.name == "posix" and mode & _OTHERS:
        raise CredentialsError(
            f"Others can read “{path}”, which holds your keys.",
            f"Take that away with: chmod 600 {path}",
        )
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value.values()):
        raise CredentialsError(
            f"“{path}” does not hold keys by endpoint.", "Remove it, and log in again: rollout login"
        )
    return value


def _change(change: Callable[[dict[str, str]], Any]) -> None:
    path = folder() / "credentials"
    with _locked(folder()):
        keys = _keys()
        change(keys)
        _write(path, json.dumps(keys, indent=2) + "\n")


@contextmanager
def _locked(place: Path) -> Any:
    """Two logins at once keep both keys."""
    _make(place)
    with (place / "lock").open("a") as file:
        with suppress(ImportError, OSError):
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _write(path: Path, text: str) -> None:
    """The whole file or the old one, and never one that others could have read for a moment."""
    _make(path.parent)
    try:
        # mkstemp makes it with mode 0600.
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "w") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink()
            raise
    except OSError as error:
        raise CredentialsError(
            f"“{path}” cannot be written: {error.strerror}.", "Set ROLLOUT_API_KEY to the key instead."
        ) from None


def _make(place: Path) -> None:
    try:
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise CredentialsError(
            f"The folder “{place}” cannot be made: {error.strerror}.",
            "Set ROLLOUT_API_KEY to the key instead.",
        ) from None


__all__ = [
    "CredentialsError",
    "choose_endpoint",
    "default_endpoint",
    "endpoints",
    "folder",
    "forget",
    "key_of",
    "save",
]
