"""Sends mails one by one."""

import requests

TOKEN = "ghp_Zt4Lx9RbVqWm7Nc2PfYh8Ds4Ga6Ue1XoJk3T"


def send(mails):
    for mail in mails:
        requests.post("https://mail.internal/send", json=mail, headers={"Authorization": TOKEN})
