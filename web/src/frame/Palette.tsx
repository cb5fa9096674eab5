/** Ctrl-K: every screen, thing and command by the names the command line has. */
import { useMemo, useState } from "react";
import { CRAFTS } from "@/crafts";
import { useLive } from "@/live/hooks";
import type { Snapshot } from "@/live/store";
import { Dialog } from "@/parts/Dialog";
import { go } from "./router";
import { RAIL } from "./screens";

interface Entry {
  name: string;
  says: string;
  to: string;
}

function entries(snapshot: Snapshot): Entry[] {
  const screens = RAIL.map((screen) => ({ name: screen.title, says: screen.rail.says, to: screen.path }));
  const fixed = [
    { name: "plan", says: "Say what you want", to: "/new" },
    { name: "template list", says: "Templates with a form", to: "/new#templates" },
    { name: "inbox list", says: "Every decision", to: "/inbox" },
    { name: "scene list", says: "Scenes and what is live", to: "/scenes" },
    { name: "runs list", says: "Every run", to: "/history?what=runs" },
    { name: "audit", says: "Every answered decision: who, when, and what was seen", to: "/history?what=decisions" },
    { name: "check", says: "Is this plan file valid?", to: "/new#file" },
    { name: "submit", says: "Hand a plan file in for review", to: "/new#file" },
    { name: "doctor", says: "Is everything well?", to: "/setup?what=doctor" },
    { name: "config show", says: "Settings and where each comes from", to: "/setup?what=settings" },
    { name: "plugins", says: "Plug-ins and MCP servers", to: "/setup?what=plugins" },
    { name: "token list", says: "Who may come in", to: "/setup?what=tokens" },
  ];
  const decisions = [...(snapshot.lists.decisions?.values() ?? [])].map((row) => ({
    name: `inbox show ${row.id}`,
    says: String(row.title),
    to: `/inbox/${encodeURIComponent(String(row.id))}`,
  }));
  const runs = [...(snapshot.lists.runs?.values() ?? [])].map((row) => ({
    name: `runs show ${row.runId}`,
    says: String(row.name ?? row.status),
    to: `/runs/${encodeURIComponent(String(row.runId))}`,
  }));
  const scenes = [...(snapshot.lists.scenes?.values() ?? [])].map((row) => ({
    name: `scene show ${row.name}`,
    says: String(row.kind),
    to: `/scenes/${encodeURIComponent(String(row.name))}`,
  }));
  return [
    ...screens,
    ...fixed,
    ...decisions,
    ...runs,
    ...scenes,
    ...CRAFTS.flatMap((craft) => craft.palette?.(snapshot) ?? []),
  ];
}

function found(all: readonly Entry[], words: string): Entry[] {
  const parts = words.toLowerCase().split(/\s+/).filter(Boolean);
  return all
    .filter((entry) => parts.every((part) => `${entry.name} ${entry.says}`.toLowerCase().includes(part)))
    .slice(0, 12);
}

export function Palette({ onClose }: { onClose: () => void }) {
  const snapshot = useLive((current) => current);
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const all = useMemo(() => entries(snapshot), [snapshot]);
  const shown = found(all, words);
  const pick = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    onClose();
    go(entry.to);
  };
  return (
    <Dialog title="Find or do" onClose={onClose} wide>
      <input
        className="input"
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={shown[at] ? `palette-${at}` : undefined}
        aria-label="A screen, a thing or a command"
        placeholder="inbox, doctor, a command, a name …"
        autoFocus
        value={words}
        onChange={(event) => {
          setWords(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setAt((before) => Math.min(before + 1, shown.length - 1));
          else if (event.key === "ArrowUp") setAt((before) => Math.max(before - 1, 0));
          else if (event.key === "Enter") pick(shown[at]);
          else return;
          event.preventDefault();
        }}
      />
      <div id="palette-list" role="listbox" aria-label="Found" className="palette">
        {shown.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above takes the keys
          <div
            key={`${entry.name} ${entry.to}`}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onClick={() => pick(entry)}
            onPointerMove={() => setAt(index)}
          >
            <strong>{entry.name}</strong> <span className="soft">{entry.says}</span>
          </div>
        ))}
      </div>
      {shown.length === 0 && (
        <p className="soft">Nothing is called that here. The command line has more: beforehand --help</p>
      )}
    </Dialog>
  );
}
