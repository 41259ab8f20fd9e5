def test_price():
    pass
