# ruff: noqa: E501 - texts run on
"""Texts of every kind that people and attackers send, written for this measurement.

Those to learn from and those to check on are other texts: `LEARNT_FROM` and `CHECKED`, by kind.
"""

import random

# People's writing: counted at most twice too high, once learnt. The other kinds: never too low.
NATURAL = ("english", "standard Arabic", "Egyptian", "Gulf", "Maghrebi", "with diacritics",
           "stretched", "Arabizi", "code-switching", "chat with emoji")  # fmt: skip

LEARNT_FROM: dict[str, list[str]] = {
    "english": [
        (
            "Hey, are you still coming to the match on Saturday? I bought two tickets yesterday and my "
            "cousin can drive us there, so you only need to bring some snacks. Let me know before noon, "
            "because otherwise I'll ask somebody from the office."
        ),
        (
            "Honestly I can't believe she said that in front of the whole class. Everybody was laughing "
            "and nobody helped. If it happens once more I'm going to talk with the teacher, whatever "
            "my parents think about it, and then we will see who is laughing."
        ),
        (
            "The landlord keeps sending me messages in the middle of the night, asking for money that I "
            "already paid. I saved every receipt. Do you know whether there is an office in town where "
            "tenants can get advice without paying a lawyer first?"
        ),
    ],
    "standard Arabic": [
        (
            "أكد وزير التعليم في المؤتمر الصحفي أن العام الدراسي الجديد سيبدأ في موعده المحدد، وأن جميع "
            "المدارس في المحافظات أنهت استعداداتها لاستقبال الطلاب، مشيراً إلى توفير الكتب والمقاعد."
        ),
        (
            "شهدت العاصمة أمس هطول أمطار غزيرة أدت إلى إغلاق عدد من الطرق الرئيسية، فيما دعت السلطات "
            "المواطنين إلى البقاء في منازلهم وعدم الخروج إلا عند الضرورة القصوى حتى تتحسن الأحوال."
        ),
        (
            "يرى الباحثون أن القراءة اليومية للأطفال تساعد على تطوير اللغة والخيال، كما تزيد من قدرة "
            "الطفل على التركيز والتعلم في المراحل الدراسية اللاحقة، وتقوي العلاقة بين الأهل والأبناء."
        ),
    ],
    "Egyptian": [
        (
            "بقولك ايه، انا مش فاضي النهاردة خالص عشان عندي شغل كتير، بس لو عايز نتقابل بكرة بعد الضهر "
            "قولي وانا هكلم محمود ييجي معانا ونقعد على القهوة اللي جنب البيت زي كل مرة."
        ),
        (
            "والله العظيم ما كنت اعرف انه بيكدب عليا كل ده، كل ما اساله يقولي مفيش حاجة وهو قاعد بيتكلم "
            "عليا من ورا ضهري مع الناس كلها، خلاص انا زهقت ومش هرد عليه تاني ابدا."
        ),
        (
            "هو ليه كل ما ابعتلك رسالة مبتردش؟ انت زعلان مني في حاجة ولا ايه؟ طب قولي ايه اللي حصل "
            "وانا اصالحك، احنا طول عمرنا صحاب ومينفعش نزعل من بعض عشان كلام فاضي كده."
        ),
    ],
    "Gulf": [
        (
            "شلونك يا بعدي عساك طيب، ترى امس مريت على بيتكم وما لقيت احد، وش السالفة وين رحتوا؟ كنت ابي "
            "اخذ منك الاغراض اللي خليتها عندك ذاك اليوم ونطلع نتقهوى مع الشباب."
        ),
        (
            "ياخي انت وش فيك ما تفهم، قلت لك مية مرة لا تكلمني ولا تدق علي، واذا شفتك قريب من بيتنا مرة "
            "ثانية والله لاعلم اخوي الكبير وانت تعرف وش بيسوي فيك، احشم نفسك احسن لك."
        ),
        (
            "ابغى اروح السوق العصر بس ما عندي احد يوديني، اذا انتي رايحة مري علي الله يعافيج، وبعدين "
            "نروح نتعشى في المطعم اليديد اللي فتح جدام البحر يقولون وايد زين."
        ),
    ],
    "Maghrebi": [
        (
            "واش راك خويا لاباس عليك؟ بزاف هادي ما شفتكش، كيفاش داير مع الخدمة ديالك؟ انا راني غادي "
            "للبلاد هاد السيمانة ان شاء الله، الا بغيتي شي حاجة قولها ليا دابا."
        ),
        (
            "علاش ما تجاوبنيش كي نعيطلك؟ راني نستنى فيك من الصباح قدام الدار، ماشي معقول هكذا، كل خطرة "
            "تقول نجي ومبعد ما تجيش، خلاص المرة الجاية ما نستناكش والله."
        ),
        (
            "شنوة حكايتك اليوم يزي من التمسخير، برشا عباد يحكيو عليك وانت ما على بالك بشي، كان تحب نمشيو "
            "نتقهواو مع بعضنا ونفهموا شنوة صار البارح في الخدمة مع العرف."
        ),
    ],
    "with diacritics": [
        "كَانَ الرَّجُلُ يَجْلِسُ كُلَّ مَسَاءٍ أَمَامَ بَيْتِهِ، يَنْظُرُ إِلَى الْبَحْرِ وَيَتَذَكَّرُ أَيَّامَ شَبَابِهِ، وَكَانَ أَطْفَالُ الْقَرْيَةِ يُحِبُّونَ حِكَايَاتِهِ.",
        "اِقْرَأْ كُلَّ يَوْمٍ صَفْحَةً مِنْ كِتَابٍ، فَإِنَّ الْقِرَاءَةَ تُوَسِّعُ الْعَقْلَ وَتُهَذِّبُ النَّفْسَ، وَلَا تَقُلْ: لَيْسَ عِنْدِي وَقْتٌ.",
    ],
    "stretched": [
        "ههههههههه والله انك تحفةةةة يا رااااجل، مش قادررررر خلاااااص بطني وجعتني من الضحك هههههههه يااااه",
        "حبيييييبي وحشتننننني موووووت، فينننننك كل ده؟ مستنييييياك من بدررررري ياااا عم يلااااا بقى تعااااال",
    ],
    "Arabizi": [
        (
            "ya 3am enta feen men el sob7? ana mestanek 2odam el kolleya w el telephone beta3ak ma2fool, "
            "law mesh gay 2oly 3ashan arawa7 ba2a, 7aram 3alek kol yoom keda ta3abteny ma3ak awy, law 3ayez tegy ta3ala dilwa2ty 7alan abl ma amshy"
        ),
        (
            "kifak habibi shu akhbarak? mbere7 sheft khayyak bl souk w saalto 3annak 2alli ennak msefar, "
            "ya3ni ma bt2oul la 7ada? bas terja3 khabberna la ne2dar nshufak w nes-har ma3 ba3d, w iza badak shi 7kili shu ma kan"
        ),
        (
            "wallah el 3atheem ma kunt adry ennek za3lana minni, esh feek ma tredeen 3ala rasayli? "
            "ana asef etha ghaltt 3alaich, tara inty ghalya 3indi w ma abi az3elich abadan ya galbi, radday 3alay etha shefti el resala el7een"
        ),
    ],
    "code-switching": [
        (
            "انا كنت في ال meeting الصبح وبعدين ال manager قالي اعمل update لل presentation قبل بكرة، so "
            "basically مش هعرف اجي معاكم the party tonight، sorry يا جماعة next time ان شاء الله"
        ),
        (
            "bro wallah I told him khalas مش عايز اتكلم في الموضوع ده, he keeps sending me screenshots of "
            "the group وانا مالي اصلا, let them say whatever they want يعني"
        ),
    ],
    "chat with emoji": [
        (
            "omg that was so funny 😂😂😂 I can't stop laughing, send me the video please 🙏 my sister has "
            "to see this, she will love it ❤️❤️ see you tonight 🎉"
        ),
        (
            "صباح الخير يا قمر 🌹❤️ وحشتيني اوي والله 😘😘 نتقابل امتى؟ انا فاضي النهاردة بعد الشغل 😍 "
            "قوليلي وانا اجي اخدك من البيت 🚗💨"
        ),
    ],
    "emoji": ["😂🤣😭😍🥰😘🙏👍🔥💯❤️💔✨🎉😡🤬🖕💀👀🤔😅😎🙄😤🥺😱🤮💩👏🙌💪🌹🎂🍕⚽🏆" * 3],
}

CHECKED: dict[str, list[str]] = {
    "english": [
        (
            "I told you not to message me again. My brother saw everything that you wrote and he is going "
            "to wait for you tomorrow after school, so you had better stay at home."
        ),
        (
            "You people always complain about the same things and never do anything. Go back to where you "
            "came from, nobody here asked for your opinion about our neighbourhood!"
        ),
        (
            "lol u really think ppl care what u say?? ur just jealous cuz she got picked n u didnt, stop "
            "spamming the chat n get a life already"
        ),
        (
            "Congratulations! Your account was selected for a special reward. Click the link below and "
            "confirm your password within two hours in order to receive the full amount."
        ),
    ],
    "standard Arabic": [
        (
            "أعلنت وزارة الصحة اليوم أن عدد المصابين انخفض خلال الأسبوع الماضي، وأكدت أن المستشفيات مستعدة "
            "لاستقبال المرضى في جميع المدن، ودعت المواطنين إلى الالتزام بالتعليمات."
        ),
        (
            "إن هذا الشعب لا يستحق الاحترام، وسيأتي اليوم الذي يندم فيه كل من وقف معهم ضد الحق والعدالة، "
            "ولن ينفعهم حينها اعتذار ولا بكاء."
        ),
        (
            "نود إبلاغكم بأن حسابكم المصرفي قد تم إيقافه مؤقتاً، ويرجى تحديث البيانات الشخصية عبر الرابط "
            "المرفق خلال أربع وعشرين ساعة لتجنب الإغلاق النهائي للحساب."
        ),
    ],
    "Egyptian": [
        (
            "يعني انت ليه بتعمل كده؟ انا قلتلك مش عايز اشوفك تاني، سيبني في حالي وماتكلمنيش بقى عشان زهقت "
            "منك ومن مشاكلك اللي مبتخلصش دي"
        ),
        "انت فاكر نفسك مين يا حيوان، والله لو شفتك في الشارع هكسرلك عضمك حتة حتة، ابقى قابلني لو راجل",
        "يا بنتي سيبك منه ده واحد مش محترم وكل البنات عارفينه، بيضحك على الناس وياخد فلوسهم وبعدين يقفل",
    ],
    "Gulf": [
        (
            "هيه انت يا الخبل لا تسوي نفسك ما تدري، كلنا نعرف سواياك، واقسم بالله ان ما رديت الفلوس باجر "
            "بتشوف شي ما شفته في حياتك"
        ),
        "وش تبين تسوين الحين؟ خلاص ما يفيد الحكي، انا قلت اللي عندي واللي مب عاجبه يطق راسه بالطوفة",
        "تكفون يا جماعة احد يعرف دكتور زين للاسنان؟ ضرسي ذابحني من امس وما نمت الليل كله من الوجع",
    ],
    "Maghrebi": [
        "نتا واحد الحمار ما كتفهمش، قلت ليك بعد مني وخليني ترانكيل، والله حتى نجي لداركم ونوريك شكون انا",
        "راهم يقولو بلي غدوة ما كانش القراية على جال الاضراب، صحيح ولا غير هدرة تاع فيسبوك؟ عيطلي كي تعرف",
        "ياخي شبيك هبلت؟ ما عادش تكلمني بالطريقة هذي، توا نمشي نشكي بيك للحاكم ونوريهم الميساجات الكل",
    ],
    "with diacritics": [
        "إِنَّ الْعِلْمَ نُورٌ يَهْدِي النَّاسَ إِلَى الْخَيْرِ، وَمَنْ طَلَبَ الْعُلَا سَهِرَ اللَّيَالِيَ، وَمَنْ جَدَّ وَجَدَ وَمَنْ زَرَعَ حَصَدَ.",
        "لَنْ أَنْسَى مَا فَعَلْتَ بِي أَبَدًا، وَسَوْفَ تَنْدَمُ عَلَى كُلِّ كَلِمَةٍ قُلْتَهَا فِي حَقِّي أَمَامَ النَّاسِ.",
    ],
    "stretched": [
        "يااااااا حيواااااان انت مش هتسكتتتتت بقى؟؟؟ هوريككككك والله العظييييم هتندممممم يا واااااطي هههههه",
        "لاااااااا مش معقووووول ههههههههههه ايه الجمااااال ده كلـــــــه يا قمررررر تسلممممم ايدييييك",
    ],
    "Arabizi": [
        "ya3ni enta leh bt3mel keda? ana olt lak mesh 3ayez ashoofak tany, sebny fe 7aly w matklmneesh ba2a",
        "shu hal 7aki ya ghabi, wallah iza bshufak b tari2i la kassirlak rasak, inta w kil rfa2atak ma btestu7u",
        "wesh rak khoya, 3lach ma tjawebch 3la les messages? rani ne7taj dok drahem ghodwa, ma tensach stp",
    ],
    "code-switching": [
        "يا عم فكك منه he is such a liar, كل يوم بيقول حاجة و next day بيغير كلامه, مش هصدقه تاني never again",
        "listen habibi اذا ما رجعتلي ال account بتاعي today انا رايح ال police station وعندي كل ال screenshots",
    ],
    "chat with emoji": [
        (
            "you're such a clown 🤡🤡 nobody likes you, go cry to your mommy 😭😭 we will find you after "
            "class, trust me 😈🔪 and don't even think of telling anybody"
        ),
        "مبروك يا غالي 🎉🎊 الف مبروك النجاح عقبال الدكتوراه ان شاء الله 🎓❤️ ربنا يوفقك ويسعدك دايما 🤲🌹",
    ],
    "emoji": ["😈🔪🩸💣🔫☠️🤡🐷🐕🦮🏳️‍🌈👨‍👩‍👧‍👦👩🏽‍🚀🇪🇬🇸🇦🇩🇪🪁🫖🫡🛝⛱️🪬", "🖕🖕🖕🖕😡😡😡🤬🤬" * 4],
    "digits": ["0123456789 31415926535 +20 100 123 4567, 4111 1111 1111 1111; 2026-11-30 17:45:09"],
    "Arabic digits": ["٠١٢٣٤٥٦٧٨٩ رقم ٠١٠٠١٢٣٤٥٦٧ وحساب ٤٥٦٧٨٩٠١٢٣٤٥ ۱۲۳۴۵۶۷۸۹۰"],
    "addresses": [
        (
            "https://example.com/watch?v=dQw4w9WgXcQ&list=PLx0sYbCqOb8TBPRdmBHs5Iftvv9TPboYG&t=1m33s "
            "http://bit.example/3xY7zQk t.example/joinchat/AAAAAEkk2WdoDrB4-Q8-gg wa.example/201001234567"
        )
    ],
    "special tokens": ["<|endoftext|><|im_start|>system<|im_end|>[INST]</s><|eot_id|><s>" * 8],
}


def _random_texts() -> dict[str, list[str]]:
    chance = random.Random(20261130)  # noqa: S311 - the same texts at every run
    latin, arabic = "abcdefghijklmnopqrstuvwxyz", "ابتثجحخدذرزسشصضطظعغفقكلمنهوي"
    signs = [chr(each) for each in range(0x21, 0x2FFFF) if not 0xD800 <= each < 0xE000]
    marks = "\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652\u0670"

    def of(alphabet: str | list[str], length: int) -> str:
        return "".join(chance.choices(alphabet, k=length))

    def words(alphabet: str) -> str:
        return " ".join(of(alphabet, chance.randint(2, 9)) for _word in range(300))

    return {
        "random letters": [of(latin, 2_000), words(latin), of(latin.upper(), 2_000)],
        "random Arabic letters": [of(arabic, 2_000), words(arabic)],
        "random keys": [
            of(latin + latin.upper() + "0123456789+/", 2_000),
            of("0123456789abcdef", 2_000),
        ],
        "random Unicode": [of(signs, 2_000), of(signs[:0x3000], 2_000)],
        "random marks": [of(arabic[:3] + marks, 1_500), "a" + of("\u0301\u0316\u0327", 60)],
        "random signs": [of("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", 2_000), of(" \t\n", 2_000)],
        "one sign": [
            each * 1_500 for each in ("a", "q", "Z", "ه", "ظ", "ـ", "1", "😂", "!", " ", "\n")
        ],
        "hidden signs": [of("\u200b\u200c\u200d\u202e\ufeff\u2060", 1_000), "\ufdfa" * 500],
        "what grows composed": ["\u0958\ufb2c\U0001d160" * 200],
    }


CHECKED |= _random_texts()
