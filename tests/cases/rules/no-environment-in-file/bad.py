from rollout import Environment


def make():
    return Environment(slug="a", name="A", template="custom", config={"tools": []})


if __name__ == "__main__":
    env = make()
