GREETINGS = ("Dear ", "Lieber ")
