r"""Evaluates the LaTeX of the registry's formulas, so that what a page shows can be checked.

The subset is small on purpose: whole numbers, N, M, sums, products by juxtaposition, brackets,
\frac, \max, powers with a braced exponent, and \lceil \log_2 N \rceil. Anything else raises
FormulaError: a formula that cannot be checked must not look checked.
"""

from __future__ import annotations

import re
from fractions import Fraction

TOKEN = re.compile(r"\\[A-Za-z]+|\d+|[NM(){}^+,\-]")
BLANK = re.compile(r"(?:\s|\\,)+")
CEIL_LOG = re.compile(r"\\lceil\s+\\log_2\s+N\s+\\rceil")


class FormulaError(ValueError):
    """The formula is not in the subset; the message names the formula and the place."""


def evaluate(formula: str, n: int, m: Fraction | int = 1) -> Fraction:
    """Return the exact value of a formula for N = n and M = m.

    Raises:
        FormulaError: the formula holds anything outside the subset.
    """
    return _Parser(formula, n, Fraction(m)).whole()


class _Parser:
    """Recursive descent; every method consumes what it names and returns its value."""

    def __init__(self, formula: str, n: int, m: Fraction) -> None:
        self.formula = formula
        self.n = n
        self.m = m
        self.tokens = self._tokens()
        self.at = 0

    def _tokens(self) -> list[str]:
        tokens = []
        at = 0
        while at < len(self.formula):
            if blank := BLANK.match(self.formula, at):
                at = blank.end()
            elif logarithm := CEIL_LOG.match(self.formula, at):
                tokens.append("L")
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
        while re.fullmatch(r"[NML(]|\\frac|\\max", self._peek()):
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
        if token in ("N", "M", "L"):
            # The smallest L with 2 ** L >= N, found by doubling.
            ceil_log = next(k for k in range(self.n + 1) if 2**k >= self.n)
            return {"N": Fraction(self.n), "M": self.m, "L": Fraction(ceil_log)}[token]
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
