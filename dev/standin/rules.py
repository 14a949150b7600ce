"""The table of the stand-in's rules, from the most severe category to the mildest."""

import re
from typing import NamedTuple

from dev.standin.vocabulary import (
    ABUSE,
    ABUSE_AR,
    AGE,
    CONTEMPT,
    CONTEMPT_AR,
    GROOMING,
    GROUP,
    GROUP_AR,
    HARM,
    HARM_AR,
    SLURS,
    SLURS_AR,
    SOMEBODY,
    WILL,
    WILL_AR,
    arabic,
    compile_words,
    english,
    near,
    together,
)


class Rule(NamedTuple):
    """`confidence` is 0..1; `means` says in words what `pattern` looks for in a folded text."""

    category: str
    confidence: float
    means: str
    pattern: re.Pattern[str]


def _rule(category: str, confidence: float, means: str, *patterns: str) -> Rule:
    return Rule(category, confidence, means, compile_words(*patterns))


RULES: tuple[Rule, ...] = (
    _rule(
        "minors",
        0.95,
        "an age below 18 or a child, together with grooming words",
        near(AGE, GROOMING),
    ),
    _rule(
        "credible_threat",
        0.95,
        "the speaker says that they will harm somebody",
        rf"{WILL}{HARM}(?: [\w']+){{0,3}}? {SOMEBODY}\b",
        rf"{WILL}{HARM}\b~{GROUP}",
        rf"{WILL_AR}{HARM_AR}(?:\w{{0,2}}(?:ك|كم|كو|كي|هم|ها|ه)\b|~{GROUP_AR}| \w+(?:ك|كم|هم)\b)",
        rf"{WILL_AR}ضرب\w*~(?:سكين|مطوة|رصاص|نار|خنجر)",
    ),
    _rule(
        "credible_threat",
        0.9,
        "a threat by its set phrases",
        english(
            r"(?:you're|you are|u are) (?:so )?dead"
            r"|you(?:'re| are) (?:going to|gonna) die|you will die"
            r"|i know where you (?:live|work|sleep)|watch your back|i will find you"
            r"|i'll find you|won't (?:see|live to see) (?:tomorrow|morning)"
            r"|your days are numbered"
            r"|(?:bomb|shoot up|blow up) (?:the|your|that|this) "
            r"(?:school|mosque|church|office|house)"
            r"|ha2tl\w+|hadba7\w+"
        ),
        arabic(
            r"اعرف (?:وين|اين) (?:بيتك|تسكن|ساكن)|عارف بيتك|عارفين بيتك|نهايتك قربت"
            r"|ايامك معدودة|دمك (?:حلال|مهدور)|موتك على (?:يدي|ايدي)|لن ترى الشمس|انت ميت"
            r"|خاف على (?:عيالك|اولادك)"
        ),
    ),
    _rule(
        "self_harm",
        0.95,
        "the speaker wants to die, or tells somebody to",
        english(
            r"kill (?:myself|yourself|urself)|kys|end (?:my|it|your) (?:own )?(?:life|all)"
            r"|suicid(?:e|al)|want to die|wanna die|cut(?:ting)? myself|hurt(?:ing)? myself"
            r"|better off without me|(?:don't|do not) want to (?:live|be here|wake up)"
            r"|no reason to (?:live|go on)|took all the pills|goodbye forever"
        ),
        arabic(
            r"[اهنبس]*نتحر|انتحري?|الانتحار|[اس]+قتل نفسي|اقتل نفسك|[اس]+نهي حياتي"
            r"|[اه]?موت نفسي|(?:لا اريد|ما ابغى|ما بدي|مش عايز|مش عايزة) (?:ان )?ا(?:عيش|صحى)"
            r"|[اب]+جرح نفسي|اتمنى الموت|تعبت من الحياة|وداعا للجميع"
        ),
    ),
    _rule("hate", 0.9, "a slur", SLURS, SLURS_AR),
    _rule(
        "hate",
        0.92,
        "contempt, dehumanising or a call for removal, in one sentence with a group",
        together(GROUP, CONTEMPT),
        together(GROUP_AR, CONTEMPT_AR),
        # On its own the word also reads "tomorrow".
        rf"بكره (?:\w+ )?{GROUP_AR}",
    ),
    _rule(
        "hate",
        0.7,
        "abuse or violence in one sentence with a group",
        together(GROUP, ABUSE),
        together(GROUP_AR, ABUSE_AR),
    ),
    _rule(
        "violence",
        0.9,
        "calls for violence, or enjoys it",
        english(
            r"(?:someone|somebody|they) should (?:just )?(?:kill|shoot|stab|hang|beat|burn) \w+"
            r"|deserves? to be (?:shot|killed|beaten|stabbed|hanged)|beheading"
            r"|(?:beat|beaten|beating) (?:him|her|them) (?:up|to)"
            r"|burn (?:it|the \w+|them) (?:all )?down|bring (?:knives|your knives|guns)"
            r"|make (?:them|him|her) bleed|watch (?:him|her|them) bleed"
            r"|how to (?:make|build) a bomb"
        ),
        arabic(
            r"لازم (?:يتقتل|يتضرب|ينضرب|يموت)|يجب (?:قتله|ضربه|حرقه)\w?|اضربو(?:ه|هم|ها)"
            r"|احرقو(?:ه|هم|ا)|كسروا? (?:عظامه|راسه)\w?|مقطع ذبح|هاتوا? السلاح"
            r"|يستاهل (?:القتل|الضرب)"
        ),
    ),
    _rule(
        "sexual",
        0.9,
        "sexual words or offers",
        english(
            r"nudes?|naked (?:pics?|photos?|videos?)|porn\w*|horny|sexting"
            r"|sex (?:chat|video|tape|tonight)|(?:want|wanna|have) (?:\w+ )?sex|escorts?"
            r"|onlyfans|hot singles|private show"
        ),
        arabic(
            r"صور(?:ا|ك)? عارية|مقاطع جنسية|سكس|اباحي(?:ة)?|علاقة جنسية|ليلة حمراء"
            r"|محتوى للكبار"
        ),
    ),
    _rule(
        "harassment",
        0.9,
        "hunts, exposes or humiliates a person",
        english(
            r"(?:her|his|your) (?:home )?address is"
            r"|post(?:ed|ing)? (?:her|his|your) (?:number|address)"
            r"|nobody (?:likes|wants|loves) you|everyone (?:hates|laughs at) you"
            r"|(?:go|let's) (?:all )?(?:spam|flood|report) her"
            r"|you(?:'re| are) (?:\w+ ){0,3}"
            r"(?:pathetic|worthless|disgusting|trash|garbage|a joke|ugly|pigs?)"
        ),
        arabic(
            r"(?:محدش|لا احد|ما حد) (?:بيحبك|يحبك)\w?"
            r"|(?:رقمها|عنوانها|رقمه|عنوانه) (?:هو|هنا|وهو)|الكل يضحك عليك"
            r"|انشروا? (?:رقمها|صورها|عنوانها|رقمه)"
            r"|يا (?:كلب|كلبة|حمار|حمارة|حقير|حقيرة|قذر|زبالة|حيوان|تافه|خنزير)"
            r"|انت (?:زبالة|حقير|حشرة|تافه|قذر)"
        ),
    ),
    _rule(
        "harassment",
        0.7,
        "a plain insult",
        english(
            r"i hate you|shut up|loser|moron|idiot"
            r"|you(?:'re| are) (?:\w+ ){0,3}(?:stupid|dumb|fat|crazy)|fuck (?:you|off)|asshole"
            r"|bitch(?:es)?"
        ),
        arabic(r"[اب]كره(?:ك|كم)|اخرس|يا (?:غبي|غبية|فاشل|فاشلة|متخلف|جاهل)|انت (?:غبي|فاشل|مقرف)"),
    ),
    _rule(
        "scam",
        0.92,
        "asks for money, codes or accounts under a pretext",
        english(
            r"double your (?:money|bitcoin|investment)|guaranteed (?:profits?|returns?)"
            r"|you(?:'ve| have) won|(?:processing|customs|release|deposit) fee|gift cards?"
            r"|verify your (?:account|wallet|identity)|(?:seed|recovery) phrase"
            r"|verification code|send (?:\w+ )?(?:btc|bitcoin|usdt|crypto)|inheritance"
            r"|western union|outside the (?:platform|app)|work from home and earn"
        ),
        arabic(
            r"ا?رباح مضمونة|ضاعف (?:اموالك|فلوسك)|(?:لقد )?ربحت (?:جائزة|مبلغ|سيارة)"
            r"|كود التحقق|رمز التحقق|ارسل الكود|رقم (?:البطاقة|بطاقتك)"
            r"|رسوم (?:التحويل|الشحن|الافراج)|حو(?:ل|لي) (?:المبلغ|العربون)|خارج المنصة"
            r"|بطاقات هدايا|ميراث"
        ),
    ),
    _rule(
        "spam",
        0.9,
        "advertises to strangers",
        english(
            r"click (?:here|the link|my bio)|buy now|limited (?:time )?offer|promo code"
            r"|cheap followers|free followers|follow (?:me )?for follow|subscribe to my"
            r"|best price(?:s)? guaranteed|order today|visit my (?:site|page|channel|store)"
            r"|earn \W?\d+ (?:a|per) day|casino bonus"
        ),
        arabic(
            r"اضغط (?:هنا|على الرابط)|عرض محدود|زيادة متابعين|متابعين (?:حقيقيين|مجانا)"
            r"|اشترك(?:وا)? (?:الان|في قناتي)|كود خصم|خصم \d+|اطلب(?:وا)? الان|تابعني اتابعك"
            r"|زوروا? (?:متجرنا|موقعنا|صفحتنا)"
        ),
    ),
    _rule(
        "other",
        0.85,
        "offers forbidden goods or forged papers",
        english(
            r"fake (?:passports?|ids?|certificates?|diplomas?)"
            r"|(?:sell|selling|buy) (?:\w+ ){0,2}(?:weed|pills|cocaine|guns?|ivory)"
            r"|no prescription|stolen (?:cards?|accounts?)|exam answers for sale"
        ),
        arabic(
            r"جوازات? (?:مزورة?|سفر مزورة?)|شهادات? مزورة"
            r"|(?:بيع|للبيع) (?:حشيش|حبوب|سلاح|مسدس|اسلحة)|بدون وصفة|حسابات مسروقة"
        ),
    ),
)
