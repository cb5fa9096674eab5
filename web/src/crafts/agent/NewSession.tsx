/** A new session: which home, what for, and who steers. */
import { type FormEvent, useState } from "react";
import { write } from "@/api/client";
import { go, Link } from "@/frame/router";
import { useList, useWhyNot } from "@/live/hooks";
import { StageWord, useCommand } from "@/parts/Command";
import { Empty, Refused } from "@/parts/Told";

interface Begun {
  sessionId: string;
}

export default function NewSession() {
  const scenes = [...useList<{ name: string; kind: string; active: boolean }>("scenes").values()].filter(
    (scene) => scene.kind === "home" && scene.active,
  );
  const [scene, setScene] = useState<string | null>(null);
  const [goal, setGoal] = useState("");
  const [steered, setSteered] = useState("person");
  const [model, setModel] = useState("");
  const whyNot = useWhyNot();
  const command = useCommand<Begun>();
  if (scenes.length === 0)
    return (
      <Empty title="No home is live.">
        <Link to="/scenes" className="button">
          Make a home live
        </Link>
      </Empty>
    );
  const begin = async (event: FormEvent) => {
    event.preventDefault();
    if (whyNot !== null) return;
    const body = {
      scene: scene ?? scenes[0]?.name,
      ...(goal ? { goal } : {}),
      ...(steered === "model" ? { model } : {}),
      ...(steered === "policy" ? { policy: true } : {}),
    };
    const begun = await command.give(() => write("post", "/api/v1/sessions", { body }) as Promise<Begun>);
    if (begun !== undefined) go(`/sessions/${encodeURIComponent(begun.sessionId)}`);
  };
  return (
    <form className="stack" onSubmit={(event) => void begin(event)}>
      <div className="field">
        <label htmlFor="session-scene">Home</label>
        <select
          id="session-scene"
          className="select"
          value={scene ?? scenes[0]?.name}
          onChange={(event) => setScene(event.target.value)}
        >
          {scenes.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </div>
      <div className="field">
        <label htmlFor="session-goal">
          Goal {steered === "person" && <span className="soft small">optional</span>}
        </label>
        <input
          id="session-goal"
          className="input"
          required={steered !== "person"}
          placeholder="sit on the bed"
          value={goal}
          onChange={(event) => setGoal(event.target.value)}
        />
      </div>
      <div className="field">
        <label htmlFor="session-steered">Steered by</label>
        <select
          id="session-steered"
          className="select"
          value={steered}
          onChange={(event) => setSteered(event.target.value)}
        >
          <option value="person">me, command by command</option>
          <option value="policy">the policy, without a model</option>
          <option value="model">a model</option>
        </select>
      </div>
      {steered === "model" && (
        <div className="field">
          <label htmlFor="session-model">Model</label>
          <input
            id="session-model"
            className="input"
            required
            placeholder="openai:gpt-5"
            value={model}
            onChange={(event) => setModel(event.target.value)}
          />
        </div>
      )}
      <div className="row">
        <button type="submit" className="button first" aria-disabled={whyNot !== null} title={whyNot ?? undefined}>
          Begin the session
        </button>
        {command.stage === "asked" && <StageWord stage="asked" />}
      </div>
      {whyNot && <p className="soft small">{whyNot}</p>}
      {command.refusal && <Refused refusal={command.refusal} />}
    </form>
  );
}
