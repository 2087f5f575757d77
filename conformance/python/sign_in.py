"""Signs in with stock flytekit and lists projects: sign_in.py ENDPOINT MODE [CLIENT_ID SECRET | USER PASSWORD].

Prints one JSON object: the projects, or the error. What a person does in a browser is done here by `requests`.
"""

import json
import re
import sys
from html import unescape

import requests
from flytekit.clients.auth import token_client
from flytekit.clients.friendly import SynchronousFlyteClient
from flytekit.configuration import AuthType, PlatformConfig

endpoint, mode, name, secret = sys.argv[1:5]


def hidden(page):
    return {key: unescape(value) for key, value in re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page)}


def log_in(browser, page):
    return browser.post(page.url, data={"name": name, "password": secret})


ask_for_code = token_client.get_device_code


def confirmed_code(*args, **kwargs):
    device = ask_for_code(*args, **kwargs)
    browser = requests.Session()
    page = browser.get(f"{device.verification_uri}?user_code={device.user_code}")
    answer = browser.post(device.verification_uri, data={**hidden(page.text), "user_code": device.user_code})
    page = browser.post(device.verification_uri, data={**hidden(answer.text), "user_code": device.user_code, "confirm": "yes"})
    log_in(browser, page)
    return device


token_client.get_device_code = confirmed_code
modes = {"client": AuthType.CLIENTSECRET, "device": AuthType.DEVICEFLOW}
config = PlatformConfig(
    endpoint=endpoint,
    insecure=True,
    auth_mode=modes[mode],
    client_id=name if mode == "client" else None,
    client_credentials_secret=secret if mode == "client" else None,
)
try:
    projects, _ = SynchronousFlyteClient(config).list_projects_paginated(limit=10)
    print(json.dumps({"projects": [project.id for project in projects]}))
except Exception as error:  # Whatever flytekit makes of it is what a user sees.
    print(json.dumps({"error": f"{type(error).__name__}: {error}"[:500]}))
