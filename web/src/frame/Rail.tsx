/** The left rail: the screens, each with its key. */
import { useList } from "@/live/hooks";
import { Icon } from "./Icon";
import { Link, usePlace } from "./router";
import { RAIL } from "./screens";
import { LogOut, ThemeButton } from "./TopBar";

export function Rail({ open, onPick }: { open: boolean; onPick: () => void }) {
  const { path } = usePlace();
  const waiting = useList("decisions").size;
  return (
    <nav className={open ? "rail open" : "rail"} aria-label="Screens">
      <Link to="/" className="name" onClick={onPick}>
        <img src="/mark.svg" alt="" width={24} height={24} /> Beforehand
      </Link>
      <ul>
        {RAIL.map(({ path: to, title, rail }) => (
          <li key={to}>
            <Link
              to={to}
              onClick={onPick}
              className="rail-link"
              aria-current={isHere(to, path) ? "page" : undefined}
              title={rail.says}
            >
              <Icon name={rail.icon} />
              <span className="spread">{title}</span>
              {to === "/inbox" && waiting > 0 && <span className="count">{waiting}</span>}
            </Link>
          </li>
        ))}
      </ul>
      <span className="spread" />
      <ThemeButton className="narrow-only" words />
      <LogOut className="narrow-only" />
      <Link
        to="/help"
        onClick={onPick}
        className="rail-link"
        aria-current={path.startsWith("/help") ? "page" : undefined}
      >
        <Icon name="help" /> <span className="spread">Help</span> <kbd>?</kbd>
      </Link>
    </nav>
  );
}

function isHere(to: string, path: string): boolean {
  return to === "/" ? path === "/" : path === to || path.startsWith(`${to}/`);
}
