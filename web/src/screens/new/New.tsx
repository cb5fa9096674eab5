/** New: one text field whose words are read before they are planned; templates, a plan file, and what crafts add. */
import { Suspense, useEffect } from "react";
import { CRAFTS } from "@/crafts";
import { usePlace } from "@/frame/router";
import { Loading } from "@/parts/Told";
import { PlanFile } from "./PlanFile";
import { Templates } from "./Templates";
import { Words } from "./Words";
import "./new.css";

const FORMS = CRAFTS.flatMap((craft) => (craft.newForm ? [{ name: craft.name, ...craft.newForm }] : []));

export default function New() {
  const { hash } = usePlace();
  useEffect(() => {
    if (hash) document.getElementById(hash.slice(1))?.scrollIntoView({ block: "start" });
  }, [hash]);
  return (
    <>
      <header className="page-head">
        <h1>New</h1>
      </header>
      <div className="new">
        <div className="stack">
          <Words />
          {FORMS.map(({ name, title, says, view: View }) => (
            <section className="card padded stack" key={name} id={name} aria-labelledby={`${name}-title`}>
              <h2 id={`${name}-title`}>{title}</h2>
              <p className="soft">{says}</p>
              <Suspense fallback={<Loading what="the form" />}>
                <View />
              </Suspense>
            </section>
          ))}
        </div>
        <div className="stack">
          <Templates />
          <PlanFile />
        </div>
      </div>
    </>
  );
}
