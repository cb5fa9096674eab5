import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/parts.css";
import "./frame/frame.css";
import { CRAFTS } from "./crafts";
import { App } from "./frame/App";
import { Places } from "./frame/router";
import { startTheme } from "./frame/theme";
import { watchWho } from "./frame/who";
import { LiveContext } from "./live/hooks";
import { CORE_RULES } from "./live/rows";
import { LiveStore } from "./live/store";
import { watchPresses } from "./parts/presses";

// A screen that cannot be loaded: the server is lost, or a newer one has other files. Once it answers the page is loaded
// anew, at most once a minute; until then the frame stays, and says that it is lost.
window.addEventListener("vite:preloadError", () => {
  const last = Number(sessionStorage.getItem("beforehand-loaded-anew") ?? 0);
  if (Date.now() - last < 60_000) return;
  sessionStorage.setItem("beforehand-loaded-anew", String(Date.now()));
  const look = async () => {
    const answer = await fetch("/api/v1/health").catch(() => null);
    if (answer?.ok) location.reload();
    else setTimeout(() => void look(), 1_000);
  };
  void look();
});

startTheme();
watchWho();
watchPresses();
const rules = [...CORE_RULES, ...CRAFTS.flatMap((craft) => craft.rules ?? [])];
const store = new LiveStore(
  rules,
  CRAFTS.flatMap((craft) => craft.quiet ?? []),
);
void store.start();

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <LiveContext.Provider value={store}>
        <Places>
          <App />
        </Places>
      </LiveContext.Provider>
    </StrictMode>,
  );
}
