"""A longer day: two helpers in files of their own, a way taken back, a full context, a busy server, and a crash."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from random import Random

from sample_sessions.stories import harness
from sample_sessions.transcript import Place, Transcript, call, say, snapshot, think

SESSION = "e4a6c7d0-92b1-4f3e-b5c8-26d70f9a8e03"
SCOUT = "a3f81c20d9"
COUNTER = "a77b02e4c1"
COMMAND = f"{harness.CWD}/src/commands/build.ts"

COMMAND_TS = """\
import { readFileSync } from "node:fs";
import { parseConfig } from "../config/parser";
import { run } from "../runner";

export function build(path = "build.config.json"): number {
  const config = parseConfig(readFileSync(path, "utf8"));
  return run(config.steps);
}
"""

SERIALIZER_TS = """\
import type { Config } from "./parser";

/** Writes a config as it is kept on disk. Empty values are written too: the parser tells them from absent ones. */
export function serialize(config: Config): string {
  return JSON.stringify(config, null, 2) + "\\n";
}
"""

BROKEN = """\

> build-harness@3.4.0 test /home/robin/src/build-harness
> vitest run

 FAIL  tests/scripts/release.test.ts > release > reads the steps of a config from 2024
TypeError: Cannot read properties of undefined (reading 'steps')
 ❯ scripts/release.ts:31:22

 Test Files  1 failed | 13 passed (14)
      Tests  1 failed | 60 passed (61)
   Duration  6.40s"""

SUMMARY = """\
This session is being continued from a previous conversation that ran out of context. In short:
1. Request: move every caller of the old config parser under src/ to parser v2; leave scripts/ for later.
2. Done: src/commands/build.ts, src/commands/check.ts and src/commands/watch.ts call parseConfigV2. 61 tests pass.
3. Tried and taken back: moving scripts/release.ts too (it reads configs from 2024 that v2 refuses).
4. Next: the serializer in src/config/serializer.ts must write empty values the way v2 reads them."""


def files() -> dict[str, str]:
    """The main log, cut in its last line by the crash, and a log with a short description for each helper."""
    place = Place(SESSION, harness.CWD, "parser-v2", harness.VERSION, harness.MODEL, "patient-sorting-lynx")
    log = Transcript(place, datetime(2026, 5, 20, 7, 55, 30, 900_000, UTC), Random(20260520))
    log.flat("permission-mode", permissionMode="default", sessionId=SESSION)
    scout, counter = ask_the_helpers(log)
    fork = log.parent
    move_everything(log)
    move_less(log, fork)
    log.flat("ai-title", aiTitle="Move the commands to parser v2", sessionId=SESSION)
    compact(log)
    crash(log)
    helpers = f"{harness.FOLDER}/{SESSION}/subagents"
    return {
        f"{harness.FOLDER}/{SESSION}.jsonl": cut(log),
        f"{helpers}/agent-{SCOUT}.jsonl": scout.text(),
        f"{helpers}/agent-{SCOUT}.meta.json": json.dumps({"agentType": "Explore", "spawnDepth": 1}),
        f"{helpers}/agent-{COUNTER}.jsonl": counter.text(),
        f"{helpers}/agent-{COUNTER}.meta.json": json.dumps({"agentType": "general-purpose", "spawnDepth": 2}),
    }


def ask_the_helpers(log: Transcript) -> tuple[Transcript, Transcript]:
    """Turn 1: a helper looks around, and hands part of its task to a second one."""
    log.prompt("Which commands still call the old config parser? Look everywhere, scripts too.", 5)
    asked = "List every caller of parseConfig in src/ and scripts/, with file and line."
    (task,) = log.reply(
        say("I'll send a helper through the code."),
        call("Task", description="Find callers of parseConfig", prompt=asked, subagent_type="Explore"),
    )
    scout = Transcript(log.place, log.clock, Random(31), agent=SCOUT, prompt_id=log.prompt_id, context=6_000)
    scout.record("user", 0.3, promptId=log.prompt_id, message={"role": "user", "content": asked})
    (search,) = scout.reply(call("Grep", pattern=r"parseConfig\(", path=harness.CWD, output_mode="content"), after=1.8)
    found = "\n".join(f"src/commands/{name}.ts:6:  const config = parseConfig(" for name in ("build", "check", "watch"))
    scout.result(search, found, {"mode": "content", "numFiles": 3, "content": found, "numLines": 3, "filenames": []})
    deeper = "Count the calls of parseConfig below scripts/, the ones behind an alias too."
    (handed,) = scout.reply(
        say("Three under src/. The scripts import it under another name; I'll have those counted."),
        call("Task", description="Count callers in scripts", prompt=deeper, subagent_type="general-purpose"),
        after=2.0,
    )
    counter = count_the_scripts(scout, deeper)
    answer = "scripts/release.ts:31 and scripts/nightly.ts:12, both as `readConfig`."
    scout.clock = counter.clock
    scout.result(handed, answer, report(COUNTER, deeper, answer, 3_420, 1), 0.4)
    whole = f"src/commands/build.ts:6, check.ts:6, watch.ts:6; {answer}"
    scout.reply(say(whole), after=1.5)
    log.clock = scout.clock
    log.result(task, whole, report(SCOUT, asked, whole, 9_180, 2), 0.3)
    log.reply(say(f"Five callers: {whole}"))
    log.stopped()
    return scout, counter


def count_the_scripts(scout: Transcript, asked: str) -> Transcript:
    """The helper of the helper."""
    log = Transcript(scout.place, scout.clock, Random(32), agent=COUNTER, prompt_id=scout.prompt_id, context=5_000)
    log.record("user", 0.2, promptId=scout.prompt_id, message={"role": "user", "content": asked})
    command = "grep -rnE 'parseConfig|readConfig' scripts/"
    (search,) = log.reply(call("Bash", command=command, description="Search the scripts"), after=1.4)
    found = "scripts/release.ts:31:  const { steps } = readConfig(old);\nscripts/nightly.ts:12:readConfig(path)"
    log.ran(search, found, 0.1)
    log.reply(say("scripts/release.ts:31 and scripts/nightly.ts:12, both as `readConfig`."), after=1.2)
    return log


def report(agent: str, prompt: str, answer: str, tokens: int, tools: int) -> dict[str, object]:
    """What the program keeps of a helper's work, beside its answer."""
    return {
        "status": "completed",
        "prompt": prompt,
        "agentId": agent,
        "content": [{"type": "text", "text": answer}],
        "totalDurationMs": 9_400,
        "totalTokens": tokens,
        "totalToolUseCount": tools,
    }


def move_everything(log: Transcript) -> None:
    """Turn 2, the way taken back: too much at once, and the person stops it."""
    log.prompt("Move all five to parser v2.", 40)
    (edit,) = log.reply(
        call(
            "Bash",
            command="sed -i 's/parseConfig(/parseConfigV2(/' src/commands/*.ts scripts/*.ts",
            description="Rename the calls",
        )
    )
    log.ran(edit, "", 0.1)
    (run,) = log.reply(call("Bash", command="pnpm test", description="Run all tests"))
    log.ran(run, BROKEN, 7.0, code=1)
    log.reply(
        think("release.ts reads configs from 2024; v2 refuses them. I could loosen v2 ..."),
        say("The release script fails: v2 refuses the old configs it reads. I'll make v2 accept them."),
    )
    text = "[Request interrupted by user]"
    log.record("user", 3.2, message={"role": "user", "content": [{"type": "text", "text": text}]})


def move_less(log: Transcript, fork: str | None) -> None:
    """Turn 2 again, from the same point on: only what was asked for, and a server that is busy."""
    message = log.prompt("Only src/commands. Leave scripts/ alone, they must read old configs.", 28, fork)
    snapshot(log, message)
    (source,) = log.reply(call("Bash", command="git checkout -- src scripts", description="Drop the rename"))
    log.ran(source, "", 0.1)
    (source,) = log.reply(call("Read", file_path=COMMAND))
    log.read(source, COMMAND, COMMAND_TS)
    old, new = "parseConfig(", "parseConfigV2("
    (edit,) = log.reply(
        say("The three commands look alike; I'll change build first."),
        call("Edit", file_path=COMMAND, old_string=old, new_string=new, replace_all=False),
    )
    log.edited(edit, COMMAND, COMMAND_TS, old, new)
    for attempt, wait in ((1, 540), (2, 1130)):
        log.system(
            "api_error",
            wait / 1000,
            level="error",
            error={"status": 529, "error": {"type": "overloaded_error", "message": "Overloaded"}},
            retryInMs=wait,
            retryAttempt=attempt,
            maxRetries=10,
        )
    (rest,) = log.reply(
        call(
            "Bash",
            command="sed -i 's/parseConfig(/parseConfigV2(/' src/commands/check.ts src/commands/watch.ts",
            description="Change the other two",
        )
    )
    log.ran(rest, "", 0.1)
    (run,) = log.reply(call("Bash", command="pnpm test", description="Run all tests"))
    log.ran(run, harness.passed("", 14, 61, "6.11"), 6.7)
    log.reply(say("The three commands call parser v2; 61 tests pass. scripts/ is as it was."))
    log.stopped()


def compact(log: Transcript) -> None:
    """The context is full: the conversation goes on from a summary."""
    leaf = log.parent
    log.system(
        "compact_boundary",
        31,
        None,
        logicalParentUuid=leaf,
        content="Conversation compacted",
        level="info",
        compactMetadata={"trigger": "auto", "preTokens": 156_204},
    )
    log.record(
        "user",
        0.01,
        message={"role": "user", "content": SUMMARY},
        isCompactSummary=True,
        isVisibleInTranscriptOnly=True,
    )
    log.context = 21_000


def crash(log: Transcript) -> None:
    """Turn 3: the serializer, and the machine goes down while its edit is being written."""
    path = f"{harness.CWD}/src/config/serializer.ts"
    log.prompt("Now the serializer: 空值也要写出来, the way v2 reads them.", 64)
    (source,) = log.reply(
        say("The serializer is small; I'll read it and its test."),
        call("Read", file_path=path),
    )
    log.read(source, path, SERIALIZER_TS)
    log.reply(
        think("v2 reads an empty string as present. JSON.stringify keeps it but drops undefined; those must be null."),
        call(
            "Edit",
            file_path=path,
            old_string="JSON.stringify(config, null, 2)",
            new_string="JSON.stringify(config, (_, value) => value ?? null, 2)",
            replace_all=False,
        ),
    )


def cut(log: Transcript) -> str:
    """The log as a crash leaves it: the last line stops in its middle, with no line feed."""
    text = log.text()
    return text[: len(text) - len(log.lines[-1]) * 2 // 5]
