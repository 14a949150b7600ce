"""Which decisions stand, in SQL; `DecisionQuerySet.standing` says the same to the ORM.

OFFSET 0: each row looks up its few by the index, whatever the planner thinks of reading them all.
"""


def is_undone(decision: str) -> str:
    """Of the alias of a decision: whether who made it took it back."""
    return f"""EXISTS (SELECT FROM reviews_decision AS undo
        WHERE undo.overrides_id = {decision}.id AND undo.kind = 'undo' OFFSET 0)"""


def is_overridden(decision: str) -> str:
    """Likewise: whether a later row about its item stands, a decision or a proposal."""
    return f"""EXISTS (SELECT FROM reviews_decision AS later
        WHERE later.item_id = {decision}.item_id AND later.id > {decision}.id
            AND later.kind <> 'undo' AND NOT {is_undone("later")} OFFSET 0)"""
