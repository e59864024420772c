// The most used passwords of a published list, stored as digests because many of them are offensive. README.md names the source.

import { hash } from "node:crypto";
import { readFileSync } from "node:fs";

/** Hexadecimal digits of SHA-256 in a line. With 48 bits an unlisted password matches by chance once in 10^11. */
const DIGEST_LENGTH = 12;

let listed: ReadonlySet<string> | null = null;

/** The digests. The file is read when the first password is set. */
export function listedDigests(): ReadonlySet<string> {
  return (listed ??= new Set(
    readFileSync(new URL("common-passwords.txt", import.meta.url), "utf8")
      .trimEnd()
      .split("\n"),
  ));
}

/** Whether a password is on the list, in any case of its letters. */
export function isListedPassword(password: string): boolean {
  return listedDigests().has(hash("sha256", password.toLowerCase(), "hex").slice(0, DIGEST_LENGTH));
}
