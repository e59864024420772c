// The environment as settings read it: a value is in the variable of its name, or in the file that `NAME_FILE` names, as vaults
// and orchestrators hand secrets out.

import { readFileSync, statSync } from "node:fs";

export type Environment = Readonly<Record<string, string | undefined>>;

/** A variable of the environment has a value that is not accepted. */
export class ConfigError extends Error {}

export type Settings = {
  /** The value of a setting; null where it is not set. A file is read once. Errors: ConfigError. */
  valueOf(name: string): string | null;
  /** The variables of the settings that were asked for, and of keys of upstreams: what another process of this node needs. */
  variables(): Record<string, string>;
  /** What is better changed about the files that were read. */
  advice(): readonly string[];
};

/** Opens the settings of an environment. What is taken out of the environment later is still read. */
export function openSettings(environment: Environment): Settings {
  const values = { ...environment };
  const names = new Set<string>();
  const files = new Map<string, string>();
  const advice: string[] = [];

  function valueOf(name: string): string | null {
    names.add(name);
    const value = values[name]?.trim() || null;
    const file = values[`${name}_FILE`]?.trim() || null;
    if (file === null) return value;
    if (value !== null) throw new ConfigError(`${name} and ${name}_FILE must not be set both`);
    const known = files.get(name);
    if (known !== undefined) return known;
    const read = readValue(name, file);
    files.set(name, read);
    if (!MOUNTED.test(file) && isOpenToOthers(file))
      advice.push(`${name}_FILE names a file that other users of this machine can use. ${SHUT}`);
    return read;
  }

  const isSetting = (name: string): boolean => names.has(name.replace(/_FILE$/, "")) || UPSTREAM_KEY.test(name);
  return {
    valueOf,
    advice: () => advice,
    variables: () =>
      Object.fromEntries(
        Object.entries(values).flatMap(([name, value]) =>
          value !== undefined && isSetting(name) ? [[name, value]] : [],
        ),
      ),
  };
}

const SHUT = "Its mode should be 0600, or 0440 with a group of the service alone.";
/** Where orchestrators mount secrets of a container, which has no other users. */
const MOUNTED = /^\/run\/secrets\//;
/** Writing by the group, and anything by others. */
const OPEN_MODES = 0o027;

function isOpenToOthers(file: string): boolean {
  const { mode } = statSync(file);
  return (mode & OPEN_MODES) !== 0;
}

function readValue(name: string, file: string): string {
  let value;
  try {
    value = readFileSync(file, "utf8").trim();
  } catch (cause) {
    throw new ConfigError(`${name}_FILE names a file that cannot be read`, { cause });
  }
  // A vault that has not written it yet: the service must not start without the secret.
  if (value === "") throw new ConfigError(`${name}_FILE names an empty file`);
  return value;
}

/** A catalog may name any of these. */
const UPSTREAM_KEY = /_API_KEY(?:_FILE)?$/;

/** Libraries look at it, and it is no secret. */
const KEPT: ReadonlySet<string> = new Set(["NODE_ENV"]);

/**
 * Takes the settings out of the environment of this process once they are read, so that programs it starts, reports of faults and
 * packages that look around find no secret there.
 */
export function forgetSettings(environment: NodeJS.ProcessEnv, variables: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(variables)) if (!KEPT.has(name)) delete environment[name];
}

/** What an environment has beside these settings. */
export function withoutSettings(
  environment: Environment,
  variables: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value === undefined || Object.hasOwn(variables, name) ? [] : [[name, value]],
    ),
  );
}
