"""The pages of the documentation in a browser: on a phone, for a screen reader, in both themes, and their searches.

These tests need the programs chromium and chromedriver, which pip does not install.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from needing import needs
from showing import browsers, site

pytestmark = [needs("chromium", "chromedriver"), pytest.mark.site]

READ = ("index.html", "learn/index.html", "use/index.html", "use/installing.html", "reference/index.html",
        "errors.html", "differences.html",
        "tour.html", "inplace.html", "performance.html", "search.html?q=grad", "reference/func.html",
        "reference/retrograd.html", "reference/random.html", "change/index.html", "_source/ops/framework.html")

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


@pytest.fixture(scope="module")
def folder() -> Path:
    return site.built()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browsers.Browser]:
    with browsers.browser(tmp_path_factory.mktemp("browser")) as found:
        yield found


def opened(browser: browsers.Browser, folder: Path, page: str) -> None:
    path, mark, query = page.partition("?")
    browser.driver.get((folder / path).as_uri() + mark + query)


def test_pages_fit_on_a_phone(browser: browsers.Browser, folder: Path) -> None:
    browser.window(400)
    wide = {}
    for file in sorted(folder.rglob("*.html")):
        page = file.relative_to(folder).as_posix()
        if not page.startswith(site.SOURCE_PAGES) or page.endswith("/ops/framework.html"):
            opened(browser, folder, page)
            width = browser.driver.execute_script("return document.documentElement.scrollWidth")
            clipped = browser.driver.execute_script(CLIPPED)
            if width > 400 or clipped:
                wide[page] = width, clipped
    assert wide == {}


def test_a_page_that_is_too_wide_is_noticed(browser: browsers.Browser, tmp_path: Path) -> None:
    browser.window(400)
    text = "<!doctype html><article><div style='{}'><p style='width: 900px'>x</p></div></article>"
    for style, clipped in (("", 1), ("overflow-x: auto", 0)):
        (tmp_path / "page.html").write_text(text.format(style), encoding="utf-8")
        browser.driver.get((tmp_path / "page.html").as_uri())
        assert len(browser.driver.execute_script(CLIPPED)) == clipped
        assert (browser.driver.execute_script("return document.documentElement.scrollWidth") > 400) == bool(clipped)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_are_accessible(browser: browsers.Browser, folder: Path, theme: str) -> None:
    browser.window(1200)
    opened(browser, folder, "index.html")
    browser.driver.execute_script(f"localStorage.setItem('theme', '{theme}')")
    found = {}
    for page in READ:
        opened(browser, folder, page)
        WebDriverWait(browser.driver, 20).until(lambda shown: shown.find_elements(By.TAG_NAME, "h1"))
        assert browser.driver.execute_script("return document.body.dataset.theme") == theme, page
        if faults := browser.faults():
            found[page] = faults
    assert found == {}


def test_a_page_that_is_not_accessible_is_noticed(browser: browsers.Browser, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<!doctype html><html><body><img src='x.png'></body></html>", encoding="utf-8")
    browser.driver.get((tmp_path / "page.html").as_uri())
    assert {rule for rule, _ in browser.faults()} >= {"html-has-lang", "image-alt"}


@pytest.mark.parametrize(("words", "first"), [("exp", "torch.exp"), ("jacobian", "torch.autograd.functional.jacobian"),
                                              ("Linear", "torch.nn.Linear"), ("backward", "torch.Tensor.backward")])
def test_the_search_finds_functions_first(browser: browsers.Browser, folder: Path, words: str, first: str) -> None:
    opened(browser, folder, f"search.html?q={words}")
    WebDriverWait(browser.driver, 20).until(
        lambda page: len(page.find_elements(By.CSS_SELECTOR, "#search-results li a")) > 3)
    links = browser.driver.find_elements(By.CSS_SELECTOR, "#search-results li > a")
    assert first in [link.text.partition(" ")[0] for link in links[:3]]


MESSAGE = ("RuntimeError: one of the variables needed for gradient computation has been modified by an inplace "
           "operation: [torch.FloatTensor [5, 7]], which is output 0 of ReluBackward0, is at version 1; expected "
           "version 0 instead.")


@pytest.mark.parametrize(("message", "anchor"), [
    (MESSAGE, "in-place.html#modified-in-place"),
    ("mat1 and mat2 shapes cannot be multiplied (3x4 and 5x6)", "shapes.html#"),
    ("grad can be implicitly created only for scalar outputs", "backward.html#")])
def test_a_search_for_a_whole_message_finds_its_entry(browser: browsers.Browser, folder: Path, message: str,
                                                      anchor: str) -> None:
    opened(browser, folder, f"search.html?q={quote(message)}")
    WebDriverWait(browser.driver, 20).until(lambda page: page.find_elements(By.CSS_SELECTOR, "ul.entries a"))
    link = browser.driver.find_elements(By.CSS_SELECTOR, "ul.entries a")[0].get_attribute("href")
    assert link is not None
    assert anchor in link


def test_a_link_within_a_page_leads_there_at_once(browser: browsers.Browser, folder: Path) -> None:
    opened(browser, folder, "reference/torch-reductions.html")
    assert browser.value("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


def test_messages_wrap_on_a_phone(browser: browsers.Browser, folder: Path) -> None:
    browser.window(400)
    opened(browser, folder, "errors/in-place.html")
    assert len(browser.texts(".message pre")) > 5
    assert max(browser.each(".message pre", "one.scrollWidth - one.clientWidth")) <= 0
    browser.window(1200)


@pytest.mark.parametrize("page", ["index.html", "ko/index.html"])
def test_the_landing_page_shows_its_program_in_the_explorer(browser: browsers.Browser, folder: Path, page: str) -> None:
    browser.window(1200, 2000)
    opened(browser, folder, page)
    WebDriverWait(browser.driver, 20).until(
        lambda shown: shown.execute_script("return document.querySelector('iframe.page-in-page').contentDocument"
                                           ".body?.innerText.includes('program.py')"))
    assert [len(text.split()) > 1 for text in browser.texts(".figures .figure")] == [True] * 4


def test_the_explorer_on_the_landing_page_has_the_theme_of_the_site(browser: browsers.Browser, folder: Path) -> None:
    opened(browser, folder, "index.html")
    dark = "matchMedia('(prefers-color-scheme: dark)').matches"
    inside = ("const view = document.querySelector('iframe.page-in-page').contentWindow, body = view.document.body; "
              f"return body && [view.{dark}, view.getComputedStyle(body).color]")
    seen: dict[str, list[object]] = {}
    while len(seen) < 3:                               # the button goes from automatic over one theme to the other
        browser.driver.execute_script("document.querySelector('.theme-toggle').click()")
        theme = browser.driver.execute_script("return document.body.dataset.theme")
        assert theme not in seen
        seen[theme] = WebDriverWait(browser.driver, 20).until(lambda shown: shown.execute_script(inside))
    assert [seen[theme][0] for theme in ("light", "dark", "auto")] == [
        False, True, browser.driver.execute_script(f"return {dark}")]
    assert seen["light"][1] != seen["dark"][1]


def test_the_table_of_coverage_is_searched(browser: browsers.Browser, folder: Path) -> None:
    opened(browser, folder, "coverage.html")
    browser.driver.find_element(By.CSS_SELECTOR, ".table-search input").send_keys("fft gradient ihfft2")
    rows = browser.driver.find_elements(By.CSS_SELECTOR, "table.searched tbody tr:not([hidden])")
    assert [row.text.split()[0] for row in rows] == ["torch.fft.ihfft2"]
    assert browser.driver.find_element(By.CSS_SELECTOR, ".table-search output").text == "1 rows"


def test_no_script_fails(browser: browsers.Browser, folder: Path) -> None:
    """The search has nothing to find here: it would read the pages that it finds, which browsers refuse for files."""
    browser.driver.get("about:blank")
    browser.driver.get_log("browser")
    for page in ("index.html", "coverage.html", "reference/func.html", "search.html"):
        opened(browser, folder, page)
    assert browser.complaints == []
