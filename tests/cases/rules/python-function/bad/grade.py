def grade(case):
    return 1.0
