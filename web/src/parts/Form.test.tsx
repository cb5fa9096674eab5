import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, describe, expect, it } from "vitest";
import { blank, inWords, type JsonSchema, SchemaForm } from "./Form";

afterEach(cleanup);

const schema: JsonSchema = {
  type: "object",
  required: ["path", "kind"],
  properties: {
    path: { type: "string", title: "Path" },
    kind: { enum: ["copy", "move"] },
    seconds: { anyOf: [{ type: "number" }, { type: "null" }] },
    tags: { type: "array", items: { type: "string" } },
    force: { type: "boolean", default: false },
  },
};

function Shown({ told }: { told: (value: unknown) => void }) {
  const [value, setValue] = useState(blank(schema));
  return (
    <SchemaForm
      schema={schema}
      value={value}
      onChange={(next) => {
        setValue(next);
        told(next);
      }}
    />
  );
}

describe("a form from a schema", () => {
  it("starts with defaults and says field names in words", () => {
    expect(blank(schema)).toEqual({ path: undefined, kind: undefined, force: false });
    expect(inWords("actionNodeId")).toBe("Action node id");
  });

  it("gives the value that its fields make", () => {
    let value: unknown;
    render(<Shown told={(next) => (value = next)} />);
    fireEvent.change(screen.getByLabelText("Path"), { target: { value: "a.txt" } });
    fireEvent.change(screen.getByLabelText("Kind"), { target: { value: "1" } });
    fireEvent.change(screen.getByLabelText(/Seconds/), { target: { value: "2.5" } });
    fireEvent.click(screen.getByText("Add"));
    fireEvent.change(screen.getAllByRole("textbox").at(-1) as HTMLElement, { target: { value: "x" } });
    fireEvent.click(screen.getByLabelText("Force"));
    expect(value).toEqual({ path: "a.txt", kind: "move", seconds: 2.5, tags: ["x"], force: true });
  });

  it("keeps the field that is typed into, however long the text gets", () => {
    render(<Shown told={() => undefined} />);
    const field = screen.getByLabelText("Path");
    fireEvent.change(field, { target: { value: "a/very/long/path/".repeat(10) } });
    expect(screen.getByLabelText("Path")).toBe(field);
  });

  it("shows what a list of anything holds after one was taken away", () => {
    const anything: JsonSchema = { type: "array", title: "Things", items: {} };
    let value: unknown = [1, { two: 2 }];
    const { rerender } = render(<SchemaForm schema={anything} value={value} onChange={(next) => (value = next)} />);
    fireEvent.click(screen.getAllByText("Remove")[0] as HTMLElement);
    rerender(<SchemaForm schema={anything} value={value} onChange={(next) => (value = next)} />);
    const shown = screen.getAllByRole<HTMLTextAreaElement>("textbox").map((field) => JSON.parse(field.value));
    expect(shown).toEqual([{ two: 2 }]);
  });

  it("leaves an emptied optional field out", () => {
    let value: unknown;
    render(<Shown told={(next) => (value = next)} />);
    fireEvent.change(screen.getByLabelText(/Seconds/), { target: { value: "2" } });
    fireEvent.change(screen.getByLabelText(/Seconds/), { target: { value: "" } });
    expect(value).not.toHaveProperty("seconds");
  });
});
