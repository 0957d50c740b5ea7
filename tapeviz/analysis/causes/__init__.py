"""Why a gradient is not there: a module for each kind of cause, in folders by subject.

:mod:`table` has their order.
"""
