/** The SharedWorker: one connection for every window of this browser. */
import { Connection } from "./connection";
import { type FromLive, type ToLive, WHO_CHANNEL } from "./protocol";

const connection = new Connection();
new BroadcastChannel(WHO_CHANNEL).onmessage = () => connection.anew();
const scope = self as unknown as { onconnect: (event: MessageEvent) => void };

scope.onconnect = (event) => {
  const port = event.ports[0];
  if (port === undefined) return;
  const tell = (message: FromLive) => port.postMessage(message);
  port.onmessage = (message: MessageEvent<ToLive>) => connection.take(port, tell, message.data);
};
