"""Small real servers on 127.0.0.1 that tests ask, and that misbehave when they are told to."""
