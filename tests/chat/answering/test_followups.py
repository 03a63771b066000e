"""A question that goes on with the one before it is told by its words, and so is what it lacks."""

import pytest

from chat.answering.followups import Kind, carry, kind_of

TOWER = "How high is the tower of Lund?"


@pytest.mark.parametrize(
    ("earlier", "text"),
    [
        (TOWER, "and in 2020?"),
        (TOWER, "what about the second one?"),
        (TOWER, "and E-4712?"),
        (TOWER, "and for the old tower?"),
        (TOWER, "What about the spare motor tank?"),
        (TOWER, "What about a spare motor tank behind the old wall?"),
        ("Quelle est la hauteur de la tour ?", "Qu'en est-il du vieux mur de la ville ?"),
        (TOWER, "Who built it?"),
        (TOWER, "Is it open on Sundays?"),
        (TOWER, "Why?"),
        (TOWER, "How long?"),
        ("Wie hoch ist der Turm von Lund?", "und wie lange?"),
        ("Quel est le prix du modèle A-12 ?", "et pour le A-15 ?"),
        ("Какова высота башни в Лунде?", "а в 2020?"),
        ("Ile wynosi wysokość wieży?", "a w 2020?"),
        ("كم ارتفاع البرج؟", "وكم عمره؟"),
        ("隆德塔有多高？", "那是谁建的？"),
        ("ルンドの塔の高さは？", "では幅は？"),
    ],
)
def test_a_question_that_goes_on_is_told(earlier: str, text: str) -> None:
    assert kind_of(text, [earlier]) is Kind.FOLLOWS


@pytest.mark.parametrize(
    "text",
    [
        "How does the extractive generator choose sentences?",
        "Who founded Lund?",
        "What does error AB-1234 mean?",
        "Is there a harbour in Malmö?",
        "Gibt es einen Hafen in Malmö oder Trelleborg?",
        "今天的天气怎么样我想知道？",
    ],
)
def test_a_question_that_stands_by_itself_is_told(text: str) -> None:
    assert kind_of(text, [TOWER]) is Kind.STANDS


@pytest.mark.parametrize(
    "text",
    [
        "What is photosynthesis?",
        "How wide is the tower?",
        "And which stones did masons prefer for walls?",
    ],
)
def test_some_could_be_either(text: str) -> None:
    assert kind_of(text, [TOWER]) is Kind.UNSURE


def test_the_first_question_stands_by_itself() -> None:
    assert kind_of("and in 2020?", []) is Kind.STANDS


@pytest.mark.parametrize(
    ("earlier", "text", "searched"),
    [
        ("What was Acme's revenue in 2019?", "and in 2020?", "What was Acme's revenue in 2020?"),
        (TOWER, "What about Malmö?", "How high is the tower of Malmö?"),
        ("Wie hoch ist der Turm in Lund?", "Und in Malmö?", "Wie hoch ist der Turm in Malmö?"),
        ("Price of the A-12?", "and the A-15?", "Price of the A-15?"),
        ("Sales in 2019 of part X2019?", "and in 2020?", "Sales in 2020 of part X2019?"),
        ("隆德塔2019年有多高？", "2020年呢？", "隆德塔2020年有多高？"),
    ],
)
def test_what_is_named_anew_takes_the_old_ones_place(
    earlier: str, text: str, searched: str
) -> None:
    assert carry(text, earlier, len) == searched


def test_a_fragment_takes_over_all_that_was_said() -> None:
    assert carry("and for how long?", TOWER, len) == "high tower Lund: and for how long?"


@pytest.mark.parametrize(
    ("earlier", "text", "searched"),
    [
        (
            "Wie viele Tage Urlaub habe ich?",
            "und im Krankheitsfall?",
            "viele Tage Urlaub: und im Krankheitsfall?",
        ),
        ("Price of the A-12?", "and in Malmö?", "Price A-12: and in Malmö?"),
        (
            "What does the pump weigh?",
            "What about the spare motor tank?",
            "pump weigh: What about the spare motor tank?",
        ),
        ("What does the pump weigh?", "and E-4712?", "pump weigh: and E-4712?"),
    ],
)
def test_what_is_of_another_kind_takes_no_place(earlier: str, text: str, searched: str) -> None:
    """In German every noun has a capital, so that it is no sign of a name."""
    assert kind_of(text, [earlier]) is Kind.FOLLOWS
    assert carry(text, earlier, len) == searched


def test_a_question_of_its_own_takes_over_what_is_rare() -> None:
    rarity = {"high": 1.0, "tower": 3.0, "Lund": 4.0}
    assert carry("who built it?", TOWER, rarity.__getitem__) == "tower Lund: who built it?"


def test_what_the_question_has_is_not_taken_over_twice() -> None:
    assert carry("and the old tower?", TOWER, len) == "high Lund: and the old tower?"
