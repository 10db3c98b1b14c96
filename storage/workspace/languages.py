"""What a text is written in, what it defines and what it refers to: by light expressions, not by parsing.

An expression looks at one line, begins where the line does and is bounded, so its cost is linear in the text. It may
miss a definition or take something for one; nothing but the order of what is found depends on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_ENDINGS: Final = {
    "python": "py pyi pyw",
    "typescript": "ts tsx mts cts",
    "javascript": "js jsx mjs cjs",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "kotlin": "kt kts",
    "scala": "scala",
    "c": "c h",
    "cpp": "cc cpp cxx hh hpp hxx",
    "csharp": "cs",
    "swift": "swift",
    "ruby": "rb rake gemspec",
    "php": "php",
    "shell": "sh bash zsh ksh",
    "sql": "sql",
    "lua": "lua",
    "elixir": "ex exs",
    "vue": "vue",
    "svelte": "svelte",
    "markdown": "md markdown mdx mdc",
    "rst": "rst",
    "asciidoc": "adoc asciidoc",
    "text": "txt text",
    "json": "json jsonc json5",
    "yaml": "yaml yml",
    "toml": "toml",
    "ini": "ini cfg conf properties",
    "xml": "xml xsd xsl svg",
    "html": "html htm",
    "css": "css scss sass less",
    "proto": "proto",
    "graphql": "graphql gql",
    "terraform": "tf tfvars",
    "log": "log",
}
_BY_ENDING: Final = {ending: language for language, endings in _ENDINGS.items() for ending in endings.split()}
_BY_NAME: Final = {
    "dockerfile": "docker", "makefile": "make", "gnumakefile": "make", "jenkinsfile": "groovy", "rakefile": "ruby",
    "gemfile": "ruby", "readme": "text", "license": "text", "changelog": "text", "codeowners": "text",
    ".cursorrules": "markdown", ".windsurfrules": "markdown", ".clinerules": "markdown",
}  # fmt: skip
_LISTS = re.compile(r"(?:requirements|constraints)[\w.-]*\.txt|cmakelists\.txt|robots\.txt")
"""Files that end as prose does and are none."""

_BY_PROGRAM: Final = {
    "python": "python", "node": "javascript", "deno": "typescript", "bash": "shell", "sh": "shell", "zsh": "shell",
    "ruby": "ruby", "php": "php", "lua": "lua",
}  # fmt: skip
_SHEBANG = re.compile(r"#!\s?\S*?(?:/env\s+(?:-S\s+)?)?([a-z]+)[\d.]*(?:\s|\Z)")

PROSE: Final = frozenset({"markdown", "rst", "asciidoc", "text"})
"""Languages people write to each other in."""


def language_of(path: str, beginning: str) -> str:
    """What a file is written in, by its name or its first line; ``other`` where neither says."""
    name = path.rpartition("/")[2].lower()
    if _LISTS.fullmatch(name):
        return "other"
    known = _BY_NAME.get(name) or _BY_ENDING.get(name.rpartition(".")[2] if "." in name else "")
    if known is None and beginning.startswith("#!"):
        match = _SHEBANG.match(beginning[:200])
        known = _BY_PROGRAM.get(match[1].rpartition("/")[2]) if match else None
    return known or "other"


class Symbol(NamedTuple):
    """A name a text defines. ``line``: from 0; ``kind``: ``function class type value test heading``…"""

    name: str
    kind: str
    line: int


class Reference(NamedTuple):
    """Something a text says it uses, as it writes it; ``line``: from 0."""

    target: str
    line: int


_NAME = r"[A-Za-z_$][\w$]{0,200}"
_MODS = r"(?:(?:export|default|declare|abstract|async|public|private|protected|static|readonly|override)[ \t]+){0,6}"

_DEFINITIONS: Final[dict[str, str]] = {
    "python": r"""
        [ \t]*(?: (?:async[ \t]+)? def[ \t]+(?P<function>\w{1,200}) | class[ \t]+(?P<class>\w{1,200}) )
      | (?P<value>[A-Za-z_]\w{0,200})[ \t]*(?::[^=\n]{1,200})?=(?!=)
    """,
    "javascript": rf"""
        [ \t]*{_MODS}(?: function[ \t]*\*?[ \t]*(?P<function>{_NAME})
          | class[ \t]+(?P<class>{_NAME})
          | (?:interface|type|enum|namespace|module|const[ \t]+enum)[ \t]+(?P<type>{_NAME})
          | (?:const|let|var)[ \t]+(?P<value>{_NAME})[ \t]*[=:]
          | (?:describe|it|test|suite|context|scenario)(?:\.\w{{1,20}}){{0,3}}[ \t]*\([ \t]*
              (?P<quote>['"`])(?P<test>[^'"`\n]{{1,200}})(?P=quote) )
      | [ \t]+{_MODS}(?:get[ \t]+|set[ \t]+|\*[ \t]*|\#)?
          (?!(?:if|for|while|switch|catch|return|function|with|else|do)\b)
          (?P<method>{_NAME})[ \t]*\([^()\n]{{0,200}}\)[ \t]*(?::[^{{\n]{{1,200}})?\{{
    """,
    "go": r"""
        func[ \t]+(?:\([^)\n]{0,200}\)[ \t]*)?(?P<function>\w{1,200})
      | (?:type|\t)[ \t]*(?P<type>[A-Z]\w{0,200})[ \t]+(?:struct|interface|func)\b
      | type[ \t]+(?P<alias>\w{1,200})
      | (?:var|const)[ \t]+(?P<value>\w{1,200})
    """,
    "rust": r"""
        [ \t]*(?:pub(?:\([^)\n]{1,60}\))?[ \t]+)?
          (?:(?:async|unsafe|const|default|extern(?:[ \t]+"[^"\n]{0,20}")?)[ \t]+){0,5}
          (?: fn[ \t]+(?P<function>\w{1,200}) | (?:struct|enum|union|trait|type|mod)[ \t]+(?P<type>\w{1,200})
            | (?:const|static)[ \t]+(?:mut[ \t]+)?(?P<value>\w{1,200})[ \t]*: | macro_rules![ \t]*(?P<macro>\w{1,200}) )
      | [ \t]*const[ \t]+(?P<constant>\w{1,200})[ \t]*:
    """,
    "java": rf"""
        [ \t]*(?:@\w{{1,60}}[ \t]+){{0,4}}(?:(?:public|private|protected|internal|static|final|abstract|sealed|open
            |data|partial|override|virtual|async|inline|suspend|case|implicit|lazy|readonly)[ \t]+){{0,6}}
          (?: (?:class|interface|enum|record|struct|object|trait|@interface)[ \t]+(?P<class>{_NAME})
            | (?:fun|def)[ \t]+(?:<[^>\n]{{1,80}}>[ \t]*)?(?P<function>{_NAME})
            | (?:val|var)[ \t]+(?P<value>{_NAME})[ \t]*[:=] )
      | [ \t]+(?:(?:public|private|protected|internal|static|final|abstract|synchronized|override|virtual|async)
            [ \t]+){{1,6}}
          (?:[\w<>\[\].?]|,[ ]?){{1,100}}[ \t]+(?P<method>{_NAME})[ \t]*\(
    """,
    "c": rf"""
        \#[ \t]*define[ \t]+(?P<macro>{_NAME})
      | (?:typedef[ \t]+)?(?:struct|enum|union|class|namespace)[ \t]+(?P<type>{_NAME})[^;()\n]{{0,200}}(?:\{{|$)
      | (?!(?:return|else|if|for|while|switch|typedef|using|case)\b)
          [A-Za-z_](?>[\w \t*&:<>,~]{{0,160}}?(?=\b{_NAME}\())
          (?P<function>{_NAME})\([^;\n]{{0,300}}$
    """,
    "ruby": r"""
        [ \t]*(?: def[ \t]+(?:self\.)?(?P<function>[\w?!=]{1,200}) | (?:class|module)[ \t]+(?P<class>[\w:]{1,200})
          | (?:describe|context|it)[ \t]+(?P<quote>['"])(?P<test>[^'"\n]{1,200})(?P=quote) )
    """,
    "php": rf"""
        [ \t]*(?:(?:public|private|protected|static|final|abstract|readonly)[ \t]+){{0,5}}
          (?: function[ \t]+&?(?P<function>{_NAME}) | (?:class|interface|trait|enum)[ \t]+(?P<class>{_NAME}) )
    """,
    "swift": rf"""
        [ \t]*(?:(?:public|private|internal|open|fileprivate|static|final|override|mutating|@\w{{1,40}})[ \t]+){{0,6}}
          (?: func[ \t]+(?P<function>{_NAME}) | (?:class|struct|enum|protocol|extension|actor)[ \t]+(?P<class>{_NAME})
            | (?:let|var)[ \t]+(?P<value>{_NAME})[ \t]*[:=] )
    """,
    "shell": r"""
        [ \t]*(?: function[ \t]+(?P<function>[\w.-]{1,200}) | (?P<other>[\w.-]{1,200})[ \t]*\(\) )
    """,
    "sql": r"""
        [ \t]*create[ \t]+(?:(?:or[ \t]+replace|temp|temporary|unique|virtual|materialized)[ \t]+){0,3}
          (?:table|view|index|function|procedure|trigger|type)[ \t]+(?:if[ \t]+not[ \t]+exists[ \t]+)?
          ["`\[]?(?P<type>[\w.]{1,200})
    """,
    "make": r"(?P<value>[\w./-]{1,200})[ \t]*::?(?!=)",
    "markdown": r"\#{1,6}[ \t]+(?P<heading>[^\n]{1,200})",
    "asciidoc": r"={1,6}[ \t]+(?P<heading>[^\n]{1,200})",
    "rst": r"(?P<heading>[^\s=~^\"'`*+#.:_-][^\n]{0,200})\n(?:={3,200}|-{3,200}|~{3,200}|\^{3,200})[ \t]*$",
    "graphql": r"(?:type|input|enum|interface|union|scalar|query|mutation|fragment)[ \t]+(?P<type>\w{1,200})",
    "proto": r"[ \t]*(?:message|service|enum|rpc)[ \t]+(?P<type>\w{1,200})",
    "terraform": r'(?:resource|data|module|variable|output)[ \t]+(?:"[\w.-]{1,200}"[ \t]+)?"(?P<type>[\w.-]{1,200})"',
    "css": r"[ \t]*(?:--(?P<value>[\w-]{1,100})[ \t]*:|[.\#](?P<type>[\w-]{1,100})[^;{\n]{0,200}\{)",
    "toml": r"\[{1,2}(?P<heading>[^\]\n]{1,200})\]",
    "ini": r"\[(?P<heading>[^\]\n]{1,200})\]",
    "lua": r"[ \t]*(?:local[ \t]+)?function[ \t]+(?P<function>[\w.:]{1,200})",
    "elixir": r"[ \t]*(?:defmodule[ \t]+(?P<class>[\w.]{1,200})|defp?[ \t]+(?P<function>[\w?!]{1,200}))",
}

_REFERENCES: Final[dict[str, str]] = {
    "python": r"[ \t]*(?:from[ \t]+(?P<a>[\w.]{1,200})[ \t]+import|import[ \t]+(?P<b>[\w.]{1,200}))",
    "javascript": r"""\b(?:from|import|require)\b[ \t]{0,9}\(?[ \t]{0,9}['"](?P<a>[^'"\n]{1,300})['"]""",
    "go": r"[ \t]*(?:import[ \t]+)?(?:[\w.]{1,60}[ \t]+)?\"(?P<a>[\w./-]{1,300})\"[ \t]*$",
    "rust": r"[ \t]*(?:pub[ \t]+)?(?:use[ \t]+(?P<a>[\w:]{1,300})|mod[ \t]+(?P<b>\w{1,200})[ \t]*;)",
    "java": r"[ \t]*(?:import|using)[ \t]+(?:static[ \t]+)?(?P<a>[\w.]{1,300})",
    "c": r"[ \t]*\#[ \t]*include[ \t]*[<\"](?P<a>[^>\"\n]{1,300})[>\"]",
    "ruby": r"[ \t]*require(?:_relative)?[ \t(]+['\"](?P<a>[^'\"\n]{1,300})['\"]",
    "php": r"[ \t]*use[ \t]+(?P<a>[\w\\]{1,300})",
    "shell": r"[ \t]*(?:source|\.)[ \t]+[\"']?(?P<a>[\w./-]{1,300})",
    "css": r"[ \t]*@(?:import|use)[ \t]+['\"](?P<a>[^'\"\n]{1,300})['\"]",
    "markdown": r"\]\((?![a-z]{2,12}:|\#)(?P<a>[^)\s\#]{1,300})",
}

_SAME: Final = {
    "typescript": "javascript", "vue": "javascript", "svelte": "javascript", "kotlin": "java", "scala": "java",
    "csharp": "java", "cpp": "c", "docker": "shell",
}  # fmt: skip
"""Languages that are looked at with another's expressions."""

_INSIDE_LINES: Final = {("references", "javascript"), ("references", "markdown")}
"""Expressions that need not begin where a line does; all others do."""

MOST_SYMBOLS: Final = 2_000
"""Definitions, and as many references, that are taken of one text."""

_compiled: dict[tuple[str, str], re.Pattern[str] | None] = {}


def _pattern(which: str, table: dict[str, str], language: str) -> re.Pattern[str] | None:
    key = which, language
    if key not in _compiled:
        source = table.get(_SAME.get(language, language))
        flags = re.MULTILINE | re.VERBOSE | (re.IGNORECASE if language == "sql" else 0)
        if source and (which, _SAME.get(language, language)) not in _INSIDE_LINES:
            source = rf"\n(?:{source.strip()})"  # found far faster than what begins with ^
        _compiled[key] = re.compile(source.strip(), flags) if source else None
    return _compiled[key]


def _found(pattern: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], int]]:
    """Matches with the number of the line they begin on."""
    text = "\n" + text
    before = at = 0
    for count, match in enumerate(pattern.finditer(text)):
        if count >= MOST_SYMBOLS:
            return
        start = match.start()
        before += text.count("\n", at, start)
        at = start
        yield match, before if text[start] == "\n" else before - 1


def definitions(text: str, language: str) -> list[Symbol]:
    """What a text defines, in order."""
    pattern = _pattern("definitions", _DEFINITIONS, language)
    if pattern is None:
        return []
    found = []
    for match, line in _found(pattern, text):
        kind = match.lastgroup
        if kind is not None:
            name = match[kind].strip()
            name = name.rstrip("#").rstrip() if kind == "heading" else name
            if name:
                found.append(Symbol(name, _KINDS.get(kind, kind), line))
    return found


_KINDS: Final = {"alias": "type", "constant": "value", "macro": "value", "method": "function", "other": "function"}


def references(text: str, language: str) -> list[Reference]:
    """What a text says it uses: modules and files, as written."""
    pattern = _pattern("references", _REFERENCES, language)
    if pattern is None:
        return []
    found = []
    for match, line in _found(pattern, text):
        if match.lastgroup is not None:
            found.append(Reference(match[match.lastgroup], line))
    return found


def target_key(target: str) -> str:
    """The last name in what is referred to, without an ending and in small letters: ``../src/Auth.ts`` → ``auth``."""
    last = re.split(r"[/\\:]", target.rstrip("/\\:"))[-1]
    if "/" not in target and "\\" not in target and last.count(".") and not _code_ending(last):
        last = last.rpartition(".")[2]
    stem, dot, ending = last.rpartition(".")
    return (stem if dot and ending.lower() in _BY_ENDING else last).lower()


def _code_ending(name: str) -> bool:
    return name.count(".") == 1 and name.rpartition(".")[2].lower() in _BY_ENDING
