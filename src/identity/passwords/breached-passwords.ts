// Looks a new password up among those of known breaches, by k-anonymity: a server is asked for all digests that begin with the
// same five hexadecimal digits, so it receives neither the password nor its digest. The protocol is that of Pwned Passwords, whose
// digests are SHA-1. better-auth's plugin for it is not used: it has a fixed address and refuses every password while the
// server is away.

import { hash } from "node:crypto";
import { Agent, request } from "undici";
import { ValidationError } from "../../kernel/errors.ts";
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from "./passwords.ts";

export type BreachedPasswords = {
  /** Refuses a new password that was in a breach; `field` names it. Errors: ValidationError. */
  refuse(field: string, password: string): Promise<void>;
  close(): Promise<void>;
};

export type BreachedPasswordsOptions = {
  /** Such as https://api.pwnedpasswords.com/range, without a slash at the end. Null: nothing is looked up. */
  readonly url: string | null;
  /** Called when a password was accepted that could not be looked up. */
  readonly onFailure: (error: Error) => void;
};

const PREFIX_LENGTH = 5;
/** For the connection and the whole answer: a person is waiting. */
const WITHIN_MS = 2_000;
/** A padded answer has some 60 KiB. */
const MAX_ANSWER_BYTES = 1024 * 1024;
const AT_ONCE = 8;

/** Opens the look-up. */
export function openBreachedPasswords({ url, onFailure }: BreachedPasswordsOptions): BreachedPasswords {
  if (url === null) return { refuse: () => Promise.resolve(), close: () => Promise.resolve() };
  const agent = new Agent({
    connections: AT_ONCE,
    pipelining: 1,
    connect: { timeout: WITHIN_MS },
    maxResponseSize: MAX_ANSWER_BYTES,
  });
  let running = 0;

  /** The suffixes of the digests that begin so, with how often each was seen. */
  async function linesOf(prefix: string): Promise<string[]> {
    // A flood of sign-ups must not become a flood of requests to another service.
    if (running >= AT_ONCE) throw new LookUpFailed("too many at once");
    running += 1;
    try {
      const { statusCode, body } = await request(`${url}/${prefix}`, {
        dispatcher: agent,
        // With padding, the length of the encrypted answer does not show which digits were asked for.
        headers: { accept: "text/plain", "add-padding": "true", "user-agent": "saldo" },
        signal: AbortSignal.timeout(WITHIN_MS),
      });
      const text = await body.text();
      if (statusCode !== 200) throw new LookUpFailed(`the answer was ${statusCode}`);
      return text.split(/\r?\n/);
    } finally {
      running -= 1;
    }
  }

  async function has(password: string): Promise<boolean> {
    const digest = hash("sha1", password, "hex").toUpperCase();
    const wanted = `${digest.slice(PREFIX_LENGTH)}:`;
    try {
      const found = (await linesOf(digest.slice(0, PREFIX_LENGTH))).find((line) =>
        line.toUpperCase().startsWith(wanted),
      );
      // Padding has the count 0.
      return found !== undefined && Number(found.slice(wanted.length)) > 0;
    } catch (error) {
      // The password is accepted: an outage of another service must not prevent a person from changing a stolen password.
      // The rules and the list of this service have refused the most common ones.
      onFailure(error instanceof LookUpFailed ? error : new LookUpFailed(codeOf(error)));
      return false;
    }
  }

  return {
    async refuse(field, password) {
      // Refused anyway by its length.
      if (password.length < MIN_PASSWORD_LENGTH || password.length > MAX_PASSWORD_LENGTH) return;
      if (!(await has(password))) return;
      const message = "was found in a data breach of another service. Choose another password";
      throw new ValidationError([{ field, rule: "password.breached", message }]);
    },
    close: () => agent.destroy(),
  };
}

class LookUpFailed extends Error {}

/** Only the code: the error itself may contain the request. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
