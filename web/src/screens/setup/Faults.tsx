/** Faults for simulated machines, to see what happens before it happens for real. Crafts bring the forms. */
import { Suspense } from "react";
import { CRAFTS } from "@/crafts";
import { Link } from "@/frame/router";
import "./setup.css";
import { Empty, Loading } from "@/parts/Told";

export function Faults() {
  const brought = CRAFTS.flatMap((craft) => (craft.faults ? [{ name: craft.name, View: craft.faults }] : []));
  return (
    <section className="stack" aria-label="Simulated faults">
      <p className="soft">Only simulated machines take faults; real ones refuse them.</p>
      <Suspense fallback={<Loading what="the machines" />}>
        <div className="stack setup-faults">
          {brought.map(({ name, View }) => (
            <View key={name} />
          ))}
          <Empty title="No simulated machine is live.">
            <Link to="/scenes" className="button">
              Make a scene live
            </Link>
          </Empty>
        </div>
      </Suspense>
    </section>
  );
}
