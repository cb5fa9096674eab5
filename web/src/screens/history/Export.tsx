/** Everything that passes the filters as a file, up to a told number. */
import { useState } from "react";
import { asRefusal, type Refusal } from "@/api/client";
import { Refused } from "@/parts/Told";
import { download } from "./files";

interface Props<T> {
  name: string;
  most: number;
  make: (signal: AbortSignal) => Promise<readonly T[]>;
  csv: (rows: readonly T[]) => string;
  json: (rows: readonly T[]) => unknown;
}

export function Export<T>({ name, most, make, csv, json }: Props<T>) {
  const [busy, setBusy] = useState(false);
  const [told, setTold] = useState("");
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const save = async (type: "csv" | "json") => {
    setBusy(true);
    setRefusal(null);
    try {
      const rows = await make(new AbortController().signal);
      download(name, type, type === "csv" ? csv(rows) : JSON.stringify(json(rows), null, 2));
      setTold(`Saved: ${rows.length}${rows.length >= most ? `, the newest ${most} at most` : ""}`);
    } catch (error) {
      setRefusal(asRefusal(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <span className="row">
      <span className="soft small" role="status">
        {busy ? "Reading …" : told}
      </span>
      <button
        type="button"
        className="button small"
        aria-disabled={busy}
        title={`What is filtered, up to ${most}`}
        onClick={() => !busy && void save("csv")}
      >
        Save as CSV
      </button>
      <button
        type="button"
        className="button small"
        aria-disabled={busy}
        title={`What is filtered, up to ${most}`}
        onClick={() => !busy && void save("json")}
      >
        Save as JSON
      </button>
      {refusal && <Refused refusal={refusal} />}
    </span>
  );
}
