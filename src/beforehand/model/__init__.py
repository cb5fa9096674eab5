"""The words of Beforehand: frozen data, legal transitions, events, reasons and errors.

Everything here is plain data over the standard library and pydantic; every other room speaks in these words.
"""
