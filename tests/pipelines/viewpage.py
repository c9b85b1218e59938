# SPDX-License-Identifier: LGPL-2.1-or-later
"""viewpage URL: looks at view-in-browser's page in headless Chromium, moves its sliders and
switches, and writes page.png. Status 77: Chromium or selenium is missing."""
import os
import sys
import time

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
except ImportError:
    print("package python3-selenium is missing")
    sys.exit(77)

DRIVER = "/usr/bin/chromedriver"


def wait(check, what):
    """Waits until check () is true, for 30 s at most."""
    for _ in range(150):
        if check():
            return
        time.sleep(0.2)
    sys.exit(f"the page does not show {what}")


if not os.access(DRIVER, os.X_OK):
    print("package chromium-driver is missing")
    sys.exit(77)
options = webdriver.ChromeOptions()
options.binary_location = "/usr/bin/chromium"
for option in "--headless", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1250,800":
    options.add_argument(option)
browser = webdriver.Chrome(options=options, service=Service(DRIVER))


def cell(name, column):
    """A number in the table of boxes."""
    text = browser.execute_script(
        "const row = [...document.querySelectorAll ('#boxes tbody tr')]"
        ".find (row => row.cells[0].textContent === arguments[0]);"
        "return row ? row.cells[arguments[1]].textContent : '-1'", name, column)
    return float(text)


def move(slider, value):
    browser.execute_script(
        "const slider = document.getElementById (arguments[0]); slider.value = arguments[1];"
        "slider.dispatchEvent (new Event ('input'))", slider, value)


try:
    browser.get(sys.argv[1])
    wait(lambda: browser.execute_script(
        "return document.getElementById ('video').naturalWidth") == 768, "the video")
    wait(lambda: cell("in", 1) > 0 and cell("kept", 1) > 0, "boxes")
    few = cell("kept", 1)
    move("iou-threshold", 1)
    move("score-threshold", 0)
    wait(lambda: cell("kept", 1) == cell("in", 1) > 2 * few, "all boxes at threshold 1")
    browser.save_screenshot("page.png")
    move("iou-threshold", 0.3)
    wait(lambda: cell("kept", 1) < cell("in", 1) / 2, "fewer boxes at threshold 0.3")
    switch = browser.find_element(By.CSS_SELECTOR, "#labels input[name=person]")
    switch.click()
    wait(lambda: cell("kept", 1) == 0 and cell("dropped-class", 1) > 0, "that a class is dropped")
    switch.click()
    wait(lambda: cell("kept", 1) > 0, "the class again")
    print("the page shows", few, "boxes a frame")
finally:
    browser.quit()
