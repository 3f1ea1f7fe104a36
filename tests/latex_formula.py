r"""Evaluates the LaTeX of the registry's formulas, so that what a page shows can be checked.

The subset is small on purpose: whole numbers, N, M, symbols of parameters, sums, products by
juxtaposition, brackets, \frac, \max, powers with a braced exponent, \lceil \log_2 N \rceil,
\log_2 N where N is a power of two, P (the largest power of two that is at most N), \log_2 P and F
(0 if N = P, else 1). Anything else raises FormulaError: a formula that cannot be checked must not
look checked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

TOKEN = re.compile(r"\\[A-Za-z]+|\d+|[A-Za-z(){}^+,\-]")
BLANK = re.compile(r"(?:\s|\\,)+")
CEIL_LOG = re.compile(r"\\lceil\s+\\log_2\s+N\s+\\rceil")
LOG = re.compile(r"\\log_2\s+([NP])")


class FormulaError(ValueError):
    """The formula is not in the subset; the message names the formula and the place."""


def evaluate(
    formula: str, n: int, m: Fraction | int = 1, symbols: Mapping[str, int] | None = None
) -> Fraction:
    """Return the exact value of a formula for N = n, M = m and the symbols of parameters.

    Raises:
        FormulaError: the formula holds anything outside the subset.
    """
    power = max(2**k for k in range(n + 1) if 2**k <= n)
    log = next(k for k in range(n + 1) if 2**k == power)
    values = {
        "N": Fraction(n),
        "M": Fraction(m),
        "P": Fraction(power),
        "F": Fraction(int(power != n)),
        # The smallest L with 2 ** L >= N, found by doubling.
        "ceil_log_N": Fraction(next(k for k in range(n + 1) if 2**k >= n)),
        "log_P": Fraction(log),
        **({"log_N": Fraction(log)} if power == n else {}),
        **{name: Fraction(value) for name, value in (symbols or {}).items()},
    }
    return _Parser(formula, values).whole()


class _Parser:
    """Recursive descent; every method consumes what it names and returns its value."""

    def __init__(self, formula: str, values: Mapping[str, Fraction]) -> None:
        self.formula = formula
        self.values = values
        self.tokens = self._tokens()
        self.at = 0

    def _tokens(self) -> list[str]:
        tokens = []
        at = 0
        while at < len(self.formula):
            if blank := BLANK.match(self.formula, at):
                at = blank.end()
            elif logarithm := CEIL_LOG.match(self.formula, at):
                tokens.append("ceil_log_N")
                at = logarithm.end()
            elif logarithm := LOG.match(self.formula, at):
                tokens.append(f"log_{logarithm[1]}")
                at = logarithm.end()
            elif token := TOKEN.match(self.formula, at):
                tokens.append(token[0])
                at = token.end()
            else:
                raise FormulaError(f"{self.formula!r}: cannot read {self.formula[at:]!r}")
        return tokens

    def _error(self, wanted: str) -> FormulaError:
        rest = " ".join(self.tokens[self.at :]) or "the end"
        return FormulaError(f"{self.formula!r}: {wanted} expected before {rest}")

    def _peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _take(self, token: str) -> None:
        if self._peek() != token:
            raise self._error(token)
        self.at += 1

    def whole(self) -> Fraction:
        value = self.sum()
        if self._peek():
            raise self._error("the end")
        return value

    def sum(self) -> Fraction:
        value = self.product()
        while self._peek() in ("+", "-"):
            sign = 1 if self._peek() == "+" else -1
            self.at += 1
            value += sign * self.product()
        return value

    def product(self) -> Fraction:
        value = self.power()
        # "N 2" would be set as N2 and read as something else: a number may only come first.
        while self._peek() in self.values or self._peek() in ("(", r"\frac", r"\max"):
            value *= self.power()
        return value

    def power(self) -> Fraction:
        base = self.factor()
        if self._peek() != "^":
            return base
        self.at += 1
        exponent = self.braced()
        if exponent.denominator != 1:
            raise self._error("a whole exponent")
        return base ** int(exponent)

    def factor(self) -> Fraction:
        token = self._peek()
        self.at += 1
        if token.isdigit():
            return Fraction(int(token))
        if token in self.values:
            return self.values[token]
        if token == "(":
            value = self.sum()
            self._take(")")
            return value
        if token == r"\frac":
            above, below = self.braced(), self.braced()
            if below == 0:
                raise self._error("a denominator that is not zero")
            return above / below
        if token == r"\max":
            self._take("(")
            values = [self.sum()]
            while self._peek() == ",":
                self.at += 1
                values.append(self.sum())
            self._take(")")
            return max(values)
        self.at -= 1
        raise self._error("a number, N, M or a bracket")

    def braced(self) -> Fraction:
        self._take("{")
        value = self.sum()
        self._take("}")
        return value
