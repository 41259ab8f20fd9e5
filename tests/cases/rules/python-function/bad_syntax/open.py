def grade(case):
    return (1,
