"""The log and the tables read from it, in a Postgres database.

`store.PostgresStore` is the Store port and `url` finds it by URL; the other modules are its parts: where the database
is (`address`), the tables (`schema`, `tables`), what older code wrote (`upgrade`), who may write (`lead`), the one task
that commits (`writer`), the connections that read (`reader`) and those who are told of commits elsewhere (`follower`).
"""
