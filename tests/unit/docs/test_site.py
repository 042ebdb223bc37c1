"""The documentation is built without a warning, every link leads somewhere, and every public name has an entry."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from needing import DOCS, absent, needs

if missing := absent(*DOCS):
    pytest.skip(missing, allow_module_level=True)

from forked import ran
from showing import pages, site

pytestmark = [needs(*DOCS), pytest.mark.site]


@pytest.fixture(scope="module")
def folder() -> Path:
    return site.built()


@pytest.fixture(scope="module")
def found(folder: Path) -> dict[str, site.Page]:
    return site.pages(folder)


def test_every_link_leads_to_a_page_and_an_anchor(found: dict[str, site.Page], folder: Path) -> None:
    assert len(found) > 60
    assert [*site.broken_links(found, folder)] == []


def test_code_is_as_wide_as_a_page_at_most(found: dict[str, site.Page]) -> None:
    assert sum(len(page.blocks) for page in found.values()) > 1000
    assert [*site.wide_code(found)] == []


def test_pages_have_a_language_one_title_and_all_levels(found: dict[str, site.Page]) -> None:
    assert [*site.poor_pages(found)] == []


def test_every_public_name_has_an_entry(found: dict[str, site.Page]) -> None:
    anchors = {anchor for path, page in found.items() if path.startswith("reference/") for anchor in page.anchors}
    names = [member.path for member in site.public_names() if member.kind != "module"]
    assert len(names) > 2000
    assert [name for name in names if name not in anchors] == []


@pytest.mark.parametrize(("page", "names"), [
    ("torch-reductions", "torch.cumsum torch.max torch.logsumexp torch.sum torch.argmax torch.var"),
    ("torch-sorting", "torch.sort torch.topk torch.unique"), ("torch-comparison", "torch.maximum torch.where torch.eq"),
    ("class/torch.nn.Linear", "torch.nn.Linear torch.nn.Linear.forward"),
    ("class/torch.optim.Adam", "torch.optim.Adam"),
    ("nn-functional", "torch.nn.functional.cross_entropy")])
def test_a_name_has_its_entry_where_people_look(found: dict[str, site.Page], page: str, names: str) -> None:
    assert {*names.split()} <= {*found[f"reference/{page}.html"].anchors}


# Python's doctest runs each session with the names that a reader has after `import retrograd as torch`.
ENTERED = """
import doctest, json, re, warnings
import retrograd

class Spaceless(doctest.OutputChecker):     # compares without spaces and line breaks: the page breaks what is wide
    def check_output(self, want, got, optionflags):
        want = want.replace("<BLANKLINE>", "")
        return super().check_output("".join(want.split()), "".join(got.split()), optionflags)

if __name__ == "__main__":
    runner = doctest.DocTestRunner(Spaceless(), optionflags=doctest.ELLIPSIS)
    for code, path in json.load(open("shown.json", encoding="utf-8")).items():
        text = re.sub("^$", "<BLANKLINE>", code.rstrip(), flags=re.MULTILINE) + chr(10)
        names = {"torch": retrograd, "retrograd": retrograd}
        with retrograd.random.fork_rng(), warnings.catch_warnings():
            runner.run(doctest.DocTestParser().get_doctest(text, names, path, None, 0), clear_globs=False)
    print(runner.tries, "lines,", runner.failures, "failed")
"""


def test_a_reader_who_enters_an_example_sees_what_it_shows(found: dict[str, site.Page], tmp_path: Path) -> None:
    shown = {code: path for path, page in found.items() if path.startswith("reference/")
             for _, code in page.blocks if code.startswith(">>> ")}
    assert len(shown) > 1500
    (tmp_path / "shown.json").write_text(json.dumps(shown), encoding="utf-8")
    (tmp_path / "entered.py").write_text(ENTERED, encoding="utf-8")
    said = ran("entered.py", cwd=tmp_path).stdout
    assert re.fullmatch(r"\d{4} lines, 0 failed\n", said), said


def test_no_entry_shows_a_place_in_memory(folder: Path) -> None:
    reference = [*(folder / "reference").rglob("*.html")]
    assert len(reference) > 400
    texts = {page.name: re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8")) for page in reference}
    assert [name for name, text in texts.items() if re.search(r"\bat 0x[0-9a-f]", text)] == []


def test_each_name_of_a_list_has_one_line(folder: Path) -> None:
    text = (folder / "reference" / "nn.html").read_text(encoding="utf-8")
    lines = re.findall(r'<span class="summary">(.*?)</span></p>', text, re.DOTALL)
    assert len(lines) > 150
    assert [line for line in lines if not line.strip()] == []
    assert "The base class of layers and models." in lines


def test_messages_are_whole_lines() -> None:
    error = "ValueError: " + "word " * 40
    broken = "\n".join(pages.broken(error.strip()))
    assert site.messages.whole(broken) == error.strip()
    assert site.messages.whole("RuntimeError: a\n    y += 1\nb") == "RuntimeError: a\n    y += 1\nb"


# The reader of pages, held to pages with planted faults: a check that finds nothing anywhere would pass as well.


PLANTED = """<html lang="en"><body><h1 id="top">A</h1><h3>B</h3><img src="here.html">
<a href="#top"></a><a href="#nowhere"></a><a href="gone.html"></a><a href="other.html#there"></a>
<a href="other.html#lost"></a><a href="mailto:x"></a>
<div class="highlight-python"><pre>{code}</pre></div>
<div class="highlight-text"><pre>{code}</pre></div></body></html>"""


def test_planted_faults_are_found(tmp_path: Path) -> None:
    (tmp_path / "here.html").write_text(PLANTED.format(code=f"<i>{'x' * 50}</i>{'y' * 50}"), encoding="utf-8")
    (tmp_path / "other.html").write_text("<html><h1 id=there>C</h1><h1>D</h1></html>", encoding="utf-8")
    found = site.pages(tmp_path)
    assert [*site.broken_links(found, tmp_path)] == [
        "here.html: #nowhere", "here.html: gone.html", "here.html: other.html#lost"]
    assert [*site.wide_code(found)] == [f"here.html: {'x' * 50}{'y' * 50}"]
    assert [*site.poor_pages(found)] == [
        "here.html: a level of headings is left out: [1, 3]", "here.html: the picture here.html has no text",
        "other.html: no language", "other.html: 2 titles"]


def test_what_only_looks_like_an_element_is_none() -> None:
    page = site.read("""<!-- <a id="x"> --><script src='a.js'>"<a id=y>"</script><p title="a > b" id=one&amp;two>
<div class="outer"><div class="gone"></div><span id='z'></span><pre><span class="k">a</span> &lt;b&gt;</pre></div>""")
    assert (page.anchors, page.links, page.blocks) == (["one&two", "z"], ["a.js"], [("outer", "a <b>")])


def test_a_warning_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "conf.py").write_text("extensions = []\n", encoding="utf-8")
    (tmp_path / "index.rst").write_text("A\n=\n\n:doc:`nowhere`\n", encoding="utf-8")
    assert "unknown document: 'nowhere'" in site.build(tmp_path, tmp_path / "html", tmp_path / "cache")
    (tmp_path / "index.rst").write_text("A\n=\n", encoding="utf-8")
    assert site.build(tmp_path, tmp_path / "html", tmp_path / "cache") == ""
