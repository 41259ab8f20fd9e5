import csv
import io

import pytest

from shiftplan import to_csv


def test_one_line_a_person():
    assert to_csv([("Ida Holm", 450, "150.00"), ("Łukasz Nowak", 60, "20.10")]) == (
        "name,time,gross\nIda Holm,7:30,150.00\nŁukasz Nowak,1:00,20.10\n"
    )


@pytest.mark.bug("B-08")
@pytest.mark.parametrize("name", ["Holm, Ida", '"Bee" Holm', "Ida\nHolm", '"', ","])
def test_any_name_comes_back(name):
    text = to_csv([(name, 450, "150.00")])
    assert list(csv.reader(io.StringIO(text, newline="")))[1] == [name, "7:30", "150.00"]
    assert "\r" not in text
