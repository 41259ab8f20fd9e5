"""The words for what is noticed while reading, compiling a shape or proving: one kind of problem a file.

A problem is named by the layer that notices it; the module of that name has its code, its severity, its page, and a
`describe` that makes a sentence of it. Nothing here is loaded until there is a problem.
"""
