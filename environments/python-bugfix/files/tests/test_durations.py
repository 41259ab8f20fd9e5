import pytest

from shiftplan import format_minutes, parse_duration


@pytest.mark.parametrize(("text", "minutes"), [("7h30", 450), ("7:30", 450), ("450m", 450), ("45 min", 45), ("0:05", 5)])
def test_reads_hours_and_minutes(text, minutes):
    assert parse_duration(text) == minutes


@pytest.mark.parametrize("text", ["", "h", "7h75", "seven", "-3h10", "7:", "7h30x"])
def test_refuses_what_is_no_duration(text):
    with pytest.raises(ValueError):
        parse_duration(text)


@pytest.mark.bug("B-01")
@pytest.mark.parametrize(("text", "minutes"), [("7h", 420), ("10 h", 600), ("0h", 0), (" 24H ", 1440)])
def test_reads_whole_hours(text, minutes):
    assert parse_duration(text) == minutes


@pytest.mark.parametrize(("minutes", "text"), [(450, "7:30"), (0, "0:00"), (59, "0:59"), (6000, "100:00")])
def test_formats_minutes(minutes, text):
    assert format_minutes(minutes) == text


@pytest.mark.bug("B-02")
@pytest.mark.parametrize(("minutes", "text"), [(-90, "-1:30"), (-1, "-0:01"), (-61, "-1:01"), (-605, "-10:05")])
def test_formats_negative_balances(minutes, text):
    assert format_minutes(minutes) == text
