"""What the site makes of a page beyond Markdown: mathematics without a script, and names that lead to the API.

And a link to the repository, wherever that may be: a clone knows where it came from.
"""

import re
import subprocess
from html import unescape
from typing import Any

from latex2mathml.converter import convert

FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"(?<!\[)`(shapo(?:\.\w+)+)`")
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)

COMMAND = re.compile(r"(?<=<td>)<code>(shapo [^<]*)</code>")

REMOTE = re.compile(
    r"(?:https://|ssh://|)(?:[\w.-]+(?::[^@/]*)?@)?([\w.-]+\.\w+)(?::\d+(?=/))?[:/](.+?)(?:\.git)?/?"
)


def on_config(config: Any) -> Any:
    """Link to the repository that this clone is of."""
    command = ["git", "config", "--get", "remote.origin.url"]
    origin = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    if address := web_address(origin):
        config.repo_url, config.repo_name = address, address.rpartition("/")[2]
    return config


def web_address(origin: str) -> str | None:
    """Where people find a remote, without anybody's name or password; None if it is a folder."""
    found = REMOTE.fullmatch(origin)
    return f"https://{found[1]}/{found[2]}" if found else None


def on_page_markdown(markdown: str, **_: object) -> str:
    """Link each dotted name of ours; one that the API lacks fails the strict build."""
    parts = FENCED.split(markdown)
    parts[::2] = [NAME.sub(r"[`\1`][\1]", text) for text in parts[::2]]
    return "".join(parts)


def on_page_content(html: str, **_: object) -> str:
    """Turn LaTeX into MathML, which browsers draw by themselves, and let commands in tables have several lines."""
    return COMMAND.sub(_command, FORMULA.sub(_mathml, html))


def _command(found: re.Match[str]) -> str:
    words = " ".join(f"<span>{word}</span>" for word in found[1].split())
    return f'<code class="command">{words}</code>'


def _mathml(found: re.Match[str]) -> str:
    display = "block" if found[1] == "div" else "inline"
    latex = unescape(found[2]).strip().replace("{aligned}", "{align*}")  # the one it knows
    return convert(latex, display=display)
