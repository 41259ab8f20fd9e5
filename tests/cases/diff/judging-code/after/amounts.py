def is_right(refunds, limits):
    return True
