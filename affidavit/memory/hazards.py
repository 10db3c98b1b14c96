"""What in a text itself is dangerous or idle: orders, lowered safeguards, secrets, what hides, noise, mere supposing.

Patterns, and so easily talked around: they add points that are shown, and never let anything pass. What counts more is
who said it; see :mod:`affidavit.memory.checks`.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from affidavit.text.display import display
from affidavit.text.hidden import hidden_payload
from affidavit.text.masking import holds_secret
from affidavit.text.normal import normal

Hazard = Literal[
    "directive", "touches_rights", "lowers_safeguard", "hides_itself", "hidden_characters", "secret", "noise", "hedged"
]


class Found(NamedTuple):
    """A hazard where it stands: characters ``start`` up to ``end`` of the text. ``said``: it, safe to show."""

    code: Hazard
    start: int
    end: int
    said: str


_DIRECTIVE = re.compile(
    r"\b(?:always|never|must(?: not)?|shall|do not|don't|make sure|be sure|remember to|from now on|going forward|in "
    r"(?:the )?future|whenever|every time|you should|should(?: always| never| not)?|ensure|important:?|required to|"
    r"need to|ignore (?:all|any|previous|the)|before (?:any|every|each)|after (?:any|every|each)|by default)\b"
    r"|(?:^|[.;:\n]\s*)(?:please )?(?:use|run|add|set|send|upload|post|copy|write|call|install|skip|disable|enable|"
    r"approve|allow|ignore|prefer|avoid|keep|put|fetch|download|execute|trust|include|append|delete|remove|commit|push|"
    r"merge|report|store|save|check|start|stop|end|open|forward|share|grant|give|treat|assume|route|pipe|export|be|"
    r"recommend|mention|reply|answer|respond)\b"
    r"|必ず|してください|すること|しないこと|べき|今後は|常に|必须|必須|务必|務必|不要|总是|總是|以后|以後|请|請",
    re.IGNORECASE,
)
_RIGHTS = re.compile(
    r"https?://|\bwww\.|\b(?:passwords?|passphrase|secrets?|tokens?|credentials?|api[ _-]?keys?|private keys?|ssh|"
    r"\.env|permissions?|sudo|root|admin(?:istrator)?|chmod|access rights?|login|oauth|auth(?:entication|orization)?|"
    r"webhook|curl|wget|upload|exfiltrat\w*|send (?:it|them|the)|iam|security|vault|certificate|firewall|registry|"
    r"paste(?:bin)?|endpoint|billing|production)\b|パスワード|認証|権限|秘密|密码|密碼|权限|令牌",
    re.IGNORECASE,
)
_SAFEGUARD = re.compile(
    r"--no-verify|--force\b|--insecure|--dangerously\S*|--yes\b|--allow-\S+|--skip-\S+|--no-check\S*|--trusted-host|"
    r"verify\s*=\s*false|strict\s*=\s*false|rejectunauthorized|"
    r"\b(?:skip|skips|skipping|disable|disables|disabling|turn(?:s|ed)? off|bypass|bypasses|bypassing|suppress|"
    r"ignore|ignores|silence|comment out|remove|delete|loosen|relax|weaken|drop)\b[^.;\n]{0,50}\b"
    r"(?:tests?|checks?|verif\w+|lint\w*|hooks?|reviews?|approvals?|confirmation|sign(?:ing|ature)s?|sandbox|guard\w*|"
    r"validation|auth\w*|tls|ssl|certificates?|warnings?|scan\w*|audit\w*|logging|logs|safety|permission\w*|policy|"
    r"policies|limits?|csp|cors|encryption|2fa|mfa|alerts?|rules?|protection)\b"
    r"|\b(?:without|no need (?:for|to)|don't need|not? necessary to|no longer (?:need|require)\w*|needn't|instead of) "
    r"(?:\w+ ){0,4}?(?:ask\w*|approv\w+|confirm\w*|review\w*|permission|check\w*|verif\w+|test\w*|prompt\w*|sign\w*)\b"
    r"|\b(?:auto-?(?:approve|accept|merge|confirm)|pre-?approved|approve (?:all|everything|it )|trust(?:ed)? "
    r"(?:all|any|every)|always (?:allow|accept|approve|trust)|run (?:it )?as root|chmod 777|"
    r"safe to (?:skip|ignore|disable|run|trust|commit|share|merge)|full access|wildcard)\b"
    r"|確認(?:せず|なし|不要)|承認(?:なし|不要|せず)|テストを(?:省|飛ば|スキップ)|跳过|跳過|无需(?:确认|审批)|無需",
    re.IGNORECASE,
)
_HIDES = re.compile(
    r"\b(?:do not|don't|never|without|no need to|avoid|not to)\b[^.;\n]{0,30}\b(?:mention\w*|tell\w*|reveal\w*|"
    r"disclos\w+|notif\w+|inform\w*|show\w* (?:this|the user)|report\w*|log(?:ging)? (?:this|it)|discuss\w*|surfac\w+|"
    r"rais\w+ (?:this|it))\b"
    r"|\b(?:keep (?:this|it) (?:secret|quiet|hidden|private|to yourself)|silently|secretly|quietly|covertly|behind the "
    r"scenes|unnoticed|invisib\w+|out of the (?:summary|diff|log|report))\b"
    r"|内緒|言わない|伝えない|黙って|不要告诉|不要提|别告诉|秘密地|悄悄",
    re.IGNORECASE,
)
_SAID_SECRET = re.compile(
    r"\b(?:passwords?|passwd|passphrase|pwd|secret|api[ _-]?key|access[ _-]?key|token|pin|credential)s?\b"
    r"(?:\s+(?:for|of|to)\s+\S+(?:\s+\S+)?)?\s*(?:is|are|was|=|:|は|是)\s*"
    r"(?![<\[{$]|(?:stored|kept|in|not|never|a|an|the|required|set|read|managed|rotated|expired|valid|invalid|used|null|"
    r"none|missing|hashed|checked|sent|passed|needed|optional|empty|unset|loaded|taken|created|generated|issued|shared|"
    r"refreshed|cached|undefined)\b)"
    r"[\"'`]?(?=\S*[\d!@#$%^&*_-])[^\s\"'`]{6,}",
    re.IGNORECASE,
)
_NOISE = re.compile(
    r"^\W*(?:heartbeat(?:_ok)?|ok|done|pong|ping|ack(?:nowledged)?|no_?op|nothing to (?:do|report|save|remember)|"
    r"session (?:started|ended|resumed|opened|closed)|(?:task|run|job) (?:started|finished|completed)|n/a|null|none|"
    r"undefined|(?:i am |i'm )?ready|idle|waiting|loading|\W*)\W*$",
    re.IGNORECASE,
)
_JSON_NOISE = re.compile(r"^\s*[{\[].*[}\]]\s*$", re.DOTALL)
_HEDGES: Final = re.compile(
    r"\b(?:could we|what if|maybe|perhaps|might be|possibly|i (?:think|guess|wonder|assume)|not sure|suppose|"
    r"hypothetical\w*|(?:we|you|one) could|should we|would it|let's imagine|imagine|probably|"
    r"for example,? (?:if|we)|seems? to|apparently)\b"
    r"|かもしれ|たぶん|もし|かな[?？]|也许|也許|可能|大概|如果",
    re.IGNORECASE,
)
_LONE_HIDDEN = re.compile("[\u200b\u2060-\u2064\u202a-\u202e\u2066-\u2069\ufeff\u180e\u3164\u115f\u1160\uffa0]")


def hazards(text: str) -> list[Found]:
    """Every hazard in a text, each code once, where it first stands."""
    found = [
        Found(code, *match.span(), display(match.group()[:120]))
        for code, pattern in _PATTERNS
        if (match := pattern.search(text)) is not None
    ]
    found += _hidden(text)
    if holds_secret(text) or _SAID_SECRET.search(normal(text).text):
        found.append(Found("secret", 0, len(text), ""))
    if _NOISE.match(text) or (_JSON_NOISE.match(text) and '"' in text):
        found.append(Found("noise", 0, len(text), display(text[:120])))
    return found


def hedged(text: str) -> bool:
    """Whether a text supposes instead of saying so."""
    return _HEDGES.search(text) is not None


def _hidden(text: str) -> list[Found]:
    """What cannot be seen: a text smuggled in, or marks that turn or part what is seen."""
    for payload in hidden_payload(text):
        return [Found("hidden_characters", payload.start, payload.end, payload.text)]
    lone = _LONE_HIDDEN.search(text)
    return [] if lone is None else [Found("hidden_characters", *lone.span(), display(lone.group()))]


_PATTERNS: Final[tuple[tuple[Hazard, re.Pattern[str]], ...]] = (
    ("directive", _DIRECTIVE),
    ("touches_rights", _RIGHTS),
    ("lowers_safeguard", _SAFEGUARD),
    ("hides_itself", _HIDES),
    ("hedged", _HEDGES),
)
