"""Threats in Arabic: standard and spoken, however they are spelled; and what only sounds so."""

import pytest

from reports.models import Severity
from reports.tests.judging import floor_of

PERSONS = [
    # standard
    "إن لم تسكت فسأقتلك",
    "سوف نذبحكم واحدا واحدا",
    "سأقطع رأسك",
    "لأقتلنك",
    "سنشرب من دمكم",
    "سأحرق محلك",
    "رصاصة في رأسك",
    "أيامكم معدودة",
    "دمك حلال",
    "سيقتلونك",
    # Egyptian
    "لو قلت لحد هقتلك",
    "هاقتلك",
    "والله هدفنك هنا",
    "هخلص عليك",
    "هولع فيك",
    "هطلع روحك",
    "هاضربك بالنار",
    "عايز اقتلها",
    # Levantine
    "رح اقتلك اذا بتحكي",
    "بدي اقتله",
    "رح طخك",
    "راح كسر راسك",
    "بدنا نذبحكم",
    "والله لاكسر ايدك",
    # Gulf and Iraq
    "راح اكتلك",
    "بذبحك",
    "ابي اقتلك",
    # Maghreb
    "غادي نقتلك",
    "غنقتلك",
    "غانذبحك",
    "نقتلك",
]
WHERE_THEY_ARE = [
    "أعرف أين تسكن",
    "بعرف وين بيتك",
    "عارف بيتك فين",
    "عارفين مكان شغلك",
    "أعرف مدرسة عيالك",
]
PLACES = ["سنفجر المدرسة غدا", "رح نحرق الكنيسة", "في قنبلة في المحطة", "هنولع في المكتب"]
GROUPS = ["سنقتل كل الصحفيين", "هنقتل جميع الخونة", "أريد أن أقتل كل النساء", "اقتلوا اليهود"]
CALLS = [
    "يجب قتل المهاجرين",
    "يجب أن يقتلوا",
    "لازم كل الطلاب يتقتلوا",
    "لازم نشنق الصحفيين",
    "خلونا نحرق اللاجئين",
    "المعلمين يستاهلوا القتل",
    "هذا الرجل يستحق الموت",
    "الموت للخونة",
    "القتل هو الحل",
    "يا ريت حد يذبح الكفار",
]


@pytest.mark.parametrize("text", [*PERSONS, *WHERE_THEY_ARE, *PLACES, *GROUPS])
def test_a_threat_is_critical(text: str) -> None:
    floor = floor_of(text)

    assert floor.severity is Severity.CRITICAL
    assert "threat_ar" in floor.rules


@pytest.mark.parametrize("text", CALLS)
def test_a_call_to_violence_is_high_at_least(text: str) -> None:
    floor = floor_of(text)

    assert floor.severity >= Severity.HIGH
    assert "violence_call_ar" in floor.rules


@pytest.mark.parametrize(
    "text",
    [
        "سأقتلككككك",
        "سأقتلكككككم كلكم",
        "ساااااقتلك",
        "س أ ق ت ل ك",
        "س.أ.ق.ت.ل.ك",
        "س-أ-ق-ت-ل-ك",
        "س ـ أ ـ ق ـ ت ـ ل ـ ك",
        "سأ.قت.لك",
        "ســـأقـــتـــلـــك",
        "سا\u200bق\u200bتلك",
        "سأق*تلك",
        "سَأَقْتُلُكَ",
        "ﺳﺄﻗﺘﻠﻚ",
        "سأقتلک",  # Persian kaf
        "سوف اقتلكی",  # Persian ya
        "ه قتلك",
        "ha2tlak",
        "hatmoot",
        "ba2tlak",
        "7a2tlak",
        "ra7 a2tlak",
        "rah aqtlak",
        "sa'aqtulak",
        "sa2tolak",
        "ghanqtlek",
        "hadba7ak",
        "radi ndb7ek",
        "ba3ref wen saken",
        "3aref beitak feen",
        "haksar ra2abtak",
    ],
)  # fmt: skip
def test_a_threat_is_found_however_it_is_spelled(text: str) -> None:
    assert floor_of(text).rules == ("threat_ar",)


@pytest.mark.parametrize(
    "text",
    [
        "قتلني الملل",
        "موت من الضحك",
        "هموت من الضحك",
        "ستموت من الضحك",
        "هتموت من الجوع",
        "بموت فيك",
        "بموت عليك",
        "قتل الوقت",
        "نقتل الوقت بالقراءة",
        "سنقتل كل الوقت في الانتظار",
        "يجب قتل البكتيريا",
        "التدخين يقتلك ببطء",
        "لن أقتلك",
        "لا تقتلوا الناس",
        "مش هقتلك",
        "قتل الناس حرام",
        "قتل النساء ليس حلالا",
        "لا أحد يستحق الموت",
        "المباراة كانت حرب",
        "ضربة حرة مباشرة",
        "سأذبح الخروف للعيد",
        "سأكسر البيض",
        "احرق السعرات",
        "سأضرب لك موعدا",
        "أعرف أين المحطة",
        "هات لك كتاب",
        "رح بقول لك الصبح",
        "كتلة هوائية باردة",
        "كل الطلاب لازم يدرسوا",
        "we need 2talk",
        "q&a at 2, talk later",
        "habibi hadi baha",
    ],
)  # fmt: skip
def test_what_only_sounds_like_a_threat_is_not_found(text: str) -> None:
    assert floor_of(text).rules == ()
