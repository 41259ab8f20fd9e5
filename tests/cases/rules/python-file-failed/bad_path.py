from rollout import Task

TASKS = Task.from_jsonl("no-such-tasks.jsonl")
