/** Every view is a URL: which screen a path shows, and links that do not load the page anew. */
import {
  type AnchorHTMLAttributes,
  createContext,
  type MouseEvent,
  type ReactNode,
  type Ref,
  useContext,
  useEffect,
  useMemo,
  useState,
} from "react";

export interface Place {
  path: string;
  query: URLSearchParams;
  hash: string;
}

function here(): Place {
  return { path: location.pathname, query: new URLSearchParams(location.search), hash: location.hash };
}

const PlaceContext = createContext<Place>({ path: "/", query: new URLSearchParams(), hash: "" });

/** Go to a view; `replace` where the way back should not lead here, as for filters. */
export function go(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  window.dispatchEvent(new Event("beforehand:place"));
}

/** Change parts of the query and keep the rest; an empty value takes a part away. */
export function goWith(changes: Record<string, string | null>, { replace = true } = {}): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") query.delete(name);
    else query.set(name, value);
  }
  go(`${location.pathname}${query.size > 0 ? `?${query}` : ""}`, { replace });
}

export function Places({ children }: { children: ReactNode }) {
  const [place, setPlace] = useState(here);
  useEffect(() => {
    const look = () => setPlace(here());
    window.addEventListener("popstate", look);
    window.addEventListener("beforehand:place", look);
    return () => {
      window.removeEventListener("popstate", look);
      window.removeEventListener("beforehand:place", look);
    };
  }, []);
  return <PlaceContext.Provider value={place}>{children}</PlaceContext.Provider>;
}

export function usePlace(): Place {
  return useContext(PlaceContext);
}

/** The named parts of a path such as `/plans/:id`, or null where it is another path. */
export function match(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split("/").filter(Boolean);
  const given = path.split("/").filter(Boolean);
  if (wanted.length !== given.length) return null;
  const named: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? "";
    if (part.startsWith(":")) named[part.slice(1)] = decoded(value);
    else if (part !== value) return null;
  }
  return named;
}

/** An address somebody typed may have a per cent sign that means nothing; it is then taken as it stands. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

type LinkProps = AnchorHTMLAttributes<HTMLAnchorElement> & { to: string; ref?: Ref<HTMLAnchorElement> };

export function Link({ to, onClick, children, ...rest }: LinkProps) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a href={to} onClick={follow} {...rest}>
      {children}
    </a>
  );
}

/** One part of the query, with a way to change it. */
export function useQuery(name: string): [string | null, (value: string | null) => void] {
  const { query } = usePlace();
  const value = query.get(name);
  return useMemo(() => [value, (next: string | null) => goWith({ [name]: next })], [name, value]);
}
