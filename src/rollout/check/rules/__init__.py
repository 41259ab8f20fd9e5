"""The rules that look for defects themselves: one defect a file, its name the rule's slug, its docstring its page."""
