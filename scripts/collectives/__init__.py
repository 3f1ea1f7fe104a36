"""Collective communication as data: schedules, their proof and their cost.

The package is pure: it reads no file, opens no socket and knows neither MkDocs nor torch.
Arrows go one way: ``algorithms`` build a :class:`~collectives.schedule.Schedule`,
:func:`~collectives.prove.prove` turns it into a :class:`~collectives.prove.ProvedSchedule` or
refuses it, :mod:`~collectives.cost` counts it and :mod:`~collectives.serialize` writes it.
"""
