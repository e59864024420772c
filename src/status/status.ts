// The state of the service as everyone may read it. Nothing here names a host, a wallet or an account, and no text of an error.

/** How a component does. `unknown`: it cannot be read now. */
export type State = "operational" | "degraded" | "down" | "unknown";

/** A time in which a component was not operational, with the worst state of it. */
export type Incident = {
  readonly state: "degraded" | "down";
  readonly beganAt: Date;
  /** Null: it lasts. */
  readonly endedAt: Date | null;
};

/** A part of the service. */
export type Component = {
  readonly kind: "gateway" | "upstream" | "top_ups" | "transfers";
  /** The public name of an upstream. Empty: another kind, or all upstreams without a public name. */
  readonly name: string;
  readonly state: State;
  /** Since when it has the state. Null: not known, or for longer than records are kept. */
  readonly since: Date | null;
  /** Newest first. */
  readonly incidents: readonly Incident[];
};

/** The state of the service. */
export type Status = {
  readonly state: Exclude<State, "unknown">;
  readonly asOf: Date;
  /** Whether all records could be read. */
  readonly isComplete: boolean;
  readonly components: readonly Component[];
};

/** The state of the whole: without its gateway the service is down, whatever else works. */
export function overallState(components: readonly Component[]): Status["state"] {
  if (components.some(({ kind, state }) => kind === "gateway" && state === "down")) return "down";
  return components.every(({ state }) => state === "operational") ? "operational" : "degraded";
}
