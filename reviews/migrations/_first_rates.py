"""The rates that an installation starts with. A migration writes them; `flush` needs them again."""

# Two of a hundred items judged safe, and some of each kind; one of twenty decisions; one of ten other
# items blind as well, so that being blind tells nothing; and one of five that are handed out.
FIRST_RATES = """
INSERT INTO reviews_samplingrate (of, language, category, band, rate, at_least)
SELECT of, '', '', '', rate, at_least FROM (VALUES
    ('audits', 0.02, 3),
    ('double_reviews', 0.05, 0),
    ('blind', 0.1, 0),
    ('mixed_in', 0.2, 0)
) AS first (of, rate, at_least)
WHERE NOT EXISTS (SELECT FROM reviews_samplingrate);
"""
