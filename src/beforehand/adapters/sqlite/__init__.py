"""The log and the tables read from it, in one SQLite file.

`store.SqliteStore` is the Store port and `url` finds it by URL; the other modules are its parts: the file's layout
(`schema`), what older code wrote (`upgrade`), who may write (`lead`, `opening`), the one thread that commits (`writer`)
and the ones that read (`reader`).
"""
