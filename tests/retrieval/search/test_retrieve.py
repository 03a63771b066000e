"""Retrieval end to end, on PostgreSQL."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser, Group, User
from pytest_django import Settings

from retrieval.backends.base import BackendError
from retrieval.database import in_thread
from retrieval.models import Collection, EmbeddingSpace, Visibility
from retrieval.search import Retrieved, Scope, SearchSettings, analyse, retrieve
from tests.fakes import HashEmbedder
from tests.retrieval.search.conftest import AddDocument, add_version

pytestmark = pytest.mark.django_db(transaction=True)

HYBRID = SearchSettings()
RRF = SearchSettings.parse({"hybrid_settings": {"fusion": "rrf"}})
FULL_TEXT = SearchSettings.parse({"use_semantic_search": False})
BASIC = SearchSettings.parse({"search_mode": "basic"})
every_way = pytest.mark.parametrize(
    "how", [HYBRID, RRF, FULL_TEXT, BASIC], ids=["relative_score", "rrf", "full text", "vector"]
)


async def texts(question: str, scope: Scope, how: SearchSettings = FULL_TEXT) -> list[str]:
    found = await retrieve(analyse(question), scope, how)
    return [hit.text for hit in found.hits]


def use_failing_embedder(settings: Settings) -> None:
    path = "tests.fakes.FailingEmbedder"
    settings.RAG_BACKENDS = {**settings.RAG_BACKENDS, "embedder": {"BACKEND": path}}


@every_way
async def test_best_passage_comes_first(
    how: SearchSettings, add_document: AddDocument, scope: Scope
) -> None:
    """Each way of searching puts the passage about the question first."""
    await in_thread(add_document, "Pumps need oil.", "Valves are made of brass.", "Filters clog.")
    assert (await texts("what are valves made of", scope, how))[0] == "Valves are made of brass."


@every_way
async def test_other_collections_stay_unseen(
    how: SearchSettings, add_document: AddDocument, scope: Scope
) -> None:
    """What somebody is no reader of, and what was not asked for, never comes back."""

    def prepare() -> Scope:
        others = Collection.objects.create(name="Others", visibility=Visibility.RESTRICTED)
        other = Collection.objects.create(name="Other")
        add_document("Valves are secret.", collection=others)
        add_document("Valves are elsewhere.", collection=other)
        wanted = add_document("Valves are made of brass.").collection_id
        return Scope(scope.user, (wanted, others.id))

    narrowed = await in_thread(prepare)
    assert sorted(await texts("valves", scope, how)) == [
        "Valves are elsewhere.",
        "Valves are made of brass.",
    ]
    assert await texts("valves", narrowed, how) == ["Valves are made of brass."]
    assert await texts("valves", Scope(scope.user, ()), how) == []
    assert await texts("valves", Scope(AnonymousUser()), how) == []


@every_way
async def test_readers_search_what_is_restricted_to_them(
    how: SearchSettings, add_document: AddDocument
) -> None:
    """A group's member searches what the group was made a reader of."""

    def prepare() -> Scope:
        reader, group = User.objects.create_user("grace"), Group.objects.create(name="Engineers")
        group.user_set.add(reader)
        restricted = Collection.objects.create(name="Valves", visibility=Visibility.RESTRICTED)
        restricted.reader_groups.add(group)
        add_document("Valves are secret.", collection=restricted)
        return Scope(reader)

    assert await texts("valves", await in_thread(prepare), how) == ["Valves are secret."]


@every_way
async def test_only_current_versions_of_enabled_documents_are_found(
    how: SearchSettings, add_document: AddDocument, scope: Scope, embedder: HashEmbedder
) -> None:
    """Disabled documents and replaced versions never come back."""

    def prepare() -> None:
        disabled = add_document("Valves of a disabled document.")
        disabled.enabled = False
        disabled.save()
        updated = add_document("Valves of the old version.")
        add_version(updated, ("Valves of the new version.",), embedder)

    await in_thread(prepare)
    assert await texts("valves", scope, how) == ["Valves of the new version."]


@pytest.mark.parametrize(
    ("question", "text", "language"),
    [
        ("Welches Haus ist alt?", "Viele Häuser stehen am Fluss.", "de"),
        ("houses", "The house stands by the river.", "en"),
        ("Wo liegt Zurich?", "Zürich liegt an der Limmat.", "de"),
        ("Zürich", "The city of Zurich is old.", "en"),
        ("首都", "北京是中国的首都。", "zh"),
        ("茶", "他们喜欢喝茶和咖啡。", "zh"),
        ("กรุงเทพ", "เมืองหลวงคือกรุงเทพมหานคร", "th"),
        ("ما هي المدينة؟", "هذه مدينه كبيرة.", "ar"),
        ("What is AB-1234?", "Order part AB-1234 only.", "en"),
        ("ab1234", "Order part AB-1234 only.", ""),
        ("error E0023", "It stops with E0023 then.", "en"),
        ("release 2.10.3", "Since release 2.10.3 it works.", "en"),
        ("brass -valves", "Valves are made of brass.", "en"),
        ("'; DROP TABLE x; -- brass & !(", "Brass it is.", "en"),
        ("who is who", "The Who played there.", "en"),
    ],
)
async def test_full_text_finds_what_holds_the_word(
    question: str, text: str, language: str, add_document: AddDocument, scope: Scope
) -> None:
    """Full text finds the passage whatever the language, accents or signs of the question."""
    await in_thread(add_document, text, language=language)
    await in_thread(add_document, "Nothing of it.", "毫不相关。", "Ganz anderes.", language="")
    assert await texts(question, scope) == [text]


async def test_documents_of_several_languages_answer_one_question(
    add_document: AddDocument, scope: Scope
) -> None:
    """A word is found in documents of each language, in the form its stemmer makes of it."""
    await in_thread(add_document, "Many organisations exist.", language="en")
    await in_thread(add_document, "Die Organisation besteht.", language="de")
    await in_thread(add_document, "organisation", language="")
    assert len(await texts("organisation", scope)) == 3


async def test_rare_words_weigh_more(add_document: AddDocument, scope: Scope) -> None:
    """BM25: one rare word outweighs a common one that occurs more often."""
    common = [f"The pump number {number} and the pump." for number in range(20)]
    await in_thread(add_document, *common, "The gasket of a device.")
    assert (await texts("pump gasket", scope))[0] == "The gasket of a device."


async def test_title_is_searched(add_document: AddDocument, scope: Scope) -> None:
    """A word of the document's title finds its chunks."""
    await in_thread(add_document, "It is made of brass.", title="Valve handbook")
    assert await texts("valve", scope) == ["It is made of brass."]


async def test_hits_carry_scores_by_stage_and_their_document(
    add_document: AddDocument, scope: Scope
) -> None:
    """A hit says what document it is of, and each stage's score."""
    await in_thread(add_document, "Valves are made of brass.", "Pumps need oil.", title="Handbook")
    found = await retrieve(analyse("valves"), scope, HYBRID)
    first = found.hits[0]
    assert (first.title, first.language) == ("Handbook", "en")
    assert set(first.scores) == {"vector", "fulltext", "fused"}
    assert 0 < first.scores["vector"] <= 1
    assert [set(hit.scores) for hit in found.hits[1:]] == [{"vector", "fused"}]


async def test_top_k_limits_what_comes_back(add_document: AddDocument, scope: Scope) -> None:
    """No more than top_k candidates are returned."""
    await in_thread(add_document, *(f"Valve {number}." for number in range(9)))
    assert len(await texts("valve", scope, SearchSettings(top_k=4))) == 4


async def test_failing_embedder_degrades_to_full_text(
    add_document: AddDocument, scope: Scope, settings: Settings
) -> None:
    """Full text still finds the passage, and the result says why there is no more."""
    await in_thread(add_document, "Valves are made of brass.")
    use_failing_embedder(settings)
    found = await retrieve(analyse("valves"), scope, HYBRID)
    assert [hit.text for hit in found.hits] == ["Valves are made of brass."]
    assert found.degraded is not None
    assert found.degraded.code == "unreachable"


async def test_failing_embedder_fails_a_vector_search(
    add_document: AddDocument, scope: Scope, settings: Settings
) -> None:
    """Without full text there is nothing to fall back to."""
    await in_thread(add_document, "Valves are made of brass.")
    use_failing_embedder(settings)
    with pytest.raises(BackendError):
        await retrieve(analyse("valves"), scope, BASIC)


@every_way
async def test_nothing_is_found_where_nothing_is(
    how: SearchSettings, embedder: HashEmbedder, scope: Scope
) -> None:
    """An empty store is no error."""
    assert await retrieve(analyse("valves"), scope, how) == Retrieved([])


async def test_vectors_of_another_model_are_not_compared(
    add_document: AddDocument, scope: Scope
) -> None:
    """A space whose own model is not to be had is not searched with another model's vectors."""
    await in_thread(add_document, "Valves are made of brass.")
    await in_thread(EmbeddingSpace.objects.update, model="another")
    with pytest.raises(BackendError, match="another of the documents cannot be used"):
        await retrieve(analyse("valves"), scope, BASIC)
    found = await retrieve(analyse("valves"), scope, SearchSettings())
    assert found.degraded is not None
    assert [hit.text for hit in found.hits] == ["Valves are made of brass."]


async def test_full_text_scores_what_only_vectors_found(
    add_document: AddDocument, scope: Scope
) -> None:
    """A chunk below the full-text limit still gets the score of its words."""
    await in_thread(add_document, "Valves.", "Valves are made of brass.", "Pumps need valves.")
    how = SearchSettings.parse({"hybrid_settings": {"full_text_limit": 1}})
    found = await retrieve(analyse("valves"), scope, how)
    assert [set(hit.scores) for hit in found.hits] == [{"vector", "fulltext", "fused"}] * 3


async def test_vectors_score_what_only_full_text_found(
    add_document: AddDocument, scope: Scope
) -> None:
    """A chunk that is none of the nearest still gets its similarity."""
    rare = "A gasket among many other words that have nothing to do with the question."
    await in_thread(add_document, *["pump"] * 9, rare)
    how = SearchSettings.parse({"top_k": 1, "hybrid_settings": {"semantic_weight": 0}})
    (hit,) = (await retrieve(analyse("pump gasket"), scope, how)).hits
    assert hit.text == rare
    assert 0 < hit.scores["vector"] < 0.5
