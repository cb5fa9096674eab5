/** Hold all: one press holds everything that moves. It says what it held, and that this is not an emergency stop. */
import { useEffect, useState } from "react";
import { type Schemas, write } from "@/api/client";
import { useLacksRole, useLive } from "@/live/hooks";
import { type Commanded, type Stage, StageWord, useCommand } from "@/parts/Command";
import { Dialog } from "@/parts/Dialog";
import { Id } from "@/parts/Ids";
import { Refused } from "@/parts/Told";
import { Ago } from "@/parts/time";
import { Icon } from "./Icon";
import { usePlace } from "./router";

type Held = Schemas["HoldAnswerShape"];

const TITLES: Record<Stage, string> = {
  ready: "Nothing is held",
  asked: "Hold all",
  acknowledged: "Hold all",
  done: "Nothing is held",
  refused: "Nothing was held by this",
  late: "Hold all was not acknowledged",
};

export function HoldAll() {
  const hold = useLive((snapshot) => snapshot.hold);
  // Not whether the server is heard: where nothing is heard any more, holding is tried all the same.
  const whyNot = useLacksRole("operator");
  const held = hold !== null;
  const command = useCommand<Held>(held, true);
  const [open, setOpen] = useState(false);
  const { path } = usePlace();
  // Whoever follows one of its links has read it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the place changes
  useEffect(() => setOpen(false), [path]);
  const press = () => {
    setOpen(true);
    if (!held && whyNot === null) void command.give(() => write("post", "/api/v1/hold"));
  };
  const close = () => {
    setOpen(false);
    if (command.stage !== "asked") command.forget();
  };
  const title = TITLES[command.refusal?.status === 0 ? "late" : command.stage];
  return (
    <>
      <button
        type="button"
        className={held ? "hold-all held" : "hold-all"}
        onClick={press}
        title="Holds everything that moves. This is not an emergency stop."
      >
        <Icon name={held ? "play" : "hold"} size={16} />
        {held ? "Held" : "Hold all"}
      </button>
      {open && (
        <Dialog alone title={held ? "Everything is held" : title} onClose={close}>
          {whyNot && <p className="tone-wait">{whyNot}</p>}
          {(held || command.stage !== "done") && <StageWord stage={command.stage} />}
          {command.refusal && (
            <Refused refusal={command.refusal}>
              <button
                type="button"
                className="button first"
                onClick={() => void command.give(() => write("post", "/api/v1/hold"))}
              >
                Hold all again
              </button>
            </Refused>
          )}
          {hold && (
            <p className="soft">
              By {hold.by}, <Ago at={hold.since} />
            </p>
          )}
          {hold?.notRecorded && <p className="tone-wait">This is not in the log yet: the log cannot be written.</p>}
          <HeldThings answer={isOf(hold, command) ? command.answer : undefined} hold={hold} />
          <p className="soft small">
            This is not an emergency stop: a machine that cannot stop in the middle ends its step first.
          </p>
          <div className="row">
            {held && whyNot === null && <Clear close={close} />}
            <button type="button" className="button ghost" onClick={close}>
              Close
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

/** What was answered tells of this hold, and not of one that somebody has cleared since. */
function isOf(hold: Schemas["HoldShape"] | null, { stage, answer }: Commanded<Held>): boolean {
  return hold === null ? stage === "acknowledged" : answer?.since === hold.since;
}

function HeldThings({ answer, hold }: { answer: Held | undefined; hold: Schemas["HoldShape"] | null }) {
  const what = hold?.what ?? answer?.what ?? [];
  const couldNot = answer?.couldNot ?? [];
  return (
    <>
      <ul className="stack">
        {what.map((thing, index) => (
          <HeldThing key={index} thing={thing} />
        ))}
      </ul>
      {couldNot.length > 0 && (
        <ul className="stack tone-bad" role="alert">
          {couldNot.map((thing, index) => (
            <HeldThing key={index} thing={thing} />
          ))}
        </ul>
      )}
    </>
  );
}

/** The thing, and what becomes of it, or why it could not be held, in the server's words. */
function HeldThing({ thing }: { thing: Schemas["HeldThingShape"] & { says?: string } }) {
  return (
    <li>
      {thing.kind}{" "}
      {thing.runId ? <Id field="runId" id={thing.runId} /> : thing.scene && <Id field="sceneId" id={thing.scene} />}
      {": "}
      {thing.says ?? thing.what}
    </li>
  );
}

function Clear({ close }: { close: () => void }) {
  const command = useCommand<Held>();
  const clear = async () => {
    if ((await command.give(() => write("post", "/api/v1/clear"))) !== undefined) close();
  };
  return (
    <>
      <button type="button" className="button first" onClick={() => void clear()}>
        Clear: let everything go on
      </button>
      {command.refusal && <Refused refusal={command.refusal} />}
    </>
  );
}
