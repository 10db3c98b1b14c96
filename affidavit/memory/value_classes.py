"""Things of which a project has one at a time, by what fills their place: ``pnpm`` is a package manager.

A lexicon of the field, so that "CI runs on Jenkins" and "CI runs on Buildkite" are known to speak of one thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from affidavit.text.normal import Normal

CLASSES: Final[dict[str, str]] = {
    "js-package-manager": "npm pnpm yarn bun",
    "python-package-manager": "pip poetry uv pipenv conda pdm hatch rye",
    "js-test-runner": "jest vitest mocha ava jasmine",
    "python-test-runner": "pytest unittest nose2",
    "js-formatter": "prettier biome dprint",
    "python-formatter": "black yapf autopep8",
    "js-linter": "eslint tslint standardjs oxlint",
    "python-linter": "pylint flake8 ruff",
    "bundler": "webpack vite rollup esbuild parcel rspack turbopack",
    "database": "postgres postgresql mysql mariadb sqlite mongodb cockroachdb oracle mssql dynamodb firestore",
    "queue": "kafka rabbitmq sqs nats celery sidekiq bullmq pulsar activemq",
    "cache": "redis memcached valkey dragonfly",
    "ci": "jenkins buildkite circleci travis gitlab-ci teamcity drone azure-pipelines github-actions",
    "deploy-target": "heroku vercel netlify fly.io render kubernetes ecs nomad cloudrun lambda",
    "js-web-framework": "express fastify koa hono nestjs",
    "python-web-framework": "django flask fastapi",
    "ui-framework": "react vue svelte solid angular preact qwik",
    "type-checker": "mypy pyright pyre pytype typescript flow",
    "python-orm": "sqlalchemy sqlmodel peewee tortoise",
    "js-orm": "prisma drizzle typeorm sequelize knex",
    "python-http-client": "requests httpx aiohttp urllib3",
    "js-http-client": "axios got undici",
    "logging": "structlog loguru winston pino bunyan log4j zap zerolog",
    "indentation": "tabs 2-spaces 4-spaces",
    "quote-style": "single-quotes double-quotes",
    "branch": "main master develop trunk",
    "merge-style": "squash rebase merge-commit",
    "monorepo-tool": "turborepo nx lerna bazel rush",
    "container": "docker podman containerd buildah",
    "editor": "vim neovim emacs vscode zed",
}
"""A class and the words of its members. A text that names one member speaks of the class."""

_PHRASES: Final = (
    (re.compile(r"\btwo spaces?\b|\b2[ -]spaces?\b"), ("indentation", "2-spaces")),
    (re.compile(r"\bfour spaces?\b|\b4[ -]spaces?\b"), ("indentation", "4-spaces")),
    (re.compile(r"\bsingle[ -]quotes?\b"), ("quote-style", "single-quotes")),
    (re.compile(r"\bdouble[ -]quotes?\b"), ("quote-style", "double-quotes")),
    (re.compile(r"\bgithub actions\b"), ("ci", "github-actions")),
    (re.compile(r"\bgitlab ci\b"), ("ci", "gitlab-ci")),
    (re.compile(r"\bcircle ci\b"), ("ci", "circleci")),
    (re.compile(r"\bcloud run\b"), ("deploy-target", "cloudrun")),
)
_VERSIONS: Final = re.compile(
    r"\b(node(?:\.?js)?|python|java|jdk|ruby|php|kotlin|rust|go|dotnet|postgres(?:ql)?|jvm) "
    r"(?:version )?v?(\d+(?:\.\d+)*)\b"
)
"""A language or runtime with its version: a project has one of each at a time."""

_MEMBERS: Final = {word: name for name, words in CLASSES.items() for word in words.split()}
_SAME: Final = {"postgresql": "postgres"}
_ONLY_WITH: Final = {
    "branch": re.compile(r"\b(?:branch|merge|base|target|push|pr|pull request)\b"),
    "indentation": re.compile(r"\bindent"),
    "merge-style": re.compile(r"\b(?:merge|merging|squash|pr|pull request|branch)"),
    "python-http-client": re.compile(r"\b(?:http|client|library|use|calls?)\b"),
    "js-http-client": re.compile(r"\b(?:http|client|library|use|calls?)\b"),
    "ui-framework": re.compile(r"\b(?:ui|frontend|component|framework|uses?|written|app)\b"),
    "deploy-target": re.compile(r"\b(?:deploy|host|ship|run|production|staging)"),
}
"""Words that are also plain English count only beside such a word."""


def members(form: Normal) -> Iterator[tuple[str, str]]:
    """Every (class, member) a text names."""
    found: set[tuple[str, str]] = set()
    for token in form.tokens:
        name = _MEMBERS.get(token)
        if name is not None and (name not in _ONLY_WITH or _ONLY_WITH[name].search(form.text)):
            found.add((name, _SAME.get(token, token)))
    for pattern, member in _PHRASES:
        if pattern.search(form.text):
            found.add(member)
    for name, version in _VERSIONS.findall(form.text):
        found.add((f"version/{name.removesuffix('.js').removesuffix('js').removesuffix('ql')}", version))
    yield from found
