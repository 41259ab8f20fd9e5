"""What a parcel costs."""


def postage(grams):
    """The price in euros of a parcel of so many grams."""
    if grams <= 1000:
        return 3.9
    if grams <= 5000:
        return 6.5
    return 11.2
