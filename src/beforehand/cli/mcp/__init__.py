"""`beforehand mcp`: Beforehand as a server of the Model Context Protocol, for programs that look, plan and hand in."""
