def read_orders(text):
    return [int(part) for part in text.split(";")]
