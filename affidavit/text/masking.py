"""Hiding what a shared screen should not show: paths, mails, hosts, secrets, each replaced by a plain mark.

Masking is for the eyes beside yours. It is no scan for secrets, and it prefers to hide too much. Marks are
``⟨path⟩`` (a path's last name stays, unless it may be a person's), ``⟨home⟩``, ``⟨mail⟩``, ``⟨host⟩``, ``⟨ip⟩``,
``⟨secret⟩``; masked text masked again stays as it is. Every pattern begins only where a word or path begins and
never gives back what it took, so the cost is linear in the text's length.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache, partial

Rule = tuple[str, Callable[[str], str]]
"""What every text that a rule can change has in it, in lower case, parted by spaces; and the rule."""

_TOKEN = r"""(?<![A-Za-z0-9_-])(?:
    (?: [spr]k[-_] | gh[opsru]_ | github_pat_ | glpat- | xox[a-z]- | npm_ | pypi- | hf_ | dop_v1_ | ya29\. | whsec_ )
        [A-Za-z0-9_.-]{12,}+
  | (?: AKIA | ASIA | AROA | AIDA | AGPA ) [A-Z0-9]{12,}+
  | AIza [A-Za-z0-9_-]{30,}+
  | SG\. [A-Za-z0-9_-]{12,}+ \. [A-Za-z0-9_-]{12,}+
  | eyJ [A-Za-z0-9_-]{8,}+ \. [A-Za-z0-9_-]*+ (?: \. [A-Za-z0-9_-]*+ )?+
)"""
_KEY_BLOCK = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|\Z)"
_BEARER = r"(?i:(?<!\w)(bearer\s{1,4}+))(?=[\w.~+/=-]*\d)[\w.~+/=-]{8,}+"
_COOKIE = r"(?im:(?<![\w-])((?:set-)?cookie:\s{0,4}+))[^\r\n\"']++"
_USERINFO = r"(?<=://)[^\s/@:\"'⟨⟩]++:[^\s/@\"'⟨⟩]*+@"

_VALUE = r"""(?:
    (?P<open> \\" ) (?P<escaped> [^"\\\r\n]++ )
  | (?P<quote> ["'`] ) (?P<quoted> (?: [^"'`\\\r\n]++ | \\. | (?!(?P=quote)) ["'`] )++ )
  | (?P<bare> (?: (?i: bearer | basic | token | digest ) \ {1,4}+ )?+ [^\s"'`,;&(){}\[\]<>⟨⟩\\]++ )
)"""
_SECRET_NAME = r"""pass(?:word|wd|phrase) | (?<![^\W_]) (?:pass|pwd) (?![^\W_]) | secret | token | credential
    | (?: api | access | private | signing | encryption | session ) [_-]? key | authorization | cookie
    | connection[_-]?string"""
_ASSIGNED = r"""(?<![\w.-]) ([\w.-]++) \\?["'`]?+ \]?+ [\ \t]{0,4}+ (?: := | => | : | = ) [\ \t]{0,4}+"""
_OPTION = r"(?<![\w-]) (--[\w-]++) [\ ]{1,4}+ (?!-)"
_PLAIN_VALUE = re.compile(r"[\d.,_]+|true|false|null|none|undefined", re.IGNORECASE)
"""What a name with "token" in it may say without being a secret: counts and switches."""

_MAIL = r"(?<![\w.%+-])[\w.%+-]++@[^\W\d_][\w-]*+(?:(?:\.[\w-]++)++|(?=:[^\s:]))"
_URL_HOST = r"(?<=://)(⟨secret⟩@)?+([\w.-]++)"

_PART = r"[^\s/\\\"'`:;,|<>(){}\[\]*?$&⟨⟩]++"
_ENCODED = r"(?<!\w)-(?:Users|home)-[\w.-]++"
_PATHS = rf"""
    (?: (?<= file:// ) | (?<![\w.~/<⟩-]) | (?= /(?:home|Users)/ ) ) (?P<posix> (?: / {_PART} )++ )
  | (?<![\w~/]) (?P<own> ~ [\w.-]*+ (?: / {_PART} )++ )
  | (?<![A-Za-z]) (?P<drive> [A-Za-z]: (?: (?: \\{{1,4}}+ | / ) {_PART} )++ )
  | (?<![\w\\]) (?P<share> \\{{2,4}}+ [\w.$-]{{2,}}+ (?: \\{{1,2}}+ [\w.$-]{{2,}}+ )++ )
"""
_IP4 = r"(?<![\w.])(\d{1,3})\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\w]|\.\d)"
_IP6 = r"(?<![\w:.])[0-9A-Fa-f]{0,4}+:[0-9A-Fa-f:]{2,40}+(?:\.\d{1,3}){0,3}+(?![\w:])"
_SURE_DOMAINS = "com|net|org|edu|gov|mil|internal|intranet|corp|lan|localdomain|cloud|onion|biz"
_LIKELY_DOMAINS = (
    "io|dev|app|ai|co|local|home|xyz|tech|arpa|de|fr|jp|cn|eu|uk|ch|at|nl|se|es|br|ca|kr|tw|au|nz|pl|cz|it|us|in"
)
_HOST = rf"""(?<![\w.@/⟨-]) (?:
    (?: [A-Za-z0-9-]++ \. ){{2,}}+ (?: {_SURE_DOMAINS} | {_LIKELY_DOMAINS} )
  | [A-Za-z0-9-]++ \. (?: {_SURE_DOMAINS} ) ) (?! [\w-] | \.\w )"""


def mask(text: str) -> str:
    """``text`` with paths, mail addresses, hosts and what looks like a secret replaced by marks."""
    lower = text.lower()
    for signs, rule in _rules():
        if any(sign in lower for sign in signs.split(" ")):
            text = rule(text)
    return text


def holds_secret(text: str) -> bool:
    """Whether ``text`` holds what can hardly be anything but a secret.

    Private keys, tokens of a known form, bearer tokens, passwords in addresses; not what merely follows a telling name,
    which :func:`mask` hides too.
    """
    return any(pattern.search(text) is not None for pattern in _sure_secrets())


def secret_spans(text: str) -> list[tuple[int, int]]:
    """Where what :func:`holds_secret` finds stands, as (start, end) in characters, in order and apart."""
    spans = sorted(found.span() for pattern in _sure_secrets() for found in pattern.finditer(text))
    apart: list[tuple[int, int]] = []
    for start, end in spans:
        if apart and start <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


@cache
def _sure_secrets() -> tuple[re.Pattern[str], ...]:
    return (
        re.compile(_KEY_BLOCK, re.DOTALL),
        re.compile(_TOKEN, re.VERBOSE),
        re.compile(_BEARER),
        re.compile(_USERINFO),
    )


@cache
def _rules() -> tuple[Rule, ...]:
    """In order: a secret may hold what looks like a host, a path may end in what looks like a mail.

    No rule makes the signs of a later one, so those of the original text decide.
    """

    def rule(pattern: str, mark: str | Callable[[re.Match[str]], str], flags: int = re.VERBOSE) -> Callable[[str], str]:
        return partial(re.compile(pattern, flags).sub, mark)

    plain = re.NOFLAG
    names = "pass pwd secret token credential key authorization cookie connection"
    tokens = "k- k_ gh github_pat_ glpat- xox npm_ pypi- hf_ dop_v1_ ya29. whsec_ akia asia aroa aida agpa aiza sg. eyj"
    return (
        ("private key-----", rule(_KEY_BLOCK, "⟨secret⟩", re.DOTALL)),
        ("cookie:", rule(_COOKIE, r"\1⟨secret⟩", plain)),
        (names, partial(_hide_values, re.compile(_ASSIGNED, re.VERBOSE))),
        (names, partial(_hide_values, re.compile(_OPTION, re.VERBOSE))),
        (tokens, rule(_TOKEN, "⟨secret⟩")),
        ("bearer", rule(_BEARER, r"\1⟨secret⟩", plain)),
        ("://", rule(_USERINFO, "⟨secret⟩@", plain)),
        ("://", rule(_URL_HOST, _url_host, plain)),
        ("@", rule(_MAIL, "⟨mail⟩", plain)),
        ("-users- -home-", rule(_ENCODED, "⟨path⟩", plain)),
        ("/ \\", rule(_PATHS, _path)),
        (".", rule(_IP4, _ip4, plain)),
        (":", rule(_IP6, _ip6, plain)),
        (".", rule(_HOST, "⟨host⟩", re.VERBOSE | re.IGNORECASE)),
    )


def _hide_values(named: re.Pattern[str], text: str) -> str:
    """``text`` with the values hidden that stand after a name that secrets have."""
    shown: list[str] = []
    at = 0
    for found in named.finditer(text):
        if found.start() < at or not _is_secret(found[1][-100:]):
            continue
        value = _value().match(text, found.end())
        if value is None:
            continue
        said = value["escaped"] or value["quoted"] or value["bare"]
        if "pass" not in found[1].lower() and _PLAIN_VALUE.fullmatch(said) is not None:
            continue
        shown += text[at : found.end()], value["open"] or value["quote"] or "", "⟨secret⟩"
        at = value.end()
    shown.append(text[at:])
    return "".join(shown)


@lru_cache(maxsize=4096)
def _is_secret(name: str) -> bool:
    return re.search(_SECRET_NAME, name, re.VERBOSE | re.IGNORECASE) is not None


@cache
def _value() -> re.Pattern[str]:
    return re.compile(_VALUE, re.VERBOSE)


def _url_host(found: re.Match[str]) -> str:
    host = found[2]
    if host in ("localhost", "127.0.0.1", "0.0.0.0"):
        return found.group()
    return f"{found[1] or ''}⟨host⟩"


def _path(found: re.Match[str]) -> str:
    """The last name of a path that leads somewhere; a single ``/name`` is left, as commands are named so."""
    path = found.group()
    mark = "\\" if found["drive"] or found["share"] else "/"
    parts = [part for part in re.split(r"[\\/]+", path) if part]
    if len(parts) > 1 and parts[-2].lower() in ("home", "users", "documents and settings"):
        return "⟨home⟩"
    if path == "/root" or (found["own"] and len(parts) == 1):
        return "⟨home⟩"
    if len(parts) == 1:
        return path
    return f"⟨path⟩{mark}{parts[-1]}"


def _ip4(found: re.Match[str]) -> str:
    address = found.group()
    numbers = [int(number) for number in address.split(".")]
    if max(numbers) > 255 or numbers[0] == 127 or not any(numbers):
        return address
    return "⟨ip⟩"


def _ip6(found: re.Match[str]) -> str:
    """Times and names of code have colons too: what does not parse as an address or has no digit stays."""
    from ipaddress import AddressValueError, IPv6Address

    if re.search(r"\d", found.group()) is None:
        return found.group()
    try:
        address = IPv6Address(found.group())
    except AddressValueError:
        return found.group()
    return found.group() if address.is_loopback or address.is_unspecified else "⟨ip⟩"
