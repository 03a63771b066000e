"""Words by which a question shows that it goes on with the one before, by ISO 639-1 code.

Openers stand at its beginning ("and in 2020?"); references stand for something that was said
before ("who built it?"). Written as `retrieval.text.terms.words` has them. Scripts without spaces
have them as parts of what is written together.
"""

from __future__ import annotations

OPENERS = {
    "en": "and|or|but|so|then|also|what about|how about|what if|same for|why not|what else",
    "de": "und|oder|aber|dann|also|auch|wie sieht es|wie ist es mit|was ist mit|sonst",
    "fr": "et|ou|mais|alors|donc|aussi|qu en est il",
    "es": "y|e|o|pero|entonces|tambien|que tal",
    "it": "e|ed|o|ma|allora|anche|che ne dici",
    "pt": "e|ou|mas|entao|tambem|que tal",
    "nl": "en|of|maar|dan|ook|hoe zit het met|wat betreft",
    "da": "og|eller|men|sa|ogsa|hvad med",
    "no": "og|eller|men|sa|ogsa|hva med",
    "sv": "och|eller|men|sa|ocksa|hur ar det med|vad sags om",
    "fi": "ja|tai|mutta|enta|entapa|myos",
    "hu": "es|vagy|de|akkor|is",
    "ru": "а|и|или|но|тогда|также",
    "uk": "а|і|й|та|або|але|тоді",
    "tr": "ve|ya|peki|ama|veya",
    "ar": "و|وماذا|وكم|وفي|واين|ومتى|ومن|وكيف|وهل|ولماذا|ماذا عن",
    "pl": "a|i|oraz|albo|ale|wtedy|co z",
    "cs": "a|i|nebo|ale|tak|co",
    "el": "και|η|αλλα|τοτε",
    "he": "ו|ומה|ואיך|ומתי|ואיפה|ומי",
    "ko": "그럼|그리고|그러면|또",
    "vi": "va|con|the con|nhung",
    "id": "dan|atau|tapi|lalu|bagaimana dengan",
    "hi": "और|या|लेकिन|तो",
}
REFERENCES = {
    "en": "it|its|he|him|his|she|her|hers|they|them|their|theirs|this|these|those|one"
    "|ones|former|latter|same|both",
    "de": "er|sie|ihn|ihm|ihr|ihre|ihrer|ihren|ihrem|sein|seine|seiner|seinen|seinem|dieser"
    "|diese|dieses|diesen|diesem|dort|davon|dazu|damit|dafur|darin|daruber|dessen|deren|beide",
    "fr": "elle|ils|elles|lui|leur|leurs|son|sa|ses|cela|cette|ces|celui|celle",
    "es": "ella|ellos|ellas|su|sus|esto|eso|este|esta|ese|esa|alli|ahi",
    "it": "lui|lei|loro|suo|sua|suoi|sue|questo|questa|quello|quella",
    "pt": "ele|ela|eles|elas|seu|sua|seus|suas|isso|isto|este|esta|esse|essa",
    "nl": "hij|zij|ze|hem|haar|hun|deze|daar|ervan",
    "da": "han|hun|dem|hans|hendes|deres|dette|denne|disse",
    "no": "han|hun|dem|hans|hennes|deres|dette|denne|disse",
    "sv": "han|hon|dem|hans|hennes|deras|detta|denna|dessa",
    "fi": "se|sen|siita|siina|han|hanen|ne|niiden|tama|taman|siella",
    "hu": "o|ez|annak|ennek|ott|azt|ezt|ok",
    "ru": "он|она|оно|они|его|ее|их|ему|ей|им|это|этот|эта|эти|там|тот",
    "uk": "він|вона|воно|вони|його|її|їх|йому|це|цей|ця|ці|там",
    "tr": "o|onun|onu|ona|onlar|onlarin|bu|bunun|bunu|su|orada",
    "ar": "هو|هي|هم|هذا|هذه|ذلك|تلك|هناك|فيه|فيها|منه|منها|له|لها",
    "pl": "on|ona|ono|oni|jego|jej|ich|ten|ta|tam|tego",
    "cs": "on|ona|ono|oni|jeho|jeji|jejich|ten|ta|tam|toho",
    "el": "αυτο|αυτη|αυτοσ|αυτα|εκει",
    "he": "הוא|היא|הם|זה|זאת|שם|שלו|שלה",
    "ko": "그것|그것은|그건|그는|그녀는|그들은|이것|이것은|거기",
    "vi": "no|ho|do|nay|kia",
    "id": "itu|ini|dia|mereka|nya|sana",
    "hi": "यह|वह|इसका|उसका|उसकी|इसकी|वहाँ|वे|उन",
}
# Of the languages that write every noun with a capital, so that it is no sign of a name.
PREPOSITIONS = {
    "de": "ab|am|an|auf|aus|bei|beim|bis|durch|fur|gegen|im|in|mit|nach|ohne|seit|trotz|uber|um"
    "|unter|vom|von|vor|wahrend|wegen|zu|zum|zur|zwischen",
}
# Beginnings, ends, and what stands anywhere, in Chinese, Japanese and Thai.
UNSPACED_OPENERS = ("那", "还有", "還有", "另外", "では", "じゃあ", "それで", "でも", "แล้ว")
UNSPACED_ENDS = ("呢", "は", "ล่ะ")
UNSPACED_REFERENCES = ("它", "他", "她", "这个", "這個", "那个", "那個", "此", "其", "それ", "その",
                       "これ", "この", "あれ", "彼", "มัน", "นั้น", "เขา")  # fmt: skip
