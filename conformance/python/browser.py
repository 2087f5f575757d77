"""What a person does in a browser: browser.py URL, with NAME and PASSWORD in the environment.

Installed as `xdg-open` it signs in for programs that open a browser. A page that asks for the code of a device is confirmed first.
"""

import os
import re
import sys
from html import unescape

import requests


def hidden(page):
    return {key: unescape(value) for key, value in re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page)}


browser = requests.Session()
url = sys.argv[1]
page = browser.get(url)
code = re.search(r"user_code=([A-Za-z0-9-]+)", url)
if code:
    site = url.split("?")[0]
    answer = browser.post(site, data={**hidden(page.text), "user_code": code[1]})
    page = browser.post(site, data={**hidden(answer.text), "user_code": code[1], "confirm": "yes"})
page = browser.post(page.url, data={"name": os.environ["NAME"], "password": os.environ["PASSWORD"]})
print(page.status_code, page.url.split("?")[0])
