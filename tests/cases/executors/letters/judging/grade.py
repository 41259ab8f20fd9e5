"""Judges letters."""

from judging.words import GREETINGS


def polite(case):
    """Whether every letter begins with a greeting."""
    rude = [each["text"] for each in case["final_state"]["sent"] if not each["text"].startswith(GREETINGS)]
    return not rude, f"{len(rude)} of the letters begin without a greeting"
