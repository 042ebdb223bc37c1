"""Exceptions that are raised again in another thread or process."""

from __future__ import annotations

import sys
import traceback
from typing import Any, NoReturn

from ..foundations.names import PACKAGE

_HOME = f"{PACKAGE}._utils"                                  # the module under which programs know the classes


class KeyErrorMessage(str):
    """A text that a KeyError shows as it is; of any other it shows the repr."""

    __module__ = _HOME
    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """An exception as text and type, to be raised in another thread or process with where it happened."""

    __module__ = _HOME

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        kind, value, trace = sys.exc_info() if exc_info is None else exc_info
        self.exc_type: Any = kind
        self.exc_msg = "".join(traceback.format_exception(kind, value, trace))
        self.where = where

    def reraise(self) -> NoReturn:
        """Raise the exception again, its message after `Caught KeyError in background.`"""
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            text = KeyErrorMessage(text)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=text)
        try:
            exception = self.exc_type(text)
        except Exception:
            raise RuntimeError(text) from None
        raise exception
