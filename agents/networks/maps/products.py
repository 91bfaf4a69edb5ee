"""Products of small matrices, compiled: those of one position, which stay in the cache.

A call of a library for matrices takes longer than these products. Up to four rows by sixteen columns of a product are
summed in the processor's vector registers, which numba's own loops leave for memory after each term. All matrices are
float32, in C order.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from samurai_env.core.jit import bind

INDEX = ir.IntType(32)  # of an element of a vector
FLOAT = ir.FloatType()

# Bound to constants.
by_column: Any = None
to_table: Any = None


@intrinsic
def larger(typing_context: Any, a: Any, b: Any) -> Any:
    """The larger of two float32, neither of them NaN. What Python's `max` becomes is eight times as slow in a loop."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(FLOAT, [FLOAT, FLOAT])
        function = builder.module.declare_intrinsic("llvm.maxnum", [FLOAT], kind)
        return builder.call(function, arguments, fastmath=["nnan"])

    return types.float32(types.float32, types.float32), generate


class _Matrix:
    """A matrix that an intrinsic is given."""

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any) -> None:
        self._builder, array = builder, context.make_array(kind)(context, builder, value)
        self.rows, self.columns = cgutils.unpack_tuple(builder, array.shape)
        self._data = array.data

    def pointer(self, row: Any, column: Any, width: int | None = None) -> Any:
        """Points to an entry, or to a vector of `width` of them."""
        at = self._builder.gep(self._data, [self._builder.add(self._builder.mul(row, self.columns), column)])
        return self._builder.bitcast(at, ir.VectorType(FLOAT, width).as_pointer()) if width else at


def _spread(builder: Any, factor: Any, width: int) -> Any:
    """A vector of the same number."""
    first = builder.insert_element(ir.Constant(ir.VectorType(FLOAT, width), ir.Undefined), factor, INDEX(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(INDEX, width), [0] * width))


def _plus_product(builder: Any, total: Any, factor: Any, term: Any) -> Any:
    """A sum of vectors, which may be one instruction."""
    return builder.fadd(builder.fmul(factor, term, flags=["contract"]), total, flags=["contract"])


@intrinsic(prefer_literal=True)
def add_tile(
    typing_context: Any, a: Any, b: Any, out: Any, row: Any, column: Any, rows: Any, columns: Any, by_column: Any
) -> Any:
    """Add a tile of a product: `out[row : row + rows, column : column + columns]`.

    Args:
        typing_context: numba's.
        a: (n, k), or (k, n) where `by_column`.
        b: (k, m).
        out: (n, m), in and out.
        row: first row of the tile.
        column: its first column.
        rows: a constant, its rows.
        columns: a constant, its columns.
        by_column: a constant, whether the product is that of `a` transposed.
    """
    height, width, swapped = rows.literal_value, columns.literal_value, by_column.literal_value

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pairs = zip(signature.args[:3], arguments[:3], strict=True)
        left, right, sums = (_Matrix(context, builder, kind, value) for kind, value in pairs)
        lines = [builder.add(arguments[3], context.get_constant(types.intp, i)) for i in range(height)]
        places = [sums.pointer(line, arguments[4], width) for line in lines]
        totals = [cgutils.alloca_once_value(builder, builder.load(place, align=4)) for place in places]
        with cgutils.for_range(builder, left.rows if swapped else left.columns) as loop:
            term = builder.load(right.pointer(loop.index, arguments[4], width), align=4)
            for line, total in zip(lines, totals, strict=True):
                at = (loop.index, line) if swapped else (line, loop.index)
                factor = _spread(builder, builder.load(left.pointer(*at)), width)
                builder.store(_plus_product(builder, builder.load(total), factor, term), total)
        for place, total in zip(places, totals, strict=True):
            builder.store(builder.load(total), place, align=4)
        return context.get_dummy_value()

    return types.void(a, b, out, types.intp, types.intp, rows, columns, by_column), generate


@intrinsic(prefer_literal=True)
def add_listed_tile(
    typing_context: Any,
    factors: Any,
    listed: Any,
    count: Any,
    table: Any,
    row: Any,
    column: Any,
    columns: Any,
    back: Any,
) -> Any:
    """Add rows of a table to a row, each with a factor; or the row to them, where `back`.

    Args:
        typing_context: numba's.
        factors: float32 (most,).
        listed: int64 (most,), the rows of the table.
        count: how many there are.
        table: (rows, m), out where `back`.
        row: (1, m), out where not `back`.
        column: the first column to add.
        columns: a constant, the number of columns.
        back: a constant.
    """
    width, to_table = columns.literal_value, back.literal_value

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        factors, listed = (
            context.make_array(kind)(context, builder, value).data
            for kind, value in zip(signature.args[:2], arguments[:2], strict=True)
        )
        rows, one = (_Matrix(context, builder, signature.args[i], arguments[i]) for i in (3, 4))
        at = one.pointer(context.get_constant(types.intp, 0), arguments[5], width)
        total = cgutils.alloca_once_value(builder, builder.load(at, align=4))
        with cgutils.for_range(builder, arguments[2]) as loop:
            factor = _spread(builder, builder.load(builder.gep(factors, [loop.index])), width)
            place = rows.pointer(builder.load(builder.gep(listed, [loop.index])), arguments[5], width)
            there, here = builder.load(place, align=4), builder.load(total)
            if to_table:
                builder.store(_plus_product(builder, there, factor, here), place, align=4)
            else:
                builder.store(_plus_product(builder, here, factor, there), total)
        builder.store(builder.load(total), at, align=4)
        return context.get_dummy_value()

    return types.void(factors, listed, types.intp, table, row, types.intp, columns, back), generate


def _add(a, b, out):
    """Add a product, tile by tile."""
    n, m = out.shape
    column = 0
    while column < m:
        left, row = m - column, 0
        while row < n:
            if n - row >= 4:
                if left >= 16:
                    add_tile(a, b, out, row, column, 4, 16, by_column)
                elif left >= 8:
                    add_tile(a, b, out, row, column, 4, 8, by_column)
                elif left >= 4:
                    add_tile(a, b, out, row, column, 4, 4, by_column)
                else:
                    add_tile(a, b, out, row, column, 4, 1, by_column)
                row += 4
            else:
                if left >= 16:
                    add_tile(a, b, out, row, column, 1, 16, by_column)
                elif left >= 8:
                    add_tile(a, b, out, row, column, 1, 8, by_column)
                elif left >= 4:
                    add_tile(a, b, out, row, column, 1, 4, by_column)
                else:
                    add_tile(a, b, out, row, column, 1, 1, by_column)
                row += 1
        column += 16 if left >= 16 else 8 if left >= 8 else 4 if left >= 4 else 1


# Add a product, float32 (n, k) times (k, m), to `out`, (n, m), all in C order; or that of (k, n) transposed.
add_product = bind(_add, "by-row", {"by_column": False})
add_transposed_product = bind(_add, "by-column", {"by_column": True})


def _add_listed(factors, listed, count, table, row):
    """Do the work of `add_listed_rows`, tile by tile."""
    m, column = row.shape[1], 0
    while column < m:
        left = m - column
        if left >= 16:
            add_listed_tile(factors, listed, count, table, row, column, 16, to_table)
        elif left >= 8:
            add_listed_tile(factors, listed, count, table, row, column, 8, to_table)
        elif left >= 4:
            add_listed_tile(factors, listed, count, table, row, column, 4, to_table)
        else:
            add_listed_tile(factors, listed, count, table, row, column, 1, to_table)
        column += 16 if left >= 16 else 8 if left >= 8 else 4 if left >= 4 else 1


# Add the first `count` of the rows that are listed, each with its factor, to a row, (1, m); or the row to them.
add_listed_rows = bind(_add_listed, "to-row", {"to_table": False})
add_to_listed_rows = bind(_add_listed, "to-table", {"to_table": True})
