import pytest

from shiftplan import Shift, merge, overlaps, total_minutes

EARLY, DAY, LATE = Shift(360, 840), Shift(480, 960), Shift(840, 1320)


def test_a_shift_has_a_length():
    with pytest.raises(ValueError):
        Shift(600, 600)


def test_overlapping_shifts():
    assert overlaps(EARLY, DAY)
    assert overlaps(DAY, LATE)
    assert not overlaps(EARLY, Shift(900, 960))


@pytest.mark.bug("B-04")
def test_a_hand_over_is_no_overlap():
    assert not overlaps(EARLY, LATE) and not overlaps(LATE, EARLY)


def test_merging_joins_what_touches():
    assert merge([LATE, EARLY]) == [Shift(360, 1320)]
    assert merge([Shift(0, 60), Shift(120, 180)]) == [Shift(0, 60), Shift(120, 180)]


@pytest.mark.bug("B-03")
def test_merging_keeps_the_longer_shift():
    assert merge([Shift(360, 1320), Shift(480, 540)]) == [Shift(360, 1320)]


@pytest.mark.bug("B-03")
def test_time_covered_twice_counts_once():
    assert total_minutes([Shift(0, 600), Shift(60, 120), Shift(500, 560), Shift(590, 660)]) == 660
