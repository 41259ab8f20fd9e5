from datetime import date

import pytest

from shiftplan import add_workdays, week_label


def test_weekends_do_not_count():
    assert add_workdays(date(2025, 3, 6), 3) == date(2025, 3, 11)
    assert add_workdays(date(2025, 3, 8), 0) == date(2025, 3, 8)


def test_holidays_do_not_count():
    assert add_workdays(date(2025, 4, 17), 2, holidays=[date(2025, 4, 18), date(2025, 4, 21)]) == date(2025, 4, 23)


@pytest.mark.bug("B-06")
def test_holidays_are_forgotten_after_the_call():
    add_workdays(date(2031, 5, 1), 5, holidays=[date(2031, 5, 8)])
    assert add_workdays(date(2031, 5, 7), 1) == date(2031, 5, 8)


def test_weeks_in_the_middle_of_the_year():
    assert week_label(date(2024, 2, 28)) == "2024-W09"
    assert week_label(date(2025, 7, 1)) == "2025-W27"


@pytest.mark.bug("B-07")
@pytest.mark.parametrize(
    ("day", "label"),
    [(date(2024, 12, 30), "2025-W01"), (date(2021, 1, 3), "2020-W53"), (date(2027, 1, 1), "2026-W53")],
)
def test_weeks_around_new_year(day, label):
    assert week_label(day) == label
