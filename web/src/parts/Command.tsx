/**
 * A command and what became of it: asked, acknowledged, done; or refused, and why.
 *
 * `acknowledged` is what the server answered. `done` is only shown when the state says so (`done` turned true); a command
 * without a visible end stays acknowledged. One that was not answered in time says so loudly, and that nobody knows yet
 * whether it was done; then the server is asked, and what it says takes the place of that.
 */
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { asRefusal, Late, Refusal } from "@/api/client";
import { useStore, useWhyNot } from "@/live/hooks";
import { Dialog } from "./Dialog";
import { Refused } from "./Told";

export type Stage = "ready" | "asked" | "acknowledged" | "done" | "refused" | "late";

export interface Commanded<T> {
  stage: Stage;
  refusal: Refusal | null;
  answer: T | undefined;
  give: (call: () => Promise<T>) => Promise<T | undefined>;
  forget: () => void;
}

/** `always`: it is tried even where nothing is heard from the server; nothing else is. */
export function useCommand<T = unknown>(done?: boolean, always = false): Commanded<T> {
  const store = useStore();
  const [stage, setStage] = useState<Stage>("ready");
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [answer, setAnswer] = useState<T>();
  const alive = useRef(true);
  /** Whose answer is waited for, and whose is shown: the number of a command, or 0. */
  const asking = useRef(0);
  const turn = useRef(0);
  useEffect(() => {
    alive.current = true;
    return () => {
      alive.current = false;
    };
  }, []);
  useEffect(() => {
    if (done && stage === "acknowledged") setStage("done");
  }, [done, stage]);
  const give = useCallback(
    async (call: () => Promise<T>) => {
      // Pressed again while it is under way: it is the same command.
      if (asking.current > 0) return undefined;
      turn.current += 1;
      const mine = turn.current;
      asking.current = mine;
      const isShown = () => alive.current && turn.current === mine;
      const took = (said: T) => {
        if (isShown()) {
          setRefusal(null);
          setAnswer(said);
          setStage("acknowledged");
        }
        return said;
      };
      const failed = (error: unknown) => {
        if (isShown()) {
          setRefusal(asRefusal(error));
          setStage(error instanceof Late ? "late" : "refused");
        }
        return undefined;
      };
      setStage("asked");
      setRefusal(null);
      try {
        if (!always && !store.current().up) throw new Refusal(0, { ...NOT_HEARD });
        return took(await call());
      } catch (error) {
        failed(error);
        if (!(error instanceof Late)) return undefined;
        // What is asked meanwhile is another command: this one only waits to hear what became of it.
        asking.current = 0;
        return await (error.settled() as Promise<T>).then(took, (said) => (isUnknown(said) ? undefined : failed(said)));
      } finally {
        if (asking.current === mine) asking.current = 0;
      }
    },
    [always, store],
  );
  const forget = useCallback(() => {
    turn.current += 1;
    setStage("ready");
    setRefusal(null);
    setAnswer(undefined);
  }, []);
  return { stage, refusal, answer, give, forget };
}

const NOT_HEARD = {
  detail: "The server cannot be reached at the moment, so nothing was sent.",
  code: "server.not_heard",
};

/** The server could not be asked: that nobody knows stays as it is said. */
const isUnknown = (said: unknown): boolean => said instanceof Refusal && said.code === "command.unknown";

const STAGES: Record<Stage, string> = {
  ready: "",
  asked: "Asked …",
  acknowledged: "Acknowledged",
  done: "Done",
  refused: "Refused",
  late: "Not acknowledged: not known whether it was done",
};

export function StageWord({ stage }: { stage: Stage }) {
  return (
    <span className={`stage stage-${stage}`} role="status">
      {STAGES[stage]}
    </span>
  );
}

const ReadFirst = createContext<(isRead: boolean) => void>(() => {});

/** For what a confirmation says: until it is read, there is no yes; nothing moves under a pointer that says it. */
export function useReadFirst(isRead: boolean): void {
  const tell = useContext(ReadFirst);
  useLayoutEffect(() => {
    tell(isRead);
    return () => tell(true);
  }, [isRead, tell]);
}

interface Props<T> {
  label: string;
  call: () => Promise<T>;
  /** Whether the state shows that it has been done. */
  done?: boolean;
  /** Why it cannot be done now; shown, and the button does nothing. */
  whyNot?: string | null;
  /** The role it takes. */
  needs?: "operator" | "admin" | "viewer";
  tone?: "first" | "danger" | "ghost" | "";
  small?: boolean;
  /** What is asked before it is sent. */
  confirm?: { title: string; says: ReactNode; yes: string };
  after?: (answer: T) => void;
  describe?: string;
}

export function CommandButton<T>({
  label,
  call,
  done,
  whyNot,
  needs = "operator",
  tone = "",
  small,
  confirm,
  after,
  describe,
}: Props<T>) {
  const notAllowed = useWhyNot(needs === "viewer" ? "operator" : needs);
  const command = useCommand<T>(done);
  const [asking, setAsking] = useState(false);
  const [isRead, setIsRead] = useState(true);
  const why = whyNot ?? (needs === "viewer" ? null : notAllowed);
  const id = useId();
  const send = async () => {
    setAsking(false);
    const answer = await command.give(call);
    if (answer !== undefined) after?.(answer);
  };
  return (
    <span className="command">
      <button
        type="button"
        className={`button ${tone} ${small ? "small" : ""}`}
        aria-disabled={why !== null || command.stage === "asked"}
        aria-describedby={why || describe ? id : undefined}
        title={why ?? (command.stage === "asked" ? undefined : describe)}
        onClick={(event) => {
          // The second press of a double one.
          if (why !== null || command.stage === "asked" || event.detail > 1) return;
          if (confirm) setAsking(true);
          else void send();
        }}
      >
        {label}
      </button>
      {(why || describe) && (
        <span id={id} className="hidden-text">
          {why ?? describe}
        </span>
      )}
      {command.stage !== "ready" && command.refusal === null && <StageWord stage={command.stage} />}
      {command.refusal && <Refused refusal={command.refusal} />}
      {asking && confirm && (
        <Dialog title={confirm.title} onClose={() => setAsking(false)}>
          <ReadFirst.Provider value={setIsRead}>
            <div>{confirm.says}</div>
          </ReadFirst.Provider>
          <div className="row">
            <button
              type="button"
              className="button first"
              aria-disabled={!isRead}
              title={isRead ? undefined : "What it would change is being read."}
              onClick={() => isRead && void send()}
            >
              {confirm.yes}
            </button>
            <button type="button" className="button ghost" onClick={() => setAsking(false)}>
              Back
            </button>
          </div>
        </Dialog>
      )}
    </span>
  );
}
