"""What a threat is said with in English, in the spellings that `reports.spelling` makes.

Every pattern begins at a word. Spaces between the parts are optional where joined letters lose
them ("iwillkillyou"); words in between are counted and bounded, so no pattern goes over a text
again and again.
"""

import re

from reports.patterns import Piece, at_word

_WORD = r"[\w*'-]{1,20} "
_NEGATION = r"(?!(?:not|never|no|nobody|don't|nt)\b)"
# A preposition leads away from the verb: "shoot a film about women".
_LEADS_AWAY = (
    r"(?!(?:about|and|at|for|from|in|like|my|never|no|not|of|on|our|than|time|to|with|without)\b)"
)
_FILL = rf"(?:{_NEGATION}{_WORD}){{0,3}}?"
_SOON = r"(?:gonna|gnna|gunna|gna|gon|finna|(?:going|goin|gng|about|ready) (?:to|2)\b)"
_WILL = (
    r"(?: really| honestly| just| still| fucking| swear(?: to god)?){0,2} ?"
    r"(?:(?:will|wil|wll|shall)(?! (?:not|never)\b)|'l+|l{2,}"
    rf"|'?m?ma\b|'?(?:m|re|am|are) ?(?:(?:so|really|just|actually) ){{0,2}}{_SOON}|{_SOON}"
    r"|(?:wanna|wna|wana)|(?:want|wnt|need|have|plan|promise) to\b"
    r"|(?:'d|would) (?:love|like) to\b|(?:'d|would) (?:gladly|happily)\b) ?"
)


def _masked(verbs: str) -> str:
    """Verbs (parted by |) whose first vowel may be a sign, or lost with one: "m*rder", "mrder"."""
    return re.sub(r"\b([^aeiou|]*)([aeiou])", r"\1[\2*#]?", verbs)


_KILL = (
    r"(?:k ?ii? ?ll?|kll|k[*#]{1,3}l{0,2}|sh(?:oo?|[*#]{1,2})t|unalive"
    rf"|{_masked('murder|stab|rape|behead|slaughter|strangle|torture|butcher|lynch')})"
)
_HURT = rf"(?:{_KILL}|{_masked('hurt|burn|poison')}|attack)"
# These are done to teams as well; the next are also done to pictures, commands and sauces.
_BEAT = rf"(?:{_masked('beat|bomb|destroy|cripple|maim')}|end|attacking)"
_HANG = rf"(?:{_masked('hang|drown')}|execute|choke|gas|bury)"
_WIPE_OUT = (
    r"(?:stone|beat up|exterminate|eradicate|wipe out|put an end to|put down|make an end of)"
)
_YOU = r"(?:you|u|ya|yu|yall|y'all)"
_RELATIVE = (
    r"(?:family|fam|kids?|child(?:ren)?|wife|husband|parents?|m[ou]m|mother|dad|father|brothers?"
    r"|sisters?|sons?|daughters?|baby|(?:boy|girl)?friends?|dog|cat|house|home|car|shop|store|ass"
    r"|face|head|throat|life|lives)"
)
# "shoot you an email", "burn you a CD", "beat you to it" are no threats.
_VICTIM = (
    rf"(?:(?:{_YOU}|her|him|them)\b(?! (?:an?|the|some|to it)\b)"
    rf"|(?:your|ur|his|her|their) (?:\w{{1,20}} )?{_RELATIVE}\b|every(?:one|body)\b|all of\b)"
)
_ONE_VICTIM = rf"(?:(?:{_YOU}|him)\b(?! out\b)|every(?:one|body)\b)"

_PEOPLE_WORDS = (
    "people|ppl|persons?|men|man|wom[ae]n|females?|girls?|boys?|gays?|lesbians?|queers?|trans|jews?"
    "|muslims?|moslems?|christians?|hindus?|sikhs?|catholics?|atheists?|infidels?|arabs?|kurds?"
    "|africans?|asians?|blacks?|whites?|mexicans?|immigrants?|migrants?|refugees?|foreigners?|cops?"
    "|police|politicians?|journalists?|reporters?|judges?|students?|classmates?|teachers?|kids|child"
    "|children|neighbou?rs?|traitors?|scum|vermin|bastards?|bitch|bitches|whores?|sluts?"
)
_PEOPLE = rf"(?:{_PEOPLE_WORDS})\b"
_OTHERS = (
    r"(?:(?:(?:all|any|each|every|half|kinds?|more|most|one|some|types?) of "
    rf"|{_LEADS_AWAY}{_WORD})){{0,4}}?{_PEOPLE}"
)
# A letter that stood alone is joined to the verb before it: "s t a b a man".
_OTHERS_AFTER_A_VERB = rf"(?: |(?=(?:an?|all|every|the|these|those) )){_OTHERS}"
_DO_TO_MANY = rf"(?:{_HURT}|{_HANG}|{_WIPE_OUT}){_OTHERS_AFTER_A_VERB}"
_DONE_TO_MANY = (
    r"(?:kil+ed|k[*#]l+ed|shot|murdered|m[*#]rdered|stabbed|hanged|hung(?! (?:in|on|up|over)\b)|lynched"
    r"|executed|beheaded|gassed|slaughtered|exterminated|eradicated|raped|r[*#]ped|stoned|strangled|drowned|tortured"
    r"|wiped out|put down|put to (?:death|sleep)|burn(?:ed|t)(?: alive| at the stake)?)\b"
)
_PERSON = ("", " person", " people", " man", " woman")
# "No black person deserves to die."
_NO_ONE = "|".join([r"\bno", *(rf"\bno \w{{{n}}}{end}" for n in range(2, 12) for end in _PERSON)])
_BODY_PART = r"(?:neck|throat|skull|head|face|jaw|bone|leg|arm|finger|spine|knee|kneecap|teeth)s?\b"
_WHOSE = r"(?:your|ur|his|her|their|that|those|every)"
_PLACE = (
    r"(?:school|college|university|campus|class|mosque|church|synagogue|temple|office|shop|store"
    r"|house|home|building|station|airport|hospital|clinic|club|bar|mall|market|embassy|parliament"
    r"|court|stadium|concert|festival|parade|party|train|bus|plane|place|village|town|city)s?\b"
)
_WHEN = r"to(?:morrow|moro|night|nite|day)\b"

THREATS: tuple[tuple[Piece, ...], ...] = (
    at_word(
        "i|we",
        rf"{_WILL}(?:{_FILL}(?:{_HURT}(?: ?{_VICTIM}|{_OTHERS_AFTER_A_VERB})|{_BEAT} ?{_VICTIM}"
        rf"|{_HANG}(?: ?{_ONE_VICTIM}|{_OTHERS_AFTER_A_VERB})|{_WIPE_OUT}{_OTHERS_AFTER_A_VERB}"
        rf"|(?:cut|slit|snap|break|smash|crush|wring|bash|chop|rip|slice) (?:off )?{_WHOSE}"
        rf" (?:[\w'-]{{1,20}} ){{0,2}}?{_BODY_PART}"
        rf"|end {_WHOSE} (?:[\w'-]{{1,20}} ){{0,3}}?(?:life|lives)\b"
        r"|(?:blow|shoot) up (?:the|your|ur|this|that)\b"
        rf"|(?:bomb|burn(?: down)?|attack|torch|set fire to) (?:the|your|ur|this|that|their)"
        rf" (?:[\w'-]{{1,20}} ){{0,2}}?{_PLACE}"
        rf"|make (?:{_LEADS_AWAY}{_WORD}){{1,4}}?(?:bleed|suffer)\b"
        rf"|hunt (?:{_YOU}|him|her|them) down|put a bullet in {_WHOSE}))",
    ),
    # Nobody need be named: "gonna kill you".
    at_word(
        "gonna|gnna|gunna|finna|going to|wanna|wna|imma|ima",
        rf" (?:{_WORD})?{_KILL} ?{_VICTIM}",
        unless=r"\bnot|n't|never",
    ),
    # Nor who will: "kill u 2morrow". What will or might, such as the heat, is another matter.
    at_word(
        "kill|murder|stab|behead",
        rf" ?{_YOU} {_WHEN}",
        unless=r"\bto|\bcan|\bmay|might|could|would|will|'ll|n't|not|never",
    ),
    at_word("i", rf"(?:'d| would) {_FILL}{_KILL} ?{_YOU}\b", unless=r"if"),
    at_word("death to ", r"(?:all|the|every)\b"),
    at_word("put a bullet in ", r"(?:you|u|ur|her|him|his|them|their)"),
    at_word("watch your back|watch ur back", r"\b"),
    at_word("sleep with one eye open"),
    at_word("your days are numbered|ur days are numbered", r"\b"),
    at_word("you won't|you wont|u won't|u wont", rf" (?:live to\b|see (?:another day\b|{_WHEN}))"),
    at_word(
        "i|we",
        rf" ?know where (?:{_YOU}|your|ur|she|he|they)\b(?! can)(?: \w{{1,20}}){{0,4}}?"
        r" (?:live|work|sleep|go(?:es|ing)? to school)",
    ),
    at_word("i|we", rf" ?know where to find {_YOU}\b"),
    at_word(
        "you|u|ur|ya|y'all",
        r"(?:'re| are| re)? ?(?:(?:gonna|gnna|gunna|going to|about to|will|'ll) "
        r"(?:die\b(?! laughing| of | when you see)|bleed|regret (?:this|it|that)"
        rf"|(?:be|get) {_DONE_TO_MANY}|(?:be )?dead\b(?! to me)))",
    ),
    at_word(
        "you're|youre|you are|u are|u r|ur|you will be|you'll be|you'd be",
        r" (?:so |a |already |as good as ){0,2}dead\b"
        r"(?! (?:to me|wrong|right|serious|set|on|sure|certain|tired|inside)\b)",
    ),
    # "your dead", as it is often written; "your dead plants" are no threat.
    at_word("your", rf" (?:so |a )?dead(?: meat)?(?= ?[.!,?;]|$| if\b| when\b| {_WHEN})"),
    at_word(
        "i|we",
        rf"(?:'?m|'?re| am| are) coming (?:for (?:{_YOU}|your|ur)\b|to (?:{_HURT}|{_BEAT}) {_VICTIM})",
    ),
    at_word("get my hands on", rf" (?:{_YOU}|him|her|them)\b"),
    at_word("die|dead", r" (?:\w{1,20} ){0,4}?(?:at|by) my hands?\b"),
    at_word(
        "there",
        r"(?:'?s| is| are) (?:a )?bombs? (?:in|at|under|on|inside) (?:the|your|ur|this|that|every)\b",
    ),
    at_word("i|we", r"(?:'ve| have)? (?:put|placed|planted|left|hid|hidden) (?:a )?bombs?\b"),
)

CALLS_TO_VIOLENCE: tuple[tuple[Piece, ...], ...] = (
    at_word("let's|lets|let us", rf" (?:just |all |go |go and ){{0,2}}{_DO_TO_MANY}"),
    at_word(
        "we|they|you|someone|somebody|anyone",
        r"(?: all| really| just){0,2} (?:should|shud|must|needs? to|ha(?:s|ve) to|ought to|gotta"
        rf"|better) {_FILL}(?:{_DO_TO_MANY}"
        r"|(?:snap|break|cut|slit) the (?:necks?|throats?) of\b)",
    ),
    at_word("someone|somebody|anyone", rf" (?:would|will) {_FILL}{_DO_TO_MANY}"),
    at_word(
        "someone|somebody",
        rf"(?: please| really| just){{0,2}} (?:should|needs? to|has to|ought to|must|please)"
        rf" {_FILL}(?:{_KILL} ?{_VICTIM}|{_HANG} ?{_ONE_VICTIM})",
    ),
    at_word("best|better|interest|time", rf" to {_FILL}{_DO_TO_MANY}"),
    at_word(
        "let's|lets|we should|we must|we need to|we have to",
        rf" (?:just )?get rid of {_OTHERS} (?:once and for all|for good|forever)",
    ),
    at_word(
        f"{_PEOPLE_WORDS}|they|you|he|she",
        r"(?:(?: like \w{1,10}| all| of| your| kind| here| just| really){0,4}"
        r" (?:should|must|ought to|needs? to|ha(?:s|ve) to)(?: all| just| really){0,2}"
        rf" (?:(?:be|get)(?: all| publicly| just)? {_DONE_TO_MANY}|be dead\b))",
        unless=_NO_ONE,
    ),
    at_word(
        "deserves?",
        rf" (?:to (?:die\b|be (?:{_DONE_TO_MANY}|dead\b)|get {_DONE_TO_MANY})|death\b|a bullet\b)",
        unless=rf"\bnot|n't|never|no one|noone|nobody|{_NO_ONE}",
    ),
    at_word(
        "should|must|ought to|needs? to",
        r"(?: all| just){0,2} be (?:lynched|gassed|beheaded|murdered|put to death"
        r"|burn(?:ed|t) (?:alive|at the stake))\b",
    ),
    at_word(
        "wish|hope|if only|better off if",
        rf" (?:{_NEGATION}{_WORD}){{1,8}}?(?:(?:be|get|gets|got|were|are) (?:all )?{_DONE_TO_MANY}"
        r"|(?:throats?) (?:cut|slit)\b)",
    ),
    at_word(
        "love to|like to|want to|wanna",
        rf" (?:see|watch) (?:{_LEADS_AWAY}{_WORD}){{1,4}}?(?:suffer|die|bleed|hang)\b",
    ),
    at_word("would all be dead"),
    at_word(
        "raping|killing|murdering|lynching|beating",
        rf" (?:{_YOU}|(?:\w{{1,20}} ){{0,3}}?{_PEOPLE})(?: like \w{{1,10}})? (?:should(?: not|n't) be"
        r" (?:illegal|a crime|punished)|should be (?:legal|allowed|decriminali[sz]ed|rewarded))",
    ),
    at_word(
        "execution|death|extermination|hanging|a bullet",
        r" is (?:the |their ){0,2}(?:only|best|final|right) (?:solution|answer|way|cure)",
    ),
)
