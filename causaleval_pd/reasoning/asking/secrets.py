"""Secrets: keys and addresses checked without being shown, and removed from what is kept."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress

from ...contract.checks import check_type, shown

#: characters of the shortest secret that is replaced in replies: shorter ones are placeholders, such as "EMPTY"
SHORTEST_SECRET = 8

_NAMES_OF_SECRETS = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD)$", re.IGNORECASE)

#: what looks like a key wherever it stands in a message
_LOOKS_SECRET = re.compile(r"\bsk-[\w-]{8,}|(?<=bearer )\s*+[^\s\"']+|(?<=://)[^\s/@:]++:[^\s/@]++(?=@)", re.IGNORECASE)


def checked_key(api_key: str | None) -> str | None:
    """Strip a key and check it without showing it: what no header can hold would appear in the error of the request."""
    if api_key is None:
        return None
    if not isinstance(api_key, str):
        raise TypeError(f"api_key must be text, found an object of type {type(api_key).__name__}")
    key = api_key.strip()
    if not key:
        raise ValueError("api_key is empty; pass None for a server that needs none")
    if not all("!" <= character <= "~" and character not in "\"'\\" for character in key):
        raise ValueError(
            "api_key holds white space, quotation marks, backslashes, control or non-ASCII characters; check how it "
            "was read"
        )
    return key


def checked_address(url: str) -> str:
    """Check an address without showing one that may hold a password."""
    import httpx2

    check_type(url, str, "the address of a server", "url")
    found = "" if "@" in url else f", found {shown(url)}"
    url = url.strip().rstrip("/")
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"url must start with http:// or https://{found}")
    parsed = None
    if url.isprintable() and " " not in url:
        with suppress(httpx2.InvalidURL, ValueError):
            parsed = httpx2.URL(url)
    if parsed is None:
        raise ValueError(f"url is not a valid address{found}")
    if parsed.userinfo:
        raise ValueError("url holds a user name or a password, which would be shown; pass a key by api_key=")
    if parsed.query or parsed.fragment or url.endswith(("?", "#")):
        raise ValueError("url has a query or a fragment; remove it, and pass a key by api_key=")
    if not parsed.host or not (parsed.port is None or 0 < parsed.port < 2**16):
        raise ValueError(f"url has no valid host or port{found}")
    return url


def redactor(secrets: Iterable[str]) -> Callable[[str], str]:
    """Return a function that replaces secrets by ***, also where characters are escaped as in JSON, URLs or HTML."""
    forms = [
        form for secret in sorted(set(secrets), key=len, reverse=True) for form in (re.escape(secret), _any(secret))
    ]
    if not forms:
        return lambda text: text
    pattern = re.compile("|".join(forms), re.IGNORECASE)
    return lambda text: pattern.sub("***", text)


def _any(secret: str) -> str:
    """Return a pattern of a secret in which each character may be escaped."""
    characters = []
    for character in secret:
        code = ord(character)
        plain, named = re.escape(character), re.escape(html.escape(character))
        forms = [rf"\\u00{code:02x}", f"%{code:02x}", f"&#0*+{code};", f"&#x0*+{code:x};", named, rf"\\?{plain}"]
        # atomic, since equal forms would be tried in all combinations
        characters.append(f"(?>{'|'.join(forms)})")
    return "".join(characters)


def environment_redactor() -> Callable[[str], str]:
    """Return a function that removes the values of environment variables that are named as secrets are."""
    values = (value.strip() for name, value in os.environ.items() if _NAMES_OF_SECRETS.search(name))
    return redactor(value for value in values if SHORTEST_SECRET <= len(value) <= 1000 and value.isascii())


def without_secrets(message: str, redact: Callable[[str], str]) -> str:
    """Remove known secrets from a message of an error, and what looks like a key or a password."""
    return _LOOKS_SECRET.sub("***", redact(message))
