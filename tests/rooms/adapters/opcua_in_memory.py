"""asyncua's server and client as far as cells need them, in memory: no port, and every answer can be changed."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any


def ua() -> Any:
    from asyncua import ua as found

    return found


class Node:
    """A node with its children by browse name."""

    def __init__(self, nodeid: Any = None, value: Any = None, method: Callable[..., Any] | None = None) -> None:
        self.nodeid, self.value, self.method = nodeid, value, method
        self.children: dict[str, Node] = {}
        self.watchers: list[Any] = []

    async def add_object(self, nodeid: Any, name: str) -> "Node":
        return self._add(name, Node(nodeid))

    async def add_variable(self, nodeid: Any, name: str, value: Any) -> "Node":
        return self._add(name, Node(nodeid, value))

    async def add_method(self, nodeid: Any, name: str, method: Any, takes: Any, gives: Any) -> "Node":
        node = self._add(name, Node(nodeid, method=method))
        for argument, given in (("0:InputArguments", takes), ("0:OutputArguments", gives)):
            node._add(argument, Node(value=SimpleNamespace(Value=given, VariantType=None)))
        return node

    def _add(self, name: str, node: "Node") -> "Node":
        self.children[name] = node
        return node

    async def write_value(self, value: Any) -> None:
        self.value = value
        for watcher in self.watchers:
            watcher.datachange_notification(self, value.Value, None)

    async def read_value(self) -> Any:
        return self.value.Value

    async def read_data_value(self, raise_on_bad_status: bool = True) -> Any:
        return SimpleNamespace(Value=self.value)

    async def read_node_class(self) -> Any:
        return ua().NodeClass.Method if self.method else ua().NodeClass.Variable

    async def get_child(self, path: Any) -> "Node":
        node = self
        for name in [path] if isinstance(path, str) else path:
            if name not in node.children:
                raise ua().uaerrors.BadNoMatch
            node = node.children[name]
        return node


class Network:
    """The servers by their addresses, and the clients that were made; stands in for the library itself."""

    def __init__(self) -> None:
        self.servers: dict[str, Server] = {}
        self.clients: list[Client] = []

    def Server(self, user_manager: Any = None) -> "Server":
        return Server(self)

    def Client(self, url: str, timeout: float) -> "Client":
        self.clients.append(Client(self, url))
        return self.clients[-1]


class Server:
    def __init__(self, network: Network) -> None:
        self._network = network
        self.namespaces = ["http://opcfoundation.org/UA/", "urn:another"]
        self.nodes = SimpleNamespace(objects=Node())
        self.url = ""
        self.now: Any = None
        self.build = SimpleNamespace(ProductName="PLC", ManufacturerName="", SoftwareVersion="7")

    async def init(self) -> None: ...

    def set_endpoint(self, url: str) -> None:
        self.url = url

    def set_server_name(self, name: str) -> None: ...

    async def register_namespace(self, name: str) -> int:
        self.namespaces.append(name)
        return len(self.namespaces) - 1

    async def start(self) -> None:
        self._network.servers[self.url] = self

    async def stop(self) -> None:
        self._network.servers.pop(self.url, None)

    def find(self, nodeid: Any) -> Node:
        return next(node for node in _all(self.nodes.objects) if node.nodeid == nodeid)


def _all(node: Node) -> list[Node]:
    return [node, *(inner for child in node.children.values() for inner in _all(child))]


class Client:
    def __init__(self, network: Network, url: str) -> None:
        self._network, self._url = network, url
        self.fails: Exception | None = None
        self.is_silent = False
        self.is_connected = False
        self.uaclient = SimpleNamespace(session=SimpleNamespace(call=self._call))

    async def _reached(self) -> Server:
        if self.is_silent:
            await asyncio.Event().wait()
        if self.fails is not None:
            raise self.fails
        if self._url not in self._network.servers:
            raise ConnectionRefusedError
        return self._network.servers[self._url]

    @property
    def nodes(self) -> Any:
        return self._network.servers[self._url].nodes

    def set_user(self, user: str) -> None:
        self.user = user

    def set_password(self, password: str) -> None:
        self.password = password

    async def connect(self) -> None:
        await self._reached()
        self.is_connected = True

    async def disconnect(self) -> None:
        self.is_connected = False

    def disconnect_socket(self) -> None: ...

    async def connect_and_get_server_endpoints(self) -> list[Any]:
        await self._reached()
        policy = "http://opcfoundation.org/UA/SecurityPolicy#None"
        mode = SimpleNamespace(name="None_")
        return [SimpleNamespace(SecurityLevel=0, SecurityPolicyUri=policy, SecurityMode=mode, ServerCertificate=None)]

    async def get_namespace_array(self) -> list[str]:
        return (await self._reached()).namespaces

    def get_node(self, nodeid: Any) -> Any:
        server = self._network.servers[self._url]
        return Node(value=SimpleNamespace(Value=SimpleNamespace(BuildInfo=server.build, CurrentTime=server.now)))

    async def read_values(self, nodes: list[Node]) -> list[Any]:
        await self._reached()
        return [node.value.Value for node in nodes]

    async def create_subscription(self, period_ms: int, handler: Any) -> Any:
        async def subscribe(nodes: list[Node]) -> None:
            for node in nodes:
                node.watchers.append(handler)

        return SimpleNamespace(subscribe_data_change=subscribe)

    async def _call(self, requests: list[Any]) -> list[Any]:
        server = await self._reached()
        [request] = requests
        method = server.find(request.MethodId).method
        assert method is not None
        given = await method(request.ObjectId, *request.InputArguments)
        if isinstance(given, ua().StatusCode):
            return [SimpleNamespace(StatusCode=given, OutputArguments=[])]
        return [SimpleNamespace(StatusCode=ua().StatusCode(0), OutputArguments=given)]
