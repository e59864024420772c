// The common placements of most agents: a file in one place, and a setting that names the model with a sign of ours in front.

import type { AgentFile, Placement } from "../agent.ts";
import type { Path } from "../editing/edits.ts";
import type { Machine } from "../machine.ts";

/** A file that is looked for in one place only. */
export function fileAt(place: (machine: Machine) => string, rest: Omit<AgentFile, "candidates" | "made">): AgentFile {
  return { ...rest, candidates: (machine) => [place(machine)], made: place };
}

/** The setting of the model that is used, ours while it begins with our sign. */
export function chosenModel(path: Path, { inFront, id }: { inFront: string; id: string }): Placement {
  return {
    kind: "setting",
    path,
    value: inFront + id,
    isOurs: (value) => typeof value === "string" && value.startsWith(inFront),
  };
}
