/** The details of one worksite, and setting what lies there: first whom that affects, then a question. */
import { useState } from "react";
import type { Schemas } from "@/api/client";
import { Drawer } from "@/frame/Drawer";
import { useWhyNot } from "@/live/hooks";
import { StageWord, useCommand } from "@/parts/Command";
import { Dialog } from "@/parts/Dialog";
import { About, Id } from "@/parts/Ids";
import { Empty, Refused } from "@/parts/Told";
import { Ago } from "@/parts/time";
import { setOccupancy, tryOccupancy } from "./calls";
import { isService, lies, siteNode, type Worksite } from "./model";
import { OccupancyMark, OccupancyWord, wordOf } from "./Occupancy";
import type { Floor } from "./useFloor";

type Trial = Schemas["WorksiteTrialShape"];

export function WorksiteDrawer({ floor, id, onClose }: { floor: Floor; id: string; onClose: () => void }) {
  const site = floor.sites.find((one) => one.worksiteId === id);
  if (site === undefined)
    return (
      <Drawer title={id} onClose={onClose}>
        <Empty title={`There is no worksite ${id} in ${floor.scene}.`} />
      </Drawer>
    );
  return (
    <Drawer title={id} onClose={onClose}>
      <p>
        <OccupancyWord occupancy={site.occupancy ?? "unknown"} under={lies(site)} />
      </p>
      <SiteFacts floor={floor} site={site} />
      <SetOccupancy key={id} site={site} />
    </Drawer>
  );
}

function SiteFacts({ floor, site }: { floor: Floor; site: Worksite }) {
  const by = site.reservedBy;
  const robotId = by ? floor.tasks.get(by)?.robotId : undefined;
  const isRobot = by ? floor.robots.some((robot) => robot.robotId === by) : false;
  return (
    <dl className="floor-facts">
      <dt>Kind</dt>
      <dd>
        {site.worksiteType}
        {site.groupId && <span className="soft"> of {site.groupId}</span>}
      </dd>
      <dt>Lies there</dt>
      <dd>{{ filled: "a pallet", empty: "nothing" }[lies(site)] ?? "not known"}</dd>
      {site.sinceTsMs ? (
        <>
          <dt>Since</dt>
          <dd>
            <Ago at={site.sinceTsMs} />
          </dd>
        </>
      ) : null}
      <dt>Reserved</dt>
      <dd>
        {by ? <Id field={isRobot ? "robotId" : "taskId"} id={by} about={site} /> : "no"}
        {robotId && (
          <>
            {" for "}
            <Id field="robotId" id={robotId} about={site} />
          </>
        )}
      </dd>
      <dt>Node</dt>
      <dd>
        <code>{siteNode(site)}</code>
      </dd>
      {site.failures ? (
        <>
          <dt>Failures</dt>
          <dd>{site.failures} in a row</dd>
        </>
      ) : null}
    </dl>
  );
}

function SetOccupancy({ site }: { site: Worksite }) {
  const notAllowed = useWhyNot();
  const [wanted, setWanted] = useState<string | null>(null);
  const trial = useCommand<Trial>();
  const command = useCommand(wanted !== null && lies(site) === wanted);
  const [asking, setAsking] = useState(false);
  const ask = async (value: string) => {
    // What is told first belongs to what was pressed first.
    if (trial.stage === "asked") return;
    command.forget();
    setWanted(value);
    if ((await trial.give(() => tryOccupancy(site.scene, site.worksiteId, value))) !== undefined) setAsking(true);
  };
  const set = () => {
    setAsking(false);
    if (wanted !== null) void command.give(() => setOccupancy(site.scene, site.worksiteId, wanted));
  };
  const choices = isService(site) ? ["empty", "unknown"] : ["empty", "filled", "unknown"];
  return (
    <section className="stack" aria-labelledby="set-occupancy">
      <h3 id="set-occupancy">Set what lies there</h3>
      <div className="row">
        {choices.map((value) => (
          <button
            key={value}
            type="button"
            className="button"
            aria-pressed={lies(site) === value}
            aria-disabled={notAllowed !== null}
            title={notAllowed ?? undefined}
            onClick={() => notAllowed === null && void ask(value)}
          >
            <OccupancyMark occupancy={value} /> {wordOf(value)}
          </button>
        ))}
      </div>
      {notAllowed && <p className="soft small">{notAllowed}</p>}
      {trial.refusal && <Refused refusal={trial.refusal} />}
      {command.stage !== "ready" && command.refusal === null && <StageWord stage={command.stage} />}
      {command.refusal && <Refused refusal={command.refusal} />}
      {asking && wanted && trial.answer && (
        <Dialog title={`Set ${site.worksiteId} to ${wanted}?`} onClose={() => setAsking(false)}>
          <Affected trial={trial.answer} />
          <div className="row">
            <button type="button" className="button first" onClick={set}>
              Set to {wanted}
            </button>
            <button type="button" className="button ghost" onClick={() => setAsking(false)}>
              Back
            </button>
          </div>
        </Dialog>
      )}
    </section>
  );
}

function Affected({ trial }: { trial: Trial }) {
  return (
    <div className="stack floor-affected">
      <h3>Whom this affects</h3>
      {trial.effects.length === 0 && <p>No robot and no task.</p>}
      <ul className="stack">
        {trial.effects.map((effect, index) => (
          <li key={index}>
            <p>{effect.says}</p>
            <About about={{ ...effect.about, scene: trial.worksite.scene }} />
          </li>
        ))}
      </ul>
      {trial.streams.length > 0 && (
        <p className="row soft">
          Used by{" "}
          {trial.streams.map((id) => (
            <Id key={id} field="streamId" id={id} about={trial.worksite} />
          ))}
        </p>
      )}
    </div>
  );
}
