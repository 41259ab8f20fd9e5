import postage


def test_price():
    assert postage.price(1) == 3
