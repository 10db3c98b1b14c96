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


_VERBS = (
    "use|run|add|set|send|upload|post|copy|write|call|install|skip|disable|enable|approve|"
    "allow|ignore|prefer|avoid|keep|put|fetch|download|execute|trust|include|append|delete|"
    "remove|commit|push|merge|report|store|save|check|start|stop|end|open|forward|share|"
    "grant|give|treat|assume|route|pipe|export|recommend|mention|reply|answer|respond|accept|"
    "bypass|respect|follow|apply|do|tell|ask|turn|make|let|print|log|register|point|rely|"
    "consider|switch|pin|load|paste|expose|never|always|be"
)
_DIRECTIVE = re.compile(
    rf"(?:^|[.;:!?]\s+|\n\s*|\*\s*)(?:important:? |note:? |please |just )*(?:{_VERBS})\b"
    r"(?!\s+(?:\w+\s+)?(?:is|are|was|were|has|of|holds?|keeps?|runs?)\b)"
    r"|\b(?:do not|don't|make sure|be sure|remember to|from now on|going forward|in (?:the )?future|hereafter|"
    r"(?:whenever|every time|any time|each time|if|when) (?:you|the (?:agent|assistant|model)|an agent)|"
    r"(?:you|agents?|assistants?|claude|codex|the model|we|everyone|developers?|contributors?) "
    r"(?:must|should|shall|need to|have to|are to|can safely|may safely)|"
    rf"(?:must|should|shall|always|never) (?:not |always |never )?(?:{_VERBS})\b|required to|"
    r"it is (?:fine|ok|okay|safe) to|"
    r"ignore (?:all|any|previous|the)|before (?:any|every|each) \w+,|after (?:any|every|each) \w+,)"
    r"|必ず|してください|すること|しないこと|べき|今後は|常に|必须|必須|務必|务必|不要|总是|總是|以后|以後|请|請",
    re.IGNORECASE,
)
_RIGHTS = re.compile(
    r"https?://|\bwww\.|\b(?:passwords?|passphrase|secret keys?|access tokens?|api[ _-]?keys?|private keys?|ssh keys?|"
    r"sudo|chmod|exfiltrat\w*|pastebin|id_rsa|access rights?|root (?:access|user|shell)|"
    r"admin(?:istrator)? (?:role|rights?|access))\b"
    r"|(?<!\w)\.(?:env|ssh|npmrc|netrc|pypirc|aws)\b|パスワード|秘密鍵|密码|密碼|令牌",
    re.IGNORECASE,
)
_RIGHTS_IF_ORDERED = re.compile(
    r"\b(?:secrets?|tokens?|credentials?|permissions?|login|oauth|auth(?:entication|orization)?|webhook|curl|wget|upload|"
    r"iam|security|vault|certificate|firewall|registry|mirror|endpoint|billing|production|root|admin)\b|認証|権限|权限",
    re.IGNORECASE,
)
"""Words that matter in an order, and are everyday words in a fact."""

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
_GUARDED = (
    r"(?:tests?|checks?|verif\w+|scans?|reviews?|reviewers?|hooks?|lint\w*|validation|warnings?|alerts?|tls|ssl|signing|"
    r"signatures?|sandbox|approvals?|errors?|messages?|audit\w*|logging|safeguards?|rules?|limits?|permissions?)"
)
_SAFEGUARD_DOWN = re.compile(
    rf"\b{_GUARDED}\b[^.;\n]{{0,50}}\b(?:turned off|switched off|disabled|skipped|suppressed|bypassed|ignored|muted|"
    r"informational|optional|relaxed|waived|unnecessary|not (?:required|needed|enforced)|need not)\b"
    r"|\b(?:accepted|approved|merged|granted|trusted|allowed) automatically\b|\bpre-?approved\b"
    r"|\bmark(?:ed|s)? (?:it |them |as )*skipped\b|\bas root\b|\bneed(?:s)? not\b"
    r"|\bwithout (?:an? |any |the )?(?:\w+ )?(?:staging|review|approval|confirmation|checks?|tests?|prompt|dry run)\b"
    r"|\b(?:admin|root|full|write) (?:access|rights)\b[^.;\n]{0,40}\bby default\b",
    re.IGNORECASE,
)
"""A safeguard that is said to be down, which a fact may truly say."""

_LEAKS = re.compile(
    r"\b(?:secrets?|tokens?|credentials?|(?:deploy|api|private|ssh) keys?|passwords?|customer \w+|personal data|"
    r"\.env)\b[^.;\n]{0,50}\b(?:echoed|logged|printed|attached|posted|uploaded|copied|shared|exported|included|committed|"
    r"pasted|emailed|exports?)\b"
    r"|\b(?:posted|sent|uploaded|forwarded|routed|published|reported|mirrored|go(?:es)? through|served)\b[^.;\n]{0,40}"
    r"\b(?:to|at|via|through|from) (?:[\w-]+\.)+[a-z]{2,}\b",
    re.IGNORECASE,
)
"""What is secret and leaves, or where something is said to go."""

_HIDES = re.compile(
    r"\b(?:do not|don't|never|without|no need to|avoid|not to)\b[^.;\n]{0,30}\b(?:mention\w*|tell\w*|reveal\w*|"
    r"disclos\w+|notif\w+|inform\w*|show\w* (?:this|the user)|report\w*|log(?:ging)? (?:this|it)|discuss\w*|surfac\w+|"
    r"rais\w+ (?:this|it))\b"
    r"|\b(?:keep (?:this|it) (?:secret|quiet|hidden|private|to yourself)|secretly|covertly|behind the "
    r"scenes|out of the (?:summary|diff|log|report))\b"
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
    found: list[Found] = []
    codes: set[str] = set()
    for code, pattern in _PATTERNS:
        if code not in codes and (match := pattern.search(text)) is not None:
            found.append(Found(code, *match.span(), display(match.group()[:120])))
            codes.add(code)
    if "touches_rights" not in codes and codes & {"directive", "lowers_safeguard"}:
        soft = _RIGHTS_IF_ORDERED.search(text)
        if soft is not None:
            found.append(Found("touches_rights", *soft.span(), display(soft.group())))
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
    ("lowers_safeguard", _SAFEGUARD_DOWN),
    ("touches_rights", _LEAKS),
    ("hides_itself", _HIDES),
    ("hedged", _HEDGES),
)
