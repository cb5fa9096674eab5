/** A file from this machine, kept under the name that scenes call it by. Everything wrong with it the server says. */
import { useId, useRef, useState } from "react";
import { Refusal, write } from "@/api/client";
import { useWhyNot } from "@/live/hooks";
import { CommandButton } from "@/parts/Command";
import { type Kept, nameFor } from "./files";

interface Chosen {
  fileName: string;
  file: File;
}

const MOST_BYTES = 1024 * 1024;

export function Upload({ names, kept }: { names: readonly string[]; kept: readonly Kept[] }) {
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [name, setName] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const notAllowed = useWhyNot("admin");
  const id = useId();
  const take = (file: File | undefined) => {
    if (file === undefined) return;
    setChosen({ fileName: file.name, file });
    setName(names.find((one) => one.endsWith(`/${file.name}`)) ?? nameFor(file.name));
  };
  const clear = () => {
    setChosen(null);
    if (field.current) field.current.value = "";
  };
  const isNext = kept.some((one) => one.name === name);
  const [folder = "", rest = ""] = name.split(/\/(.*)/s);
  return (
    <div className="files-upload">
      <div className="field">
        <label htmlFor={`${id}-file`}>Upload a file</label>
        <input
          ref={field}
          id={`${id}-file`}
          type="file"
          className="input"
          accept=".plt,.json,application/json"
          disabled={notAllowed !== null}
          title={notAllowed ?? undefined}
          onChange={(event) => take(event.target.files?.[0])}
        />
        {notAllowed && <p className="soft small">{notAllowed}</p>}
      </div>
      {chosen && (
        <>
          <div className="field">
            <label htmlFor={`${id}-name`}>
              Scenes call it<span className="soft small"> plt/NAME.plt or fork/NAME.json</span>
            </label>
            <input
              id={`${id}-name`}
              className="input mono"
              list={`${id}-names`}
              value={name}
              onChange={(event) => setName(event.target.value.trim())}
            />
            <datalist id={`${id}-names`}>
              {names.map((one) => (
                <option key={one} value={one} />
              ))}
            </datalist>
          </div>
          <CommandButton
            key={`${chosen.fileName} ${name}`}
            label={isNext ? "Keep as the next version" : "Keep it"}
            tone="first"
            needs="admin"
            whyNot={folder && rest ? null : "Its name is plt/NAME.plt or fork/NAME.json."}
            call={() => keep(folder, rest, chosen)}
            after={clear}
          />
        </>
      )}
    </div>
  );
}

/** As it is: the server reads JSON and YAML, and says what is wrong. */
function keep(folder: string, name: string, { fileName, file }: Chosen): Promise<unknown> {
  if (file.size > MOST_BYTES)
    return Promise.reject(new Refusal(413, { detail: `${fileName} is larger than 1 MiB.`, code: "file.large" }));
  return file.text().then((text) =>
    write("put", "/api/v1/files/{folder}/{name}", {
      path: { folder, name },
      raw: { type: "application/yaml", text },
    }),
  );
}
