from pathlib import Path

from postage import postage


def test_follows_the_list():
    prices = [float(line.split(": ")[1]) for line in Path("RATES.txt").read_text().splitlines()]
    assert [postage(1), postage(5000), postage(5001)] == prices


def test_weight_counts():
    assert postage(1) < postage(5000) < postage(5001)
