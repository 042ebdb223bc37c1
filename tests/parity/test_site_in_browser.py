"""The pages of the documentation in a browser: on a phone, for a screen reader, in both themes, and their searches.

These tests need the programs chromium and chromedriver, which pip does not install.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from showing import site, site_browser

pytestmark = pytest.mark.skipif(site_browser.programs() is None, reason="needs the programs chromium and chromedriver")

READ = ("index.html", "learn/index.html", "use/index.html", "use/installing.html", "reference/index.html",
        "errors.html", "differences.html",
        "tour.html", "inplace.html", "performance.html", "search.html?q=grad", "reference/func.html",
        "reference/retrograd.html", "reference/random.html", "change/index.html", "_source/op.html")


@pytest.fixture(scope="module")
def folder() -> Path:
    return site.built()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with site_browser.started() as found:
        yield found


def opened(browser: Any, folder: Path, page: str) -> None:
    path, mark, query = page.partition("?")
    browser.get((folder / path).as_uri() + mark + query)


def test_pages_fit_on_a_phone(browser: Any, folder: Path) -> None:
    site_browser.window(browser, 400)
    wide = {}
    for file in sorted(folder.rglob("*.html")):
        page = file.relative_to(folder).as_posix()
        if not page.startswith(site.SOURCE_PAGES) or page.endswith("/ops/framework.html"):
            opened(browser, folder, page)
            width = browser.execute_script("return document.documentElement.scrollWidth")
            clipped = browser.execute_script(site_browser.CLIPPED)
            if width > 400 or clipped:
                wide[page] = width, clipped
    assert wide == {}


def test_a_page_that_is_too_wide_is_noticed(browser: Any, tmp_path: Path) -> None:
    site_browser.window(browser, 400)
    text = "<!doctype html><article><div style='{}'><p style='width: 900px'>x</p></div></article>"
    for style, clipped in (("", 1), ("overflow-x: auto", 0)):
        (tmp_path / "page.html").write_text(text.format(style), encoding="utf-8")
        browser.get((tmp_path / "page.html").as_uri())
        assert len(browser.execute_script(site_browser.CLIPPED)) == clipped
        assert (browser.execute_script("return document.documentElement.scrollWidth") > 400) == bool(clipped)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_are_accessible(browser: Any, folder: Path, theme: str) -> None:
    site_browser.window(browser, 1200)
    opened(browser, folder, "index.html")
    browser.execute_script(f"localStorage.setItem('theme', '{theme}')")
    found = {}
    for page in READ:
        opened(browser, folder, page)
        WebDriverWait(browser, 20).until(lambda shown: shown.find_elements(By.TAG_NAME, "h1"))
        assert browser.execute_script("return document.body.dataset.theme") == theme, page
        if faults := site_browser.faults(browser):
            found[page] = faults
    assert found == {}


def test_a_page_that_is_not_accessible_is_noticed(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<!doctype html><html><body><img src='x.png'></body></html>", encoding="utf-8")
    browser.get((tmp_path / "page.html").as_uri())
    assert {fault.partition(":")[0] for fault in site_browser.faults(browser)} >= {"html-has-lang", "image-alt"}


@pytest.mark.parametrize(("words", "first"), [("exp", "torch.exp"), ("jacobian", "torch.autograd.functional.jacobian"),
                                              ("Linear", "torch.nn.Linear"), ("backward", "torch.Tensor.backward")])
def test_the_search_finds_functions_first(browser: Any, folder: Path, words: str, first: str) -> None:
    opened(browser, folder, f"search.html?q={words}")
    WebDriverWait(browser, 20).until(lambda page: len(page.find_elements(By.CSS_SELECTOR, "#search-results li a")) > 3)
    links = browser.find_elements(By.CSS_SELECTOR, "#search-results li > a")
    assert first in [link.text.partition(" ")[0] for link in links[:3]]


def test_the_table_of_coverage_is_searched(browser: Any, folder: Path) -> None:
    opened(browser, folder, "coverage.html")
    browser.find_element(By.CSS_SELECTOR, ".table-search input").send_keys("fft gradient ihfft2")
    rows = browser.find_elements(By.CSS_SELECTOR, "table.searched tbody tr:not([hidden])")
    assert [row.text.split()[0] for row in rows] == ["torch.fft.ihfft2"]
    assert browser.find_element(By.CSS_SELECTOR, ".table-search output").text == "1 rows"


def test_no_script_fails(browser: Any, folder: Path) -> None:
    browser.get_log("browser")
    for page in ("index.html", "coverage.html", "reference/func.html", "search.html?q=grad"):
        opened(browser, folder, page)
    assert [line["message"] for line in browser.get_log("browser") if line["level"] == "SEVERE"] == []
