def is_right(refunds, limits):
    return len(refunds) == 1 and refunds[0]["amount"] <= limits["most"]
