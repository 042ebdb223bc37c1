"""SVG pictures of gradient graphs, read as XML."""

from __future__ import annotations

from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def read(text: str) -> ElementTree.Element:
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    return root


def nodes(root: ElementTree.Element) -> list[tuple[str, str, list[str]]]:
    """The class, the title and the lines of text of each node."""
    return [(group.get("class", ""), group.findtext(f"{SVG}title", ""),
             ["".join(text.itertext()) for text in group.findall(f"{SVG}text")])
            for group in root.iter(f"{SVG}g") if group.get("role") == "graphics-symbol img"]


def titles(root: ElementTree.Element) -> list[str]:
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text") if "head" in text.get("class", "")]
