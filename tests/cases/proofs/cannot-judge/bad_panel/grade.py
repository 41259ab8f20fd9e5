def grade(case):
    if not case["final_state"]["refunds"]:
        return False, "Nothing was refunded."
    [refund] = case["final_state"]["refunds"]
    return refund == case["task"]["hidden_ground_truth"]["refunds"][0], "There is a refund."
