"""Searches for regular expressions, one request a line, in a process that can be ended. Run by itself, not imported.

A request is ``[pattern, flags, text]`` in JSON, the answer ``[start, end]``, null for no match, or a sentence that
says why the pattern cannot be used. It ends with its input.
"""

from __future__ import annotations

import json
import os
import re
import sys
import warnings


def main() -> None:
    """Answers until there is nothing more to read."""
    warnings.simplefilter("ignore")
    answers = os.fdopen(1, "wb", buffering=0)
    for line in sys.stdin.buffer:
        pattern, flags, text = json.loads(line)
        try:
            found = re.compile(pattern, flags).search(text)
            answer: list[int] | str | None = None if found is None else list(found.span())
        except (re.error, RecursionError, OverflowError, MemoryError) as error:
            answer = str(error) or type(error).__name__
        answers.write(json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main()
