/** The frame round every screen. */
import { Component, type ReactNode, Suspense, useCallback, useEffect, useMemo, useState } from "react";
import type { Refusal } from "@/api/client";
import { useLive } from "@/live/hooks";
import { AlwaysContext } from "@/parts/Dialog";
import { Empty, Loading, Refused } from "@/parts/Told";
import { HoldAll } from "./HoldAll";
import { KeysHelp, useKeys } from "./keys";
import { LogAwayLine } from "./LogAwayLine";
import { Login } from "./Login";
import { Palette } from "./Palette";
import { Rail } from "./Rail";
import { Link, match, usePlace } from "./router";
import { SCREENS } from "./screens";
import { TopBar } from "./TopBar";
import { WhyNot } from "./WhyNot";

const ALWAYS = <HoldAll />;

export function App() {
  const { path } = usePlace();
  const [menu, setMenu] = useState(false);
  const [palette, setPalette] = useState(false);
  const [help, setHelp] = useState(false);
  const [login, setLogin] = useState(path === "/login");
  const does = useMemo(() => ({ palette: () => setPalette(true), help: () => setHelp(true) }), []);
  useKeys(does);
  const ask = useCallback(() => setLogin(true), []);
  useEffect(() => {
    window.addEventListener("beforehand:login", ask);
    return () => window.removeEventListener("beforehand:login", ask);
  }, [ask]);
  if (login) return <Login />;
  return (
    <AlwaysContext.Provider value={ALWAYS}>
      <div className="frame">
        <a className="skip-link button first" href="#screen">
          Go to the content
        </a>
        <Rail open={menu} onPick={() => setMenu(false)} />
        {menu && <button type="button" className="veil" aria-label="Close the menu" onClick={() => setMenu(false)} />}
        <div className="frame-main">
          <TopBar onMenu={() => setMenu(!menu)} onPalette={does.palette} />
          <LostLine />
          <LogAwayLine />
          <main id="screen" tabIndex={-1}>
            <Mishap key={path}>
              <Suspense fallback={<Loading what="the screen" />}>
                <ScreenAt path={path} />
              </Suspense>
            </Mishap>
          </main>
        </div>
        {palette && <Palette onClose={() => setPalette(false)} />}
        {help && <KeysHelp onClose={() => setHelp(false)} />}
        <WhyNot />
      </div>
    </AlwaysContext.Provider>
  );
}

function ScreenAt({ path }: { path: string }) {
  const ready = useLive((snapshot) => snapshot.ready);
  const refusal = useLive((snapshot) => snapshot.refusal);
  const found = useMemo(() => {
    for (const screen of SCREENS) {
      const named = match(screen.path, path);
      if (named !== null) return { screen, named };
    }
    return null;
  }, [path]);
  useEffect(() => {
    document.title = `${found?.screen.title ?? "Not found"} · Beforehand`;
  }, [found]);
  if (found === null) {
    return (
      <Empty title="There is no such view.">
        <Link to="/" className="button">
          Go to Now
        </Link>
      </Empty>
    );
  }
  if (!ready) return refusal === null ? <Loading what="the state" /> : <NotYet refusal={refusal} />;
  const View = found.screen.view;
  return <View named={found.named} />;
}

/** The state could not be read once yet; it is asked for again every second. */
function NotYet({ refusal }: { refusal: Refusal }) {
  return (
    <Refused refusal={refusal}>
      <p className="soft">Trying again by itself.</p>
    </Refused>
  );
}

function LostLine() {
  const up = useLive((snapshot) => snapshot.up);
  const ready = useLive((snapshot) => snapshot.ready);
  if (up || !ready) return null;
  return (
    <p className="lost-line" role="alert">
      The server cannot be reached. What you see is as it was; only Hold all is tried from here. Trying again by itself.
    </p>
  );
}

/** Vite and the browsers say so in their own words; `main.tsx` loads the page anew once the server answers. */
function isNotLoaded({ message }: Error): boolean {
  return /preload|dynamically imported|importing a module script/i.test(message);
}

/** A defect of one screen does not take the frame, or Hold all, away. */
class Mishap extends Component<{ children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    const title = isNotLoaded(this.state.error)
      ? "This screen could not be loaded from the server."
      : "This screen met a defect of the console.";
    return (
      <Empty title={title}>
        <pre className="soft">{this.state.error.message}</pre>
        <button type="button" className="button" onClick={() => location.reload()}>
          Load it again
        </button>
      </Empty>
    );
  }
}
