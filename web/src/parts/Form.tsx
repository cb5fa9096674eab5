/**
 * A form made from a JSON schema: objects, texts, numbers, yes or no, choices, lists and alternatives.
 *
 * Labels are the schema's titles, or the field's name in words; what the schema says of a field stands under it. A part
 * that no field can show is edited as text and checked as one types. The server has the last word on every value.
 */
import { type ReactNode, useId, useState } from "react";

export interface JsonSchema {
  type?: string | string[];
  title?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  format?: string;
  examples?: unknown[];
  additionalProperties?: boolean | JsonSchema;
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
}

export function inWords(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/[_-]+/g, " ")
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function resolved(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const name = schema.$ref?.split("/").at(-1);
  const found = name === undefined ? schema : { ...root.$defs?.[name], ...schema, $ref: undefined };
  const choices = found.anyOf ?? found.oneOf;
  const real = choices?.filter((choice) => choice.type !== "null");
  if (choices && real?.length === 1 && real[0])
    return { ...found, ...resolved(real[0], root), anyOf: undefined, oneOf: undefined };
  return found;
}

export function typeOf(schema: JsonSchema): string {
  if (schema.enum || schema.const !== undefined) return "enum";
  if (schema.anyOf || schema.oneOf) return "choice";
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== "null") : schema.type;
  return type ?? (schema.properties ? "object" : "any");
}

/** What a field holds before anybody has typed. */
export function blank(schema: JsonSchema, root: JsonSchema = schema): unknown {
  const known = resolved(schema, root);
  if (known.default !== undefined) return known.default;
  if (known.const !== undefined) return known.const;
  const type = typeOf(known);
  if (type === "object") {
    const required = new Set(known.required ?? []);
    const fields = Object.entries(known.properties ?? {}).filter(
      ([name, field]) => required.has(name) || field.default !== undefined,
    );
    return Object.fromEntries(fields.map(([name, field]) => [name, blank(field, root)]));
  }
  if (type === "array") return [];
  if (type === "boolean") return false;
  return undefined;
}

interface FieldProps {
  schema: JsonSchema;
  root: JsonSchema;
  value: unknown;
  onChange: (value: unknown) => void;
  label: string;
  required: boolean;
  hideLabel?: boolean;
}

export function SchemaForm({
  schema,
  value,
  onChange,
  label,
}: {
  schema: JsonSchema;
  value: unknown;
  onChange: (value: unknown) => void;
  label?: string;
}) {
  return (
    <Field
      schema={schema}
      root={schema}
      value={value}
      onChange={onChange}
      label={label ?? schema.title ?? "Value"}
      required
      hideLabel={label === undefined && typeOf(resolved(schema, schema)) === "object"}
    />
  );
}

function Field(props: FieldProps) {
  const schema = resolved(props.schema, props.root);
  const known = { ...props, schema };
  switch (typeOf(schema)) {
    case "object":
      return schema.properties ? <ObjectField {...known} /> : <TextOfJson {...known} />;
    case "array":
      return <ListField {...known} />;
    case "enum":
      return <ChoiceOf {...known} />;
    case "boolean":
      return <YesOrNo {...known} />;
    case "number":
    case "integer":
      return <NumberField {...known} />;
    case "string":
      return <TextField {...known} />;
    default:
      return <TextOfJson {...known} />;
  }
}

function Labelled({ id, props, children }: { id: string; props: FieldProps; children: ReactNode }) {
  return (
    <div className="field">
      {!props.hideLabel && (
        <label htmlFor={id}>
          {props.schema.title ?? props.label}
          {!props.required && <span className="soft small"> optional</span>}
        </label>
      )}
      {children}
      {props.schema.description && (
        <p className="soft small" id={`${id}-help`}>
          {props.schema.description}
        </p>
      )}
    </div>
  );
}

function ObjectField(props: FieldProps) {
  const value = (typeof props.value === "object" && props.value !== null ? props.value : {}) as Record<string, unknown>;
  const required = new Set(props.schema.required ?? []);
  const set = (name: string, next: unknown) => {
    const after = { ...value, [name]: next };
    if (next === undefined) delete after[name];
    props.onChange(after);
  };
  return (
    <fieldset className="fields">
      {!props.hideLabel && <legend>{props.schema.title ?? props.label}</legend>}
      {Object.entries(props.schema.properties ?? {}).map(([name, field]) => (
        <Field
          key={name}
          schema={field}
          root={props.root}
          value={value[name]}
          onChange={(next) => set(name, next)}
          label={field.title ?? inWords(name)}
          required={required.has(name)}
        />
      ))}
    </fieldset>
  );
}

function ListField(props: FieldProps) {
  const items = Array.isArray(props.value) ? props.value : [];
  const item = props.schema.items ?? {};
  const change = (index: number, next: unknown) => props.onChange(items.map((old, at) => (at === index ? next : old)));
  return (
    <fieldset className="fields">
      <legend>{props.schema.title ?? props.label}</legend>
      {items.map((value, index) => (
        <div className="row list-item" key={index}>
          <div className="spread">
            <Field
              schema={item}
              root={props.root}
              value={value}
              onChange={(next) => change(index, next)}
              label={`${props.label} ${index + 1}`}
              required
              hideLabel={typeOf(resolved(item, props.root)) !== "object"}
            />
          </div>
          <button
            type="button"
            className="button small ghost"
            onClick={() => props.onChange(items.filter((_, at) => at !== index))}
          >
            Remove
            <span className="hidden-text">
              {" "}
              {props.label} {index + 1}
            </span>
          </button>
        </div>
      ))}
      <button
        type="button"
        className="button small"
        onClick={() => props.onChange([...items, blank(item, props.root) ?? ""])}
      >
        Add
      </button>
    </fieldset>
  );
}

function ChoiceOf(props: FieldProps) {
  const id = useId();
  const choices = props.schema.enum ?? [props.schema.const];
  const chosen = choices.indexOf(props.value);
  return (
    <Labelled id={id} props={props}>
      <select
        id={id}
        className="select"
        value={chosen < 0 ? "" : String(chosen)}
        onChange={(event) =>
          props.onChange(event.target.value === "" ? undefined : choices[Number(event.target.value)])
        }
      >
        {(chosen < 0 || !props.required) && <option value="">{props.required ? "Choose …" : "–"}</option>}
        {choices.map((choice, index) => (
          <option key={index} value={index}>
            {String(choice)}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

function YesOrNo(props: FieldProps) {
  const id = useId();
  return (
    <div className="field check">
      <input
        id={id}
        type="checkbox"
        checked={props.value === true}
        onChange={(event) => props.onChange(event.target.checked)}
      />
      <label htmlFor={id}>{props.schema.title ?? props.label}</label>
      {props.schema.description && <p className="soft small">{props.schema.description}</p>}
    </div>
  );
}

function NumberField(props: FieldProps) {
  const id = useId();
  const whole = typeOf(props.schema) === "integer";
  return (
    <Labelled id={id} props={props}>
      <input
        id={id}
        className="input"
        type="number"
        inputMode={whole ? "numeric" : "decimal"}
        step={whole ? 1 : "any"}
        min={props.schema.minimum}
        max={props.schema.maximum}
        required={props.required}
        value={typeof props.value === "number" ? props.value : ""}
        onChange={(event) => props.onChange(event.target.value === "" ? undefined : Number(event.target.value))}
      />
    </Labelled>
  );
}

const LONG = new Set(["content", "text", "body", "note", "description"]);

function TextField(props: FieldProps) {
  const id = useId();
  const value =
    typeof props.value === "string"
      ? props.value
      : props.value === undefined || props.value === null
        ? ""
        : JSON.stringify(props.value);
  const change = (text: string) => props.onChange(text === "" && !props.required ? undefined : text);
  // Found once: another field in its place would take the focus from who is typing.
  const [long] = useState(() => value.includes("\n") || value.length > 80 || LONG.has(props.label.toLowerCase()));
  return (
    <Labelled id={id} props={props}>
      {long ? (
        <textarea
          id={id}
          className="textarea"
          value={value}
          required={props.required}
          onChange={(event) => change(event.target.value)}
        />
      ) : (
        <input
          id={id}
          className="input"
          type="text"
          value={value}
          required={props.required}
          maxLength={props.schema.maxLength}
          onChange={(event) => change(event.target.value)}
        />
      )}
    </Labelled>
  );
}

/** Anything else as text: read as a value where it is one, else taken as a plain text. */
function TextOfJson(props: FieldProps) {
  const id = useId();
  const [typed, setText] = useState("");
  const text = JSON.stringify(readLoosely(typed)) === JSON.stringify(props.value) ? typed : asText(props.value);
  const change = (next: string) => {
    setText(next);
    props.onChange(readLoosely(next));
  };
  return (
    <Labelled id={id} props={props}>
      <textarea id={id} className="textarea mono" value={text} onChange={(event) => change(event.target.value)} />
    </Labelled>
  );
}

function asText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

export function readLoosely(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
