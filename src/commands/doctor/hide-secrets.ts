// What the doctor prints comes from servers of others too, whose errors may quote what they were sent.

import type { Config } from "../../app/config/config.ts";

const SECRET_NAME = /KEY|SECRET|TOKEN|PIN|PASSWORD|CREDENTIALS|HEADERS/;
/** Shorter ones are words, and would make other texts unreadable. */
const SHORTEST = 6;
/** A part of a path that is so long may be a key, as providers of chain nodes have them there. */
const KEY_IN_PATH = 16;
/** Between the addresses of cells. One address may have commas between its servers. */
const CELL_PARTS = /\s+|,(?=[a-z][a-z0-9-]*=)/;
const HIDDEN = "[secret]";

/** Makes the function that takes every secret of the settings out of a text. */
export function hiderOf({ variables, variable, chains }: Pick<Config, "variables" | "variable" | "chains">) {
  const names = new Set([
    ...Object.keys(variables()).map((name) => name.replace(/_FILE$/, "")),
    ...chains.map(({ keyVariable }) => keyVariable),
  ]);
  const keys = new Set(chains.map(({ keyVariable }) => keyVariable));
  const secrets = [...names].flatMap((name) => {
    const value = variable(name) ?? "";
    if (name === "SALDO_CELLS")
      return value.split(CELL_PARTS).flatMap((part) => secretsInUrl(part.replace(/^[^:=]*=/, "")));
    if (value.includes("://")) return secretsInUrl(value);
    return SECRET_NAME.test(name) || keys.has(name) ? [value, ...value.split(",")] : [];
  });
  // The longest first: a shorter one may be a part of it.
  const known = [...new Set(secrets.map((each) => each.trim()))]
    .filter((each) => each.length >= SHORTEST)
    .toSorted((one, other) => other.length - one.length);
  return (text: string): string => known.reduce((hidden, secret) => hidden.replaceAll(secret, HIDDEN), text);
}

function secretsInUrl(value: string): string[] {
  const [, password = ""] = /^[^:]+:\/\/[^/?]*?:([^/?]*)@/.exec(value) ?? [];
  const [path = "", query = ""] = value.replace(/^[^:]+:\/\/[^/?]*/, "").split("?");
  const parts = [...path.split("/"), ...query.split("&").map((each) => each.split("=").at(-1) ?? "")];
  return [password, ...parts.filter((part) => part.length >= KEY_IN_PATH)].flatMap((each) => [each, decoded(each)]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
