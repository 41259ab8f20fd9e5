def grade(case):
    refunds = case["final_state"]["refunds"]
    while len(refunds) > 1:
        pass
    return refunds == case["task"]["hidden_ground_truth"]["refunds"]
