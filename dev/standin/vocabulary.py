"""The words that several rules share, in English and Arabic, and how a pattern is written.

The lists are the project's own and deliberately short.
"""

import re

from dev.standin.folding import ARABIC_FOLD

# --- How patterns are written: English in lower case, Arabic in any spelling, a blank is any
# --- white space, `~` is up to 80 characters of the same sentence.


def english(words: str) -> str:
    return rf"\b(?:{words})\b"


def arabic(words: str) -> str:
    """Arabic words, also with "and", "so", "by", "for", "like" and "the" written onto them."""
    return rf"\b(?:[وفبلك]?(?:ال)?|ولل|لل)(?:{words})\b"


def together(one: str, other: str) -> str:
    """Both in one sentence, in either order."""
    return f"(?:{one})~(?:{other})|(?:{other})~(?:{one})"


def near(one: str, other: str) -> str:
    """Both within 160 characters, whatever stands between."""
    return together(one, other).replace("~", r"[\s\S]{0,160}?")


def compile_words(*patterns: str) -> re.Pattern[str]:
    joined = "|".join(f"(?:{pattern})" for pattern in patterns).translate(ARABIC_FOLD)
    return re.compile(joined.replace(" ", r"\s+").replace("~", r"[^.!?\n]{0,80}?"))


# --- Word lists that more than one rule uses.

GROUP = english(
    r"wom[ae]n|females?|muslims?|jews?|jewish|gays?|lesbians?|homosexuals?"
    r"|trans(?:gender)?|blacks"
    r"|black (?:people|persons?|men|man|wom[ae]n|guys?|lives|life)|africans?|arabs?"
    r"|the disabled|disabled (?:people|persons?|men|man|wom[ae]n|lives|life)"
    r"|(?:im)?migrants?|refugees?|foreigners?|asylum seekers?"
)
GROUP_AR = arabic(
    r"نساء|ستات|ام?راة|متحول(?:ين|ون|ة|ات)?|مثلي(?:ين|ون|ة|ات)?|مثلين|سود|اسود|سمر"
    r"|افارقة|يهود|يهودي(?:ة)?|مسلم(?:ين|ون|ة)?|مسيحي(?:ين|ون|ة)?|معاقي?(?:ين|ون|ة)?"
    r"|ذوي الاعاقة|لاجئ(?:ين|ون|ة)?|لاجيين|مهاجر(?:ين|ون|ة)?|اجانب|وافدين"
)

# A speaker who announces something; then up to three words, none of them a negation.
WILL = (
    r"\b(?:i will|i'?ll|i am going to|i'm going to|(?:i'm |i am |we're )?gonna|imma|i want to"
    r"|i'd love to|we will|we'll|we are going to|we're going to|let's|let us) "
    r"(?:(?!(?:not|never)\b)[\w']+ ){0,3}"
)
HARM = (
    r"(?:kill|murder|hurt|stab|shoot|strangle|choke|rape|torture|slaughter|destroy|burn|behead"
    r"|attack|drown|bury|slit|cut|snap|smash|break|crush|eradicate|exterminate)"
)
SOMEBODY = r"(?:you|u|ur|your|yourself|him|her|his|them|their|every|everyone|everybody)"
WILL_AR = (
    r"\b(?:و|ف)?(?:سا|سوف ا|لا|ها?|حا?|سن|هن|حن|راح ا|رح ا|راح ن"
    r"|بدي ا|عايز ا|عاوز ا|ابي ا|اريد ان ا)"
)
HARM_AR = r"(?:قتل|ذبح|دبح|كسر|حرق|شنق|خنق|طعن|غتصب|دمر|ؤذي|دفن|قطع|فجر|موت|عذب|قص)"

CONTEMPT = english(
    r"hate[ds]?|hating|hatred|despis\w+|detest\w*|loath\w+|abhor\w*|contempt"
    r"|can't stand|disgust\w*|repulsive|revolting|repugnant|vile|despicable|worthless"
    r"|worth (?:\w+ )?nothing|disdain|scorn|sickening|refuse|waste of space"
    r"|(?:absolutely )?nothing to me|absolute worst|scum\w*|vermin|filth\w*|garbage"
    r"|trash|dirt|parasites?|cockroach\w*|rats?|pests?|plague|virus|cancer|subhuman"
    r"|sub-human|not human|inferior|lesser beings?|infest\w*|swarms?"
    r"|deserves? to (?:die|suffer|be)|death to|get rid of|exterminat\w+|eradicat\w+"
    r"|wiped out"
    r"|(?:should|must|ought to) (?:all )?(?:be (?:all )?)?"
    r"(?:killed|shot|hanged|burned|executed|die)"
    r"|go back to|get out of (?:our|this|my)|(?:not|n't) (?:belong|deserve to live)"
    r"|put an end to|(?:not|n't) (?:matter|our equals?|worth\w*|let any)"
    r"|no right to be|better off (?:if|without)"
)
CONTEMPT_AR = arabic(
    r"[انيت]كره(?:هم|ها|كم)?|(?<!ب)كره|بكره(?:هم|ها|كم)|كرهت|[ابني]حتقر(?:هم|ها)?"
    r"|[ابني]مقت(?:هم)?|بستحقر\w*|منفر(?:ين|ة)?|قرف|مقرف(?:ين|ة)?|[اينب]+?تقرف"
    r"|بيقرفون[اي]|حثالة|زبالة|قمامة|حشرات|صراصير|جرذان|جردان|طفيليات|بهائم|بهايم|حمير"
    r"|خنازير|قذار(?:ة|ات)|قذر(?:ين|ة)?|وسخ(?:ين|ة)?|وساخة|اوساخ|انجاس|سرطان|وباء"
    r"|طاعون|افة|فيروس(?:ات)?|همج|رعاع|حقير(?:ين|ة)?|حقراء|منحط(?:ين|ة)?|واطي(?:ين|ة)?"
    r"|ليسوا بشرا?|مش بشر|مو بشر|ابادة|نبيد(?:هم)?|[نيت]خلص من|[ني]طرد(?:هم)?|اطردوا"
    r"|اعدام|[يت]تعدموا?|[يت]تقتلوا?|يموتوا?|يستحقون الموت|لا قيمة ل\w+|ملهاش قيمة"
    r"|ما ?لهمش مكان|لا مكان ل\w+|الله ياخد"
)
ABUSE = english(
    r"stupid\w*|dumb\w*|idiots?|brainless|ignorant|uncivilised|savages?|pathetic"
    r"|dishonest|liars|\w*fuck\w*|\w*shit\w*|piss(?:ed|ing)|assholes?|bastards?|prick"
    r"|dickheads?|kill(?:ed|ing)?|murder(?:ed|ing)?|shot|hang(?:ed)?|burn(?:ed)?"
    r"|drown(?:ed)?|strangle|rap(?:e|ing)|suffer|execut\w+|slaughter|stab|throats?|zoo"
    r"|cages?|landfill|sick of|makes? me (?:sick|angry|furious)|ruin\w*|never trust"
    r"|danger|threat|no place|no right|no value|nothing worse|violent and"
)
ABUSE_AR = arabic(
    r"اغبياء|اغبى|غبي(?:ة)?|غباء|غباوة|جاهلين|جهلة|متخلف(?:ين|ة)?|كذاب(?:ين|ة)?|قتل"
    r"|[انيه]?قتلهم|شنق|نشنق|حرق|نحرق|خنق|ذبح|رقاب|رصاص|اغتصاب|اغتصب|يعانوا?|تعذيب"
    r"|اقفاص|حيوان(?:ات)?|ولاد (?:ال)?\w+|اسو[اء]+|ب?يعصبون[اي]|بعصبوني|كسم|خطر"
    r"|[يه]+دمروا?|عصابات|مجرمين|غوروا|خر[اى]|ملهمش|لا يستحق(?:ون|وا)|ما ?بيستحقوا?"
    r"|طبعهم|طبيعتهم"
)
SLURS = english(
    r"nigg(?:er|a)s?|fag(?:got)?s?|trann(?:y|ies)|shemales?|retards?|cripples?|kikes?"
    r"|muzzies?|ragheads?|camel fuckers?|wetbacks?|rapefugees?|coons?|dykes?|whores?"
    r"|sluts?"
)
SLURS_AR = arabic(
    r"زنوج|زنجي|عبيد|شواذ|خولات?|لوطي(?:ين)?|مخنث(?:ين)?|قحبة|قحاب|عاهرات?|شراميط"
    r"|منغولي"
)

AGE = "|".join(
    (
        english(r"(?:[6-9]|1[0-7])(?: |-)?(?:years?(?: |-)olds?|y/?o|yrs?(?: old)?)"),
        english(r"(?:i am|i'm|im|you are|you're|s?he is|s?he's) (?:only |just )?(?:[6-9]|1[0-7])"),
        english(r"minors?|school ?girls?|(?:little|young) (?:girl|boy|kid)s?|[678]th grade\w*"),
        arabic(r"عمر(?:ي|ك|ها|ه) (?:[6-9]|1[0-7])|قاصر(?:ة|ات)?|طفلة?|تلميذة"),
    )
)
GROOMING = (
    english(
        r"nudes?|naked|undress\w*|underwear|swimsuit|shirt off|sexy|sexual\w*|your body"
        r"|kiss me"
        r"|(?:send|show|share|trade)(?: \w+){0,3} (?:pics?|photos?|pictures?|videos?)"
        r"|turn on (?:your|the) cam\w*"
        r"|(?:don't|do not) tell (?:your )?(?:mum|mom|mother|parents|dad|anyone)"
        r"|our (?:little )?secret"
    )
    + "|"
    + arabic(
        r"عاري(?:ة|ات)?|بدون ملابس|بملابس النوم|جسمك|سر بيننا|سرنا"
        r"|لا تخبري? (?:امك|احدا?|اهلك)|ما تقولي?ش? (?:لامك|لماما|لحد|لاهلك)"
        r"|(?:ارسلي?|ابعتي?|ابعثي?) ?(?:لي)? ?صور\w*|افتحي? الكام\w+"
    )
)
