// The way to a token, shared by all signers of this process whose keys are on it. A token locks itself after a few wrong PINs, and every
// chain has a signer of its own: so one of them asks at a time, and what the token refused to one no other tries.

/** What a program gave. */
export type Ran = {
  readonly output: Buffer;
  /** Why it failed. Null: it did not. */
  readonly problem: string | null;
};

const PIN_REFUSED = /CKR_PIN_(?:INCORRECT|LOCKED|EXPIRED|INVALID|LEN_RANGE)/;
const shared = new Map<string, TokenAccess>();

export class TokenAccess {
  #refusal: string | null = null;
  #latest: Promise<unknown> = Promise.resolve();

  /** The one way of this process to a token. */
  static to({ module, token }: { readonly module: string; readonly token: string }): TokenAccess {
    const name = JSON.stringify([module, token]);
    const access = shared.get(name) ?? new TokenAccess();
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
    if (this.#refusal !== null) throw new Error(`${this.#refusal}; it is tried again by the next start`);
    signal.throwIfAborted();
    const { output, problem } = await run();
    if (problem === null) return output;
    const [refused] = PIN_REFUSED.exec(problem) ?? [];
    if (refused !== undefined) this.#refusal = `the token refuses the PIN (${refused})`;
    throw new Error(this.#refusal ?? problem);
  }
}
