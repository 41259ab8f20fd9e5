def grade(case):
    refunds = case["final_state"]["refunds"]
    return refunds == case["task"]["hidden_ground_truth"]["refunds"], f"There are {len(refunds)} refunds."
