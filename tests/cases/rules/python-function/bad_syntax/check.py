def grade(case):
    size = len("größe") ) + 1
