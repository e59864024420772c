// The options of a run, from the command line and the environment.

/** The options of a run. */
export type Options = {
  readonly key: string | undefined;
  readonly model: string | undefined;
  /** Undefined: one is chosen from the catalog. */
  readonly smallModel: string | undefined;
  /** Ids of agents; undefined: those that are there. */
  readonly agents: readonly string[] | undefined;
  /** The gateway that was named, by a word, a variable or by serving this program; else one on this machine. */
  readonly baseUrl: string;
  readonly isBaseUrlNamed: boolean;
  readonly yes: boolean;
  readonly json: boolean;
  readonly keyEnv: boolean;
  readonly dryRun: boolean;
  /** Whether agents are to leave out traffic that answers do not need. */
  readonly lessTraffic: boolean;
  readonly insecure: boolean;
  /** Whether the key is a word of the command line, which other people on this machine can read. */
  readonly isKeyInWords: boolean;
};
