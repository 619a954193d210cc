"""Keys from the environment, under the names that a board gives; a value that no server can be sent is refused here."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ragassay.errors import InputError
from ragassay.records import Secret


def key_values(names: Iterable[str]) -> dict[str, Secret]:
    """Return the keys that are set; raises `InputError` naming every variable that holds a control character.

    Clients repeat a header that they cannot send in errors of their own, escaped: a line end that came along with a
    key is said here, by the variable's name.
    """
    found = {name: os.environ[name] for name in names if os.environ.get(name)}
    if torn := [name for name, value in found.items() if any(char < " " or char == "\x7f" for char in value)]:
        raise InputError(
            "a key cannot be used as it is",
            [f"{name} holds a line break or another control character; set it to the key alone" for name in torn],
        )
    return {name: Secret(value) for name, value in found.items()}
