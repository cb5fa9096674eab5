/** One browser, one person: when somebody logs in or out, every other window loads itself anew as who it is now. */
import { WHO_CHANNEL } from "@/live/protocol";

const channel = new BroadcastChannel(WHO_CHANNEL);

/** The window that says so does not hear itself. */
export function tellWho(): void {
  channel.postMessage("changed");
}

export function watchWho(): void {
  channel.onmessage = () => location.reload();
}
