"""HTTP: the routes, the event streams, who may call, and the first page. It translates; the verbs live in `app`."""
