def says_city(case):
    city = case["task"]["hidden_ground_truth"]["answer"]
    return city in case["final_output"], f"The city is {city}."
