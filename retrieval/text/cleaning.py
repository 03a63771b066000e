"""Text of other people's making: without what hides in it, for names and for prompts.

Letters of all scripts stay, and what joins them (U+200C, U+200D, variation selectors).
"""

from __future__ import annotations

import re
import unicodedata

# What shows nothing, or turns round what is around it: soft hyphens, zero-width spaces, marks and
# overrides of direction, fillers, annotations, tags.
INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
# The same in a prompt, with variation selectors that spell out bytes; lines and tabs stay.
UNSEEN = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])"
    "|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]"
    f"|{INVISIBLE.pattern}|[\U000e0100-\U000e01ef]"
)
# Tokens by which chat models tell who speaks, where a text begins, and what is a tool's.
TEMPLATE = re.compile(
    r"<(?=[|｜][^<>\n]{0,60}[|｜]>)"
    r"|<(?=/?(?:s|bos|eos|pad|unk|think|tool_call|tool_response|function_calls?"
    r"|start_of_turn|end_of_turn|extra_id_\d+)>)"
    r"|<(?=<\s*/?\s*SYS\s*>>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\])",
    re.IGNORECASE,
)
_OPENER = "(?:<|＜|﹤|&(?:amp;)*(?:lt|#0*60|#x0*3c);?)"
_JOINED = "[\u200c\u200d\ufe00-\ufe0f]*"


def visible(text: str) -> str:
    """Return a text without what shows nothing, or turns round what is around it."""
    return text if text.isascii() else INVISIBLE.sub("", text)


def label(text: str, longest: int = 500) -> str:
    """Return a title or a name as it may be shown: on one line, without controls, not too long."""
    shown = " ".join(visible(text).split())
    kept = "".join(c for c in shown if unicodedata.category(c) not in {"Cc", "Cs", "Co"})
    return kept[:longest].strip()


def inert(text: str) -> str:
    """Return a text as a prompt may hold it: nothing hidden, and no token of a chat's template.

    Those get a space behind their first character.
    """
    return TEMPLATE.sub(lambda opener: f"{opener[0]} ", UNSEEN.sub("", text))


def without_tags(text: str, names: str) -> str:
    """Return a text whose tags of these names (a pattern) are no longer any.

    However they are written: with wide characters, entities, spaces, or something between letters.
    """
    wide = "".join(_either(character) for character in names)
    tag = re.compile(rf"{_OPENER}(?=[\s/／\\]*{wide}(?![a-z]))", re.IGNORECASE)
    return tag.sub(lambda opener: "&lt;" if len(opener[0]) == 1 else f"&amp;{opener[0][1:]}", text)


def _either(character: str) -> str:
    """Return a pattern of a letter or its wide form; of anything else, itself."""
    if not character.isalpha():
        return character
    return f"(?:[{character}{chr(ord(character) + 0xFEE0)}]{_JOINED})"
