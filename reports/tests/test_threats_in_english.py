"""Threats in English: who is threatened, with what, however it is spelled; and what only sounds so."""

import pytest

from reports.models import Severity
from reports.tests.judging import floor_of

PERSONS = [
    "Say that again and I'll kill you",
    "If you tell anyone, I will kill you and your brother",
    "tell the police and we'll slit your throat",
    "Delete the video or I am going to break your legs",
    "I'll smash your stupid face in",
    "we are coming to beat you",
    "I swear to god i'll strangle you",
    "I will hunt you down",
    "I'm about to stab him",
    "I want to strangle her",
    "I'll happily shoot him. Then I will shoot him again",
    "gonna murder your family",
    "imma kill you",
    "i will unalive you",
    "you will be shot",
    "you're gonna get stabbed",
    "You won't see tomorrow",
    "your days are numbered",
    "your dead",
    "ur dead meat",
    "sleep with one eye open",
    "wait until I get my hands on you",
    "That judge will die by my hands",
    "I'd kill you",
]
WHERE_THEY_ARE = [
    "I know where you live",
    "i know where ur kids go to school",
    "we know where your mother works",
    "I know where to find you",
]
PLACES = [
    "I will burn down the mosque on Friday",
    "we're going to bomb your school",
    "I'm gonna shoot up the office",
    "We will attack their church",
    "there is a bomb in the station",
    "I planted a bomb, you have an hour",
]
GROUPS = [
    "We will kill every last journalist in this town",
    "I'm going to shoot all the teachers",
    "we'll burn those refugees",
    "I want to murder that cop",
    "i will make these migrants suffer",
    "We are going to exterminate these people",
    "Death to the infidels",
]
CALLS = [
    "We should kill all politicians",
    "we must hang every last traitor",
    "Let's lynch these foreigners",
    "somebody should shoot that man",
    "someone needs to stab her",
    "Reporters deserve to be shot",
    "she deserves to die",
    "he deserves a bullet",
    "all refugees must be gassed",
    "Teachers like that ought to be hanged",
    "they should be burned alive",
    "I hope they get raped",
    "I would love to watch those people bleed",
    "killing people like you should be legal",
    "Death is the only answer",
    "let's get rid of foreigners once and for all",
]


@pytest.mark.parametrize("text", [*PERSONS, *WHERE_THEY_ARE, *PLACES, *GROUPS])
def test_a_threat_is_critical(text: str) -> None:
    floor = floor_of(text)

    assert (floor.severity, floor.rules) == (Severity.CRITICAL, ("threat_en",))


@pytest.mark.parametrize("text", CALLS)
def test_a_call_to_violence_is_high(text: str) -> None:
    floor = floor_of(text)

    assert (floor.severity, floor.rules) == (Severity.HIGH, ("violence_call_en",))


@pytest.mark.parametrize(
    "text",
    [
        "I will killllll youuuu",
        "i wiiiill kiiiill you",
        "I WILL KIIILL YOU!!!",
        "i will k1ll u",
        "1 w!ll k!ll y0u!",
        "I will ki11 you",
        "i w1ll st@b you",
        "I will κill you",  # Greek kappa
        "I will ᴋɪʟʟ you",
        "I will 🅺🅸🅻🅻 you",
        "I will 🇰 🇮 🇱 🇱 you",
        "I will k̶i̶l̶l̶ yöú",
        "I will k i l l you",
        "I will k.i.l.l you",
        "I will k-i-l-l you",
        "I will k_i_l_l you",
        "I will k . i . l . l you",
        "I will k\u200bi\u200bl\u200bl you",
        "I will k\u2800i\u3164ll you",
        "i w i l l k i l l y o u",
        "I'll k i l l u",
        "I will ki.ll you",
        "I will ki ll you",
        "i.will.kill.you",
        "I will k*ll you",
        "I will k**l you",
        "I will k*** you",
        "I will k#ll you",
        "I'm going to m*rder you",
        "I'm going to mrder you",
        "we will r*pe you",
        "I'm gonna st*b you",
        "i will f-ing kill you",
        "i will f**king kill you",
        "i'll kll u",
        "wna kill u",
        "i wna kill u",
        "im gnna kill ya",
        "ima stab u",
        "i'ma stab u",
        "ill beat ur ass",
        "i kno… i know where u live",
        "I'll kiII you",
        "i wiII kiIl you",
        "I WILL KlLL YOU",
        "I wi|| ki|| you",
        "I'll murd3r you",
        "kill u 2morrow",
        "murd3r you 2nite",
        "k!ll you tomorrow",
        "your dead 2morrow",
        "u wont see 2day",
        "ur gonna die",
        "u r dead",
    ],
)  # fmt: skip
def test_a_threat_is_found_however_it_is_spelled(text: str) -> None:
    assert floor_of(text).severity >= Severity.CRITICAL


@pytest.mark.parametrize(
    "text",
    [
        "this traffic kills me",
        "my feet are killing me",
        "kill the process and restart it",
        "You should kill the server first, then kill all processes",
        "I'll kill it on stage tonight",
        "that is a killer app",
        "you killed it!",
        "we are going to kill some time",
        "I would kill for a coffee",
        "dressed to kill",
        "he will kill the lights",
        "It was a bomb of a party",
        "We will bomb this exam",
        "I'm dying to see you",
        "the heat will kill you today",
        "that would kill you tomorrow",
        "you won't see a thing",
        "you're dead right",
        "your dead plants need water",
        "the battery is dead",
        "I will shoot a film about women",
        "I am going to shoot the wedding for people I like",
        "we should shoot the next scene at dawn",
        "I'll hang the pictures of the children",
        "I'll hang out with you",
        "I'll choose to drown them in sauce",
        "we will execute the commands",
        "I will lend you my car",
        "I will never hurt you",
        "I'm not going to kill you",
        "I would never hurt people",
        "nobody deserves to die",
        "No old man deserves to be shot",
        "people do not deserve to be killed",
        "poverty should be eradicated",
        "the pig must be put down in the notes",
        "I hope nobody gets killed",
        "If I were you I would stab the potatoes first",
        "World War III will kill off the old order",
        "I can't wait to see you",
        "we want to beat the boys from the other school",
        "my skills will help you",
        "let's get rid of the old sofa once and for all",
        "let's hang on, people",
        "they should be hung in the hall",
        "I know where to find good bread",
        "a b c d e f g h i j k l m n o p",
    ],
)  # fmt: skip
def test_what_only_sounds_like_a_threat_is_not_found(text: str) -> None:
    assert floor_of(text).rules == ()
