"""A browser without a window, for the tests that look at pages. It needs the programs chromium and chromedriver."""

from __future__ import annotations

import contextlib
import importlib.resources
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

from selenium import webdriver

# Nothing that the browser does by itself reaches for a network.
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
           "--disable-background-networking", "--disable-component-update", "--disable-sync")
PATIENCE = 200      # seconds for axe to read a page on a busy machine
# Elements that end beyond the right edge of the window and stand in nothing that scrolls or cuts them off.
CLIPPED = """
const edge = document.documentElement.clientWidth;
const held = (element) => {
  for (let at = element; at && at !== document.body; at = at.parentElement) {
    const style = getComputedStyle(at);
    if (style.overflowX !== "visible" || style.position === "fixed" || style.clip !== "auto") return true;
  }
  return false;
};
const beyond = (element) => {
  const box = element.getBoundingClientRect();
  return box.width && box.right > edge + 1;
};
return [...document.querySelectorAll("article *")].filter((element) => beyond(element) && !held(element))
  .map((element) => element.outerHTML.slice(0, 100));
"""


def programs() -> tuple[str, str] | None:
    """Where the browser and its driver are; None if one of them is not installed."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


@contextlib.contextmanager
def started() -> Iterator[Any]:
    """The driver of a browser with a new profile. The browser ends with the context."""
    found = programs()
    assert found is not None
    options = webdriver.ChromeOptions()
    options.binary_location = found[0]
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with tempfile.TemporaryDirectory() as profile:
        for option in (*OPTIONS, f"--user-data-dir={profile}"):
            options.add_argument(option)
        browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(found[1]))
        browser.set_script_timeout(PATIENCE)
        try:
            yield browser
        finally:
            browser.quit()


def window(browser: Any, width: int, height: int = 900) -> None:
    """Give the page a width and a height, below those that a window can have too."""
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})


def faults(browser: Any) -> list[str]:
    """What axe, the checker of accessibility, finds on the page that is open: the rule and the first element."""
    script = importlib.resources.files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    browser.execute_script(script)
    found = browser.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "axe.run({resultTypes: ['violations']}).then((results) => done(results.violations));")
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]} ({len(one['nodes'])} elements)" for one in found]
