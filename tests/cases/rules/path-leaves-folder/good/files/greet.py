def greet(name):
    return 'Hello'
