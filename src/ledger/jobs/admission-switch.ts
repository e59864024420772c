import type { AdmissionGate } from "../admission-switch.ts";
import type { Tick } from "../../workers/tick.ts";

const SWITCH_MS = 2_000;

/** Reads the switch of admissions, in every process. */
export function switchTick(gate: AdmissionGate): Tick {
  return { name: "read the admission switch", everyMs: SWITCH_MS, run: () => gate.refresh() };
}
