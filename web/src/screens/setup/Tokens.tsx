/** Who may come in: tokens are made and revoked here by an admin; a secret is shown once and kept nowhere. */
import { type FormEvent, useState } from "react";
import { get, type Schemas, write } from "@/api/client";
import { useFetched, useWhyNot } from "@/live/hooks";
import { CommandButton, useCommand } from "@/parts/Command";
import { Empty, Loading, Refused } from "@/parts/Told";
import { Time } from "@/parts/time";

const CONCERNS = (event: { kind: string }) => event.kind === "tokenAdded" || event.kind === "tokenRevoked";

export function Tokens() {
  const { value, refusal, again } = useFetched("tokens", (signal) => get("/api/v1/tokens", { signal }), CONCERNS);
  if (refusal) return <Refused refusal={refusal} />;
  if (value === undefined) return <Loading what="the tokens" />;
  const tokens = value as Schemas["TokenShape"][];
  return (
    <section className="stack" aria-label="Tokens">
      <NewToken isFirst={tokens.length === 0} onMade={again} />
      {tokens.length === 0 ? (
        <Empty title="There is no token.">
          <p>While there is none, everybody on this machine may do everything, and nobody else may come in.</p>
        </Empty>
      ) : (
        <div className="card scroll-x">
          <table className="table">
            <thead>
              <tr>
                <th>Name</th>
                <th>Role</th>
                <th>Made</th>
                <th>
                  <span className="hidden-text">Revoke</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {tokens.map((token) => (
                <tr key={token.name}>
                  <td>{token.name}</td>
                  <td>{token.role}</td>
                  <td>
                    <Time at={token.createdAt} />
                  </td>
                  <td>
                    <CommandButton
                      label="Revoke"
                      needs="admin"
                      tone="danger"
                      small
                      describe={`Revoke the token of ${token.name}`}
                      confirm={{
                        title: `Revoke the token of ${token.name}?`,
                        says: "Whoever uses it is shown out within a second.",
                        yes: "Revoke",
                      }}
                      call={() => write("delete", "/api/v1/tokens/{name}", { path: { name: token.name } })}
                      after={again}
                    />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function NewToken({ isFirst, onMade }: { isFirst: boolean; onMade: () => void }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState(isFirst ? "admin" : "operator");
  const whyNot = useWhyNot("admin");
  const command = useCommand<Schemas["MadeTokenShape"]>();
  const make = async (event: FormEvent) => {
    event.preventDefault();
    if (whyNot !== null) return;
    const made = await command.give(() => write("post", "/api/v1/tokens", { body: { name, role } }));
    if (made !== undefined) {
      setName("");
      onMade();
    }
  };
  return (
    <form className="card padded stack" onSubmit={(event) => void make(event)}>
      <div className="row setup-token">
        <div className="field">
          <label htmlFor="token-name">Name</label>
          <input
            id="token-name"
            className="input"
            required
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </div>
        <div className="field">
          <label htmlFor="token-role">Role</label>
          <select id="token-role" className="select" value={role} onChange={(event) => setRole(event.target.value)}>
            <option value="viewer">viewer: looks</option>
            <option value="operator">operator: answers, starts, holds</option>
            <option value="admin">admin: sets up</option>
          </select>
        </div>
        <button type="submit" className="button first" aria-disabled={whyNot !== null} title={whyNot ?? undefined}>
          Make a token
        </button>
      </div>
      {whyNot && <p className="soft small">{whyNot}</p>}
      {command.answer && (
        <div className="told wait" role="status">
          <div className="stack">
            <p>{command.answer.says}</p>
            {command.answer.token && <code className="setup-secret">{command.answer.token}</code>}
          </div>
        </div>
      )}
      {command.refusal && <Refused refusal={command.refusal} />}
    </form>
  );
}
