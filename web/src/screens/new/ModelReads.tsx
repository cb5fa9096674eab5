/** Words that the scene's own grammar refuses, read by the model that is set; what it read is shown as chips. */
import { ask } from "@/api/client";
import { CommandButton } from "@/parts/Command";
import type { Reading } from "./reading";

interface Props {
  text: string;
  scene: string;
  onRead: (reading: Reading) => void;
}

export function ModelReads({ text, scene, onRead }: Props) {
  return (
    <CommandButton
      label="Let the model read it"
      small
      describe="The words and the scene's names are sent to the model that is set."
      call={() => ask("/api/v1/intents", { body: { scene, text, model: "configured" } })}
      after={onRead}
    />
  );
}
