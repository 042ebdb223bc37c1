"""A real browser for tests of pages: the system's Chromium without a window, driven through chromedriver."""

from __future__ import annotations

import importlib.resources
import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

SWITCHES = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
            "--disable-background-networking", "--disable-component-update", "--disable-sync")
PATIENCE = 200      # seconds for axe to read a page, or for anything else, on a busy machine


class Browser:
    """A browser with one page. Every log line of the page that is no mere note is kept in `complaints`."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, path: Path, address: str = "", width: int = 1200, height: int = 800, dark: bool = False) -> None:
        """Show a file in a window of this size, and forget what was shown before."""
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.window(width, height)
        self.theme("dark" if dark else "light")
        self.driver.get(path.as_uri() + address)
        deadline = time.monotonic() + PATIENCE             # the driver may return before the page is there
        while not self.driver.execute_script(
                "return document.readyState === 'complete' && location.href !== 'about:blank'"):
            assert time.monotonic() < deadline, path

    def window(self, width: int, height: int = 800) -> None:
        """Give the page a width and a height, below those that a window can have too."""
        self.tell("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def tell(self, command: str, **arguments: Any) -> Any:
        return self.driver.execute_cdp_cmd(command, arguments)

    def theme(self, name: str) -> None:
        self.tell("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def value(self, expression: str) -> Any:
        """What an expression of JavaScript is worth on the page, after the next two frames."""
        worth, fault = self.driver.execute_async_script(
            "const done = arguments[0]; const next = requestAnimationFrame;"
            f"const look = () => {{ try {{ return [(() => {{ return {expression}; }})(), null]; }}"
            "catch (error) { return [null, String(error)]; } };"
            "next(() => next(() => done(look())))")
        if fault:
            raise ValueError(fault)
        return worth

    def each(self, selector: str, expression: str) -> list[Any]:
        """What an expression about `one` is worth for each element."""
        return list(self.value(f"[...document.querySelectorAll({selector!r})].map((one) => {expression})"))

    def texts(self, selector: str) -> list[str]:
        return [element.text for element in self.driver.find_elements(By.CSS_SELECTOR, selector)]

    def text(self, selector: str) -> str:
        return self.driver.find_element(By.CSS_SELECTOR, selector).text

    def click(self, selector: str, double: bool = False) -> None:
        """A click by the pointer, in the middle of an element."""
        element = self.driver.find_element(By.CSS_SELECTOR, selector)
        chain = ActionChains(self.driver, duration=0).move_to_element(element)
        (chain.double_click() if double else chain.click()).perform()

    def press(self, *keys: str) -> None:
        """Keys, one after the other, to whatever has the focus."""
        for key in keys:
            ActionChains(self.driver, duration=0).send_keys(key).perform()

    def wait_for(self, expression: str) -> Any:
        """What an expression is worth once it is worth something. A busy machine may take long."""
        deadline = time.monotonic() + PATIENCE
        while not (worth := self.value(expression)):
            assert time.monotonic() < deadline, expression
        return worth

    def keep_messages(self) -> None:
        """Let messages of the page stay. They would go after two seconds, in which a busy machine reads nothing."""
        self.value("void ((usual) => { window.setTimeout = (call, delay, ...rest) =>"
                   " (delay < 1000 ? usual(call, delay, ...rest) : 0); })(window.setTimeout)")

    @contextmanager
    def counting_work(self) -> Iterator[None]:
        """A context in which `seconds_of_work` counts from 0."""
        self.tell("Performance.disable")
        self.tell("Performance.enable", timeDomain="threadTicks")
        try:
            yield
        finally:
            self.tell("Performance.disable")

    @property
    def seconds_of_work(self) -> float:
        """How long the processor has worked for the page. Other programs do not count, however busy the machine is."""
        metrics = {one["name"]: one["value"] for one in self.tell("Performance.getMetrics")["metrics"]}
        return float(metrics["TaskDuration"])

    @contextmanager
    def at_first(self, expression: str) -> Iterator[None]:
        """A context in which `atFirst` of a page is what an expression is worth when the page has been read."""
        script = f"addEventListener('DOMContentLoaded', () => {{ window.atFirst = {expression}; }})"
        added = self.tell("Page.addScriptToEvaluateOnNewDocument", source=script)
        try:
            yield
        finally:
            self.tell("Page.removeScriptToEvaluateOnNewDocument", **added)

    @property
    def address(self) -> str:
        """The part of the page's address behind the sign #, once it is written."""
        return str(self.driver.execute_async_script("setTimeout(() => arguments[0](location.hash), 160)"))

    @property
    def complaints(self) -> list[str]:
        return [line["message"] for line in self.driver.get_log("browser") if line["level"] != "INFO"]

    def faults(self) -> list[Any]:
        """What axe finds wrong with the page for people who do not see or point.

        A page in a frame has tests of its own. axe would wait for an answer from the frame, in which there is no axe.
        """
        axe = importlib.resources.files("axe_core_python").joinpath("axe.min.js")
        self.driver.execute_script(axe.read_text(encoding="utf-8"))
        found = self.driver.execute_async_script(
            "const done = arguments[0]; axe.run(document, {iframes: false}).then("
            "(result) => done(JSON.stringify(result.violations.map("
            "(one) => [one.id, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))]))))")
        return list(json.loads(found))


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """A browser whose profile and downloads are in `folder`."""
    options = Options()
    options.binary_location = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    for switch in (*SWITCHES, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(switch)
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.set_script_timeout(PATIENCE)
    try:
        yield Browser(driver)
    finally:
        driver.quit()
