"""`filter(pk__any=ids)`: like `in`, but one parameter whatever the number.

A slice of a batch names hundreds of rows in every statement; as a parameter each they cost more to
write down than to look up.
"""

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.sql.compiler import SQLCompiler

if TYPE_CHECKING:
    from collections.abc import Collection

    _Lookup = models.Lookup[Collection[Any]]
else:
    _Lookup = models.Lookup


@models.Field.register_lookup
@models.ForeignKey.register_lookup
class AnyOf(_Lookup):
    """Values of the column's own type: whole numbers, UUIDs."""

    lookup_name = "any"
    prepare_rhs = False

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[Any, ...]]:
        column, parameters = self.process_lhs(compiler, connection)
        return f"{column} = ANY(%s)", (*parameters, list(self.rhs))
