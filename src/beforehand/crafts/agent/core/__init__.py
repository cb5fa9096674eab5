"""The pure part of the agent: its scenes, the world, actions and commands in words, and what a session decides."""
