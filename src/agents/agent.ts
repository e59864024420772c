// A coding agent as saldo-agents sees it: the places of its files, and the settings that point it at a gateway. An agent
// defines the settings it needs; editing, remembering and taking back are the same for all of them (change.ts).

import type { Path, Value, ValueMap } from "./editing/edits.ts";
import type { Format } from "./editing/format.ts";
import type { Machine } from "./machine.ts";

/** A model of the gateway's catalog, as far as agents want to know it. */
export type Model = {
  readonly id: string;
  readonly name: string;
  readonly contextLength: number;
  readonly maxOutputTokens: number;
  readonly inputModalities: readonly string[];
};

/** The gateway and the model that an agent is connected to. */
export type Connection = {
  /** With `/v1` and no slash behind it. */
  readonly apiUrl: string;
  /** The key; null: a reference to the variable SALDO_API_KEY is written, where the agent knows such references. */
  readonly key: string | null;
  readonly model: Model;
  /** The model for titles, summaries and other small tasks. */
  readonly smallModel: Model;
  /** Whether the user wants no traffic of the agent that answers do not need. */
  readonly isTrafficReduced: boolean;
};

/** The variable that a reference to the key names, and the id under which agents know us. */
export const KEY_VARIABLE = "SALDO_API_KEY";
export const PROVIDER = "saldo";

/** A protocol of the gateway that an agent may need beside chat completions. */
export type Protocol = "messages" | "responses" | "gemini";

/** Whether an address in a file is one of our gateway. */
export type IsOurs = (address: Value | undefined) => boolean;

/** One place of a file that we write. */
export type Placement =
  /** A setting of its own. What it was before comes back on reset, if it `isOurs` still. */
  | {
      readonly kind: "setting";
      readonly path: Path;
      readonly value: Value;
      readonly isOurs: (value: Value, root: ValueMap) => boolean;
      /** Whether the value there works as well as ours, where an agent adds to it. */
      readonly isEnough?: (value: Value) => boolean;
    }
  /** An entry of a map that is ours alone, with any other entry of ours there replaced by it. */
  | {
      readonly kind: "entry";
      readonly path: Path;
      readonly key: string;
      readonly value: Value;
      readonly isOurs: (key: string) => boolean;
    }
  /** An item of a list, the first one or the last. */
  | {
      readonly kind: "item";
      readonly path: Path;
      readonly value: Value;
      readonly isFirst: boolean;
      readonly isOurs: (item: Value) => boolean;
    };

/** The gateway in an agent's files; a key in them is only for asking that gateway. */
export type Pointing = {
  readonly model: string;
  readonly address: Value | undefined;
  readonly key: Value | undefined;
};

export type AgentFile = {
  /** The places where it may be, the one that the agent prefers first. */
  candidates(machine: Machine): readonly string[];
  /** The candidate that is created when none exists. */
  made(machine: Machine): string;
  readonly format: Format;
  /** The content of a new file of the agent besides our settings. */
  readonly frame?: ValueMap;
  placements(connection: Connection, isOurs: IsOurs): readonly Placement[];
};

export type Agent = {
  readonly id: string;
  /** Its name for people. */
  readonly name: string;
  /** The programs it is started with. */
  readonly programs: readonly string[];
  /** The protocol that it speaks; absent: chat completions. */
  readonly protocol?: Protocol;
  /** The traffic that it can do without, for a question to the user. */
  readonly extraTraffic?: string;
  readonly files: readonly AgentFile[];
  /** What its files, in the order of `files`, point at; null where they point elsewhere. */
  read(roots: readonly ValueMap[]): Pointing | null;
  /** Whether it can ask for a model of this name; absent: for every one. */
  readonly canAskFor?: (model: string) => boolean;
  /** Why a reference to a variable cannot be written for it; then the key itself is. */
  readonly needsLiteralKey?: string;
  /** Variables that move or override its settings, which a doctor mentions. */
  readonly overrides: readonly string[];
  /** Files in a project that count more than the user's. */
  readonly projectFiles?: readonly string[];
};
