"""How far the calls of a run are, as their workers say with their last signs of life."""

from temporalio.client import Client


async def progress_of(client: Client, workflow_id: str) -> list[tuple[str, float]]:
    """The steps that report progress, each with its percent; RPCError where the server does not answer."""
    described = await client.get_workflow_handle(workflow_id).describe()
    found: list[tuple[str, float]] = []
    for call in described.raw_description.pending_activities:
        told = await client.data_converter.decode(call.heartbeat_details.payloads)
        if len(told) == 2:
            found.append((str(told[0]), float(told[1])))
    return found
