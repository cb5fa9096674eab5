import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { Refusal } from "@/api/client";
import { LiveContext, useFetched } from "./hooks";
import type { LiveStore, Snapshot } from "./store";

afterEach(cleanup);

/** A store that is told whether the server is heard. */
class Heard {
  private readonly watchers = new Set<() => void>();
  private snapshot = { up: false, version: "" } as Snapshot;
  readonly current = () => this.snapshot;
  readonly subscribe = (watcher: () => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };
  readonly onEvent = () => () => undefined;

  say(up: boolean) {
    this.snapshot = { ...this.snapshot, up, version: "1" };
    for (const watcher of this.watchers) watcher();
  }
}

function Shown({ read, follows }: { read: () => Promise<string>; follows: boolean }) {
  const { value, refusal } = useFetched("thing", read, follows ? () => false : undefined);
  return <p>{refusal?.message ?? value}</p>;
}

async function shown(read: () => Promise<string>, follows: boolean): Promise<Heard> {
  const store = new Heard();
  const screen = <Shown read={read} follows={follows} />;
  await act(async () => {
    render(<LiveContext.Provider value={store as unknown as LiveStore}>{screen}</LiveContext.Provider>);
  });
  await act(async () => store.say(true));
  return store;
}

function counted(): () => Promise<string> {
  let reads = 0;
  return async () => {
    reads += 1;
    return `reading ${reads}`;
  };
}

describe("what is fetched", () => {
  it("is asked for again when the server is back, where it was refused meanwhile", async () => {
    let gone = true;
    const read = async () => {
      if (gone) throw new Refusal(0, { detail: "The server cannot be reached." });
      return "everything";
    };
    const store = await shown(read, false);
    expect(screen.getByText("The server cannot be reached.")).toBeTruthy();
    await act(async () => store.say(false));
    gone = false;
    await act(async () => store.say(true));
    expect(screen.getByText("everything")).toBeTruthy();
  });

  it("is read anew after the server was lost where events change it, and once where nothing was lost", async () => {
    const store = await shown(counted(), true);
    expect(screen.getByText("reading 1")).toBeTruthy();
    await act(async () => store.say(false));
    await act(async () => store.say(true));
    expect(screen.getByText("reading 2")).toBeTruthy();
  });

  it("stays as it was read where no event changes it", async () => {
    const store = await shown(counted(), false);
    await act(async () => store.say(false));
    await act(async () => store.say(true));
    expect(screen.getByText("reading 1")).toBeTruthy();
  });
});
