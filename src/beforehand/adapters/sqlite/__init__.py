"""The log and the tables read from it, in one SQLite file.

`store.SqliteStore` is the Store port; the other modules are its parts: the file's layout (`schema`), who may write
(`lead`), events as bytes (`encoding`), the one thread that commits (`writer`) and the ones that read (`reader`).
"""
