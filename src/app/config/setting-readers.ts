// How one setting of the environment is read.

/** How the environment is read; config.ts does it. */
export type SettingReaders = {
  readonly text: (name: string) => string | null;
  readonly integer: (name: string, fallback: number, range: { min: number; max: number }) => number;
  readonly url: (name: string, protocols: readonly string[]) => string | null;
  readonly wrong: (name: string, value: string, accepted: string) => Error;
};
