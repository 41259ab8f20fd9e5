"""The small languages inside a spec: placeholders, paths, parameter shorthand, comparison; parsed once and shared."""
