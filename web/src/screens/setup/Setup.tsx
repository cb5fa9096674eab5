/** Setting up: is everything well, which tools there are, who may come in, which settings hold and why. */
import { Link, useQuery } from "@/frame/router";
import { inView } from "@/parts/inView";
import { Doctor } from "./Doctor";
import { Faults } from "./Faults";
import { Plugins } from "./Plugins";
import { Settings } from "./Settings";
import { Tokens } from "./Tokens";
import { Tools } from "./Tools";
import "./setup.css";

const TABS = {
  doctor: { title: "Doctor", View: Doctor },
  tools: { title: "Tools", View: Tools },
  plugins: { title: "Plug-ins and MCP servers", View: Plugins },
  tokens: { title: "Tokens", View: Tokens },
  settings: { title: "Settings", View: Settings },
  faults: { title: "Simulated faults", View: Faults },
} as const;

type Tab = keyof typeof TABS;

export default function Setup() {
  const [what] = useQuery("what");
  const tab: Tab = what !== null && Object.hasOwn(TABS, what) ? (what as Tab) : "doctor";
  const { View } = TABS[tab];
  return (
    <>
      <header className="page-head">
        <h1>Setting up</h1>
        <span className="spread" />
        <Link to="/help/install" className="button ghost">
          Help
        </Link>
      </header>
      <nav className="tabs" aria-label="Parts of setting up">
        {Object.entries(TABS).map(([name, { title }]) => (
          <Link
            key={name}
            to={`/setup?what=${name}`}
            className="tab row"
            ref={name === tab ? inView : undefined}
            aria-current={name === tab ? "page" : undefined}
          >
            {title}
          </Link>
        ))}
      </nav>
      <div className="setup-body">
        <View />
      </div>
    </>
  );
}
