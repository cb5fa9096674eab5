/** Logging in with a token, where the server asks for one. */
import { type FormEvent, useState } from "react";
import { asRefusal, Refusal, reach } from "@/api/client";
import { Refused } from "@/parts/Told";
import { tellWho } from "./who";

export function Login() {
  const [token, setToken] = useState("");
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [busy, setBusy] = useState(false);
  const enter = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setRefusal(null);
    try {
      await logIn(token);
      tellWho();
      if (location.pathname === "/login") location.assign("/");
      else location.reload();
    } catch (error) {
      setRefusal(asRefusal(error));
      setBusy(false);
    }
  };
  return (
    <main className="login">
      <form className="card padded stack" onSubmit={(event) => void enter(event)}>
        <h1 className="row">
          <img src="/mark.svg" alt="" width={28} height={28} /> Beforehand
        </h1>
        <p className="soft">
          This server asks for a token. <code>beforehand token add</code> makes one.
        </p>
        <div className="field">
          <label htmlFor="token">Token</label>
          <input
            id="token"
            className="input"
            type="password"
            autoComplete="current-password"
            required
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        </div>
        <button type="submit" className="button first" disabled={busy}>
          Log in
        </button>
        {refusal && <Refused refusal={refusal} />}
      </form>
    </main>
  );
}

async function logIn(token: string): Promise<void> {
  const headers = { "Content-Type": "application/json" };
  const response = await reach("/api/v1/login", { method: "POST", headers, body: JSON.stringify({ token }) });
  if (!response.ok)
    throw new Refusal(response.status, await response.json().catch(() => ({ detail: response.statusText })));
}
