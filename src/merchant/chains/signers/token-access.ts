// The way to a token, shared by all signers of this process whose keys are on it. A token locks itself after a few wrong PINs, and every
// chain has a signer of its own: so one of them asks at a time, and what the token refused to one no other tries. Where there is a file for it, no later start does.

import { RefusedPin, type TokenPin } from "./refused-pin.ts";

/** What a program gave. */
export type Ran = {
  readonly output: Buffer;
  /** Why it failed. Null: it did not. */
  readonly problem: string | null;
};

const PIN_REFUSED = /CKR_PIN_(?:INCORRECT|LOCKED|EXPIRED|INVALID|LEN_RANGE)/;
/** Of these the token counts each try. A PIN that has run out, or whose token is locked, may be right once that is mended. */
const PIN_WRONG = /CKR_PIN_(?:INCORRECT|INVALID|LEN_RANGE)/;
const shared = new Map<string, TokenAccess>();

export class TokenAccess {
  #refusal: string | null = null;
  #latest: Promise<unknown> = Promise.resolve();
  readonly #refused: RefusedPin | null;

  /** Null: nothing is remembered for the next start. */
  constructor(refused: RefusedPin | null = null) {
    this.#refused = refused;
  }

  /** The one way of this process to a token. */
  static to({ refusedPinFile, ...pin }: TokenPin & { readonly refusedPinFile?: string }): TokenAccess {
    const name = JSON.stringify([pin.module, pin.token]);
    const refused = refusedPinFile === undefined ? null : new RefusedPin(refusedPinFile, pin);
    const access = shared.get(name) ?? new TokenAccess(refused);
    shared.set(name, access);
    return access;
  }

  /** Asks once all who came before have their answers. Errors: the program's; that the token has refused the PIN; that it is too late. */
  ask(run: () => Promise<Ran>, signal: AbortSignal): Promise<Buffer> {
    const answer = this.#latest.then(() => this.#ask(run, signal));
    this.#latest = answer.catch(() => {});
    return answer;
  }

  async #ask(run: () => Promise<Ran>, signal: AbortSignal): Promise<Buffer> {
    this.#refusal ??= await this.#refusedBefore();
    if (this.#refusal !== null) throw new Error(this.#refusal);
    signal.throwIfAborted();
    const { output, problem } = await run();
    if (problem === null) return output;
    const [refused] = PIN_REFUSED.exec(problem) ?? [];
    if (refused === undefined) throw new Error(problem);
    const refusal = `the token refuses the PIN (${refused})`;
    this.#refusal = `${refusal}; it is tried again by the next start`;
    if (PIN_WRONG.test(refused)) await this.#remember(refused);
    throw new Error(refusal);
  }

  async #refusedBefore(): Promise<string | null> {
    const refused = (await this.#refused?.read()) ?? null;
    return refused === null ? null : this.#notTried(refused);
  }

  /** A disk that takes no file leaves the next start its try. */
  async #remember(refused: string): Promise<void> {
    if (this.#refused === null) return;
    try {
      await this.#refused.write(refused);
      this.#refusal = this.#notTried(refused);
    } catch (error) {
      this.#refusal += `, because ${this.#refused.file} cannot be written: ${String(error)}`;
    }
  }

  #notTried(refused: string): string {
    return (
      `the token has refused this PIN (${refused}); it is not tried again until SALDO_PKCS11_PIN is another one or ` +
      `${this.#refused?.file ?? ""} is removed`
    );
  }
}
