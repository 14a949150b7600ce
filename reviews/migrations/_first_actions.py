"""The actions that an installation starts with. A migration writes them; `flush` needs them again."""

FIRST_ACTIONS = """
INSERT INTO reviews_action (slug, names, outcome, key, second_from, position, is_active) VALUES
    ('no_violation', '{"en": "no violation", "ar": "لا مخالفة"}', 'clears', 'n', NULL, 10, true),
    ('warn', '{"en": "warn", "ar": "تحذير"}', 'upholds', 'w', NULL, 20, true),
    ('label', '{"en": "label", "ar": "وسم"}', 'upholds', 'l', NULL, 30, true),
    ('restrict', '{"en": "restrict", "ar": "تقييد"}', 'upholds', 't', NULL, 40, true),
    ('remove', '{"en": "remove", "ar": "إزالة"}', 'upholds', 'd', NULL, 50, true),
    ('suspend', '{"en": "remove and suspend", "ar": "إزالة وتعليق الحساب"}', 'upholds', 'r', 0, 60, true),
    ('escalate', '{"en": "escalate", "ar": "تصعيد"}', 'escalates', 'e', NULL, 70, true),
    ('reopen', '{"en": "back to review", "ar": "إعادة إلى المراجعة"}', 'reopens', 'b', NULL, 80, true)
ON CONFLICT DO NOTHING
"""
