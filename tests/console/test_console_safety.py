"""Text reaches the screen through one place, and nothing the console uses would take it for markup."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

CONSOLE = Path(__file__).parent.parent.parent / "console"
FILES = sorted(
    [*(CONSOLE / "screens").rglob("*.py"), *(CONSOLE / "widgets").rglob("*.py")]
    + [
        CONSOLE / f"{name}.py"
        for name in ("app", "actions", "finding", "jobs", "menus", "handing_over", "saving", "standing", "themes")
    ]
)

TEXTUAL_PARTS = {
    "App",
    "AwaitMount",
    "Binding",
    "BindingType",
    "BUILTIN_THEMES",
    "ComposeResult",
    "Container",
    "Driver",
    "Horizontal",
    "Input",
    "Message",
    "ModalScreen",
    "Monochrome",
    "NoColor",
    "Region",
    "Screen",
    "Strip",
    "SuspendNotSupported",
    "Theme",
    "Timer",
    "Vertical",
    "Widget",
    "events",
    "on",
}
"""What the console takes from Textual. None of it draws text that was not made a strip here; ``Input`` is literal,
and of ``Driver`` only what is drawn is made shorter."""

SINKS = {"notify", "from_markup", "set_title", "border_title", "border_subtitle", "tooltip", "sub_title"}
"""Ways into Textual in which text is markup, or goes to the terminal unseen."""


def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"), str(file))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(CONSOLE)))
def test_only_harmless_parts_of_textual_are_used(file: Path) -> None:
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "textual":
            assert {name.name for name in node.names} <= TEXTUAL_PARTS, ast.unparse(node)
        if isinstance(node, ast.Import):
            assert not any(name.name.split(".")[0] in ("textual", "rich") for name in node.names), ast.unparse(node)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(CONSOLE)))
def test_no_way_of_markup_is_taken(file: Path) -> None:
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Attribute) and (isinstance(node.ctx, ast.Store) or node.attr not in ("tooltip",)):
            assert node.attr not in SINKS, f"line {node.lineno}: .{node.attr}"
        if isinstance(node, ast.keyword):
            # The registry's own sentences are the only tooltips there are.
            assert node.arg not in SINKS or "action.tooltip" in ast.unparse(node.value), ast.unparse(node.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "print", f"line {node.lineno}"


def makers(name: str) -> set[str]:
    """Files in which something of this name is called."""
    return {
        str(file.relative_to(CONSOLE))
        for file in FILES
        for node in ast.walk(tree(file))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    }


def test_segments_and_texts_are_made_in_the_two_guarded_places_only() -> None:
    assert makers("Segment") == {"widgets/inked.py", "app.py"}
    assert makers("Text") == {"widgets/prompt.py"}
    assert makers("Strip") == {"widgets/inked.py"}


def test_text_from_outside_is_displayed_in_one_module_only() -> None:
    users = set()
    for file in FILES:
        for node in ast.walk(tree(file)):
            if isinstance(node, ast.ImportFrom) and node.module == "affidavit.text.display":
                users.add(str(file.relative_to(CONSOLE)))
    assert users == {"widgets/safe.py"}


def modules_after(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sorted(sys.modules), sep='\\n')"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


HEAVY = {"sqlmodel", "sqlalchemy", "alembic", "pydantic", "textual.widgets._markdown", "rich.markdown"}


def test_the_console_is_loaded_without_the_orm() -> None:
    assert not modules_after("import console.app") & HEAVY


def test_the_first_rows_are_read_without_the_orm() -> None:
    code = """
import asyncio, sys
from console_driver import stage
async def run():
    async with stage() as it:
        assert "Fix the failing role test" in it.frame
asyncio.run(run())
"""
    here = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})"
    assert not modules_after(here + code) & HEAVY


def test_views_are_loaded_when_they_are_first_needed() -> None:
    loaded = modules_after("import console.app")
    assert not {name for name in loaded if name.startswith("console.screens.") and name.endswith(".screen")} - {
        "console.screens.shell.screen"
    }
