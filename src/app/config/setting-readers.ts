// How one setting of the environment is read, by the kind of its value. A wrong value is a ConfigError with the name and what is accepted.

import { type FeeRule, parseFeeRule } from "../../kernel/provider-fee-rule.ts";
import { addressesOf } from "../../kernel/database-hosts.ts";
import { FAILPOINTS } from "../../kernel/failpoint.ts";
import { type FailpointSetting, parseFailpoint } from "./failpoint-setting.ts";
import { ConfigError, type Settings } from "./environment.ts";

export type SettingReaders = ReturnType<typeof readersOf>;

/** The readers of some settings. */
export function readersOf(settings: Pick<Settings, "valueOf">) {
  const text = (name: string): string | null => settings.valueOf(name);
  const integer = (name: string, fallback: number, { min, max }: { min: number; max: number }): number => {
    const value = text(name);
    if (value === null) return fallback;
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= min && number <= max)) throw wrong(name, value, `a whole number from ${min} to ${max}`);
    return number;
  };
  const choice = <Choice extends string>(name: string, fallback: Choice, choices: readonly Choice[]): Choice => {
    const value = text(name);
    if (value === null) return fallback;
    const chosen = choices.find((candidate) => candidate === value);
    if (chosen === undefined) throw wrong(name, value, `one of ${choices.join(", ")}`);
    return chosen;
  };
  const choices = <Choice extends string>(name: string, all: readonly Choice[]): ReadonlySet<Choice> => {
    const named = (text(name) ?? "").split(",").map((each) => each.trim());
    const chosen = all.filter((each) => named.includes(each));
    if (chosen.length !== new Set(named.filter((each) => each !== "")).size)
      throw wrong(name, text(name) ?? "", `names out of ${all.join(", ")}, separated by commas`);
    return new Set(chosen);
  };
  const hostPatterns = (name: string): readonly string[] => {
    const named = (text(name) ?? "").split(",").flatMap((each) => each.trim().toLowerCase() || []);
    if (named.some((each) => !/^(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(each)))
      throw wrong(
        name,
        text(name) ?? "",
        "names of hosts such as shop.example.com or *.example.com, separated by commas",
      );
    return named;
  };
  const url = (name: string, protocols: readonly string[]): string | null => {
    const value = text(name);
    if (value === null) return null;
    const protocol = URL.parse(value)?.protocol;
    if (protocol === undefined || !protocols.includes(protocol)) {
      // The value may hold a password, so only its name is shown.
      throw new ConfigError(
        `${name} must be an address that begins with ${protocols.map((p) => `${p}//`).join(" or ")}`,
      );
    }
    return value;
  };
  const databaseUrl = (name: string): string | null => {
    const value = text(name);
    if (value === null) return null;
    // The value may hold a password, so only its name is shown.
    if (!addressesOf(value).every((each) => /^postgres(ql)?:$/.test(URL.parse(each)?.protocol ?? "")))
      throw new ConfigError(`${name} must be an address that begins with postgres:// or postgresql://`);
    return value;
  };
  const secrets = (name: string): readonly string[] => {
    const named = (text(name) ?? "").split(",").map((each) => each.trim());
    const given = named.filter((each) => each !== "");
    if (given.some((each) => each.length < 32))
      throw new ConfigError(`${name} must have at least 32 random characters in each of its keys`);
    return given;
  };
  const failpoint = (name: string): FailpointSetting | null => {
    const value = text(name);
    if (value === null) return null;
    const setting = parseFailpoint(value);
    if (setting === undefined)
      throw wrong(name, value, `one of ${FAILPOINTS.join(", ")}, or one with :n for its nth time`);
    return setting;
  };
  // A key or the beginning of a digest goes with every call, so it goes through TLS, except to a server on this machine.
  const providerUrl = (name: string, fallback: string): string => {
    const value = url(name, ["https:", "http:"]);
    if (value === null) return fallback;
    const { protocol, hostname } = new URL(value);
    if (protocol === "http:" && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname))
      throw new ConfigError(`${name} must be an address that begins with https://, except on this machine`);
    return value.replace(/(?<!\/)\/+$/, "");
  };
  const feeRule = (name: string): FeeRule | null => {
    const value = text(name);
    if (value === null) return null;
    const rule = parseFeeRule(value);
    if (rule === undefined) throw wrong(name, value, "a fee such as 4000, 0.7% or 2.9%+2000");
    return rule;
  };
  return {
    text,
    integer,
    choice,
    choices,
    hostPatterns,
    url,
    databaseUrl,
    secrets,
    failpoint,
    providerUrl,
    feeRule,
    wrong,
  };
}

function wrong(name: string, value: string, accepted: string): ConfigError {
  return new ConfigError(`${name} is ${JSON.stringify(value)}, but must be ${accepted}`);
}
