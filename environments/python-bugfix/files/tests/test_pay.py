from decimal import Decimal

import pytest

from shiftplan import gross_pay


def test_pays_by_the_minute():
    assert gross_pay(450, "20.00") == Decimal("150.00")
    assert gross_pay(480, "18.64", night_minutes=120) == Decimal("158.44")


def test_night_work_is_work():
    with pytest.raises(ValueError):
        gross_pay(60, "20", night_minutes=61)


@pytest.mark.bug("B-05")
@pytest.mark.parametrize(
    ("minutes", "hourly", "due"), [(15, "18.10", "4.53"), (30, "17.05", "8.53"), (45, "19.02", "14.27")]
)
def test_half_a_cent_is_rounded_up(minutes, hourly, due):
    assert gross_pay(minutes, hourly) == Decimal(due)
