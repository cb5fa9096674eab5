"""The first page: what needs a person, what runs and what happened, rendered here and kept live by one stream."""
