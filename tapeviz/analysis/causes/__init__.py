"""Why a gradient is not there: a module for each kind of cause, and :mod:`table`, their order."""
