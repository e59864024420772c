// Handles calls that the server refuses until the person proves their identity: asks in a dialog and repeats the call.
// A person who has to set up a second factor is sent to the page for that.

/** What the person still has to provide for a call. */
export type Lack = "second_factor_required" | "fresh_authentication_required";

type Asker = {
  /** Asks the person to confirm. False: the person did not. */
  readonly confirm: () => Promise<boolean>;
  readonly setUp: () => void;
};

let asker: Asker | null = null;
let asking: Promise<boolean> | null = null;
let readCode: (error: unknown) => string | null = () => null;

/** Sets how the code of a contract's error is read; errors of sign-in carry it themselves. */
export function setCodeReader(read: (error: unknown) => string | null): void {
  readCode = read;
}

/** Registers the dialog that asks. Returns a function that removes it. */
export function onLack(by: Asker): () => void {
  asker = by;
  return () => {
    if (asker === by) asker = null;
  };
}

/** What the person has to provide, by an error. Null: the error has another cause. */
export function lackOf(error: unknown): Lack | null {
  const code =
    readCode(error) ?? (typeof error === "object" && error !== null && "code" in error ? String(error.code) : null);
  return code === "second_factor_required" || code === "fresh_authentication_required" ? code : null;
}

/** Runs a call, and runs it again after the person has confirmed, where the server asks for that. */
export async function confirmed<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    const lack = lackOf(error);
    if (lack === "second_factor_required") asker?.setUp();
    if (lack !== "fresh_authentication_required" || !(await askOnce())) throw error;
    return work();
  }
}

/** Calls that are refused at the same time share one dialog. */
function askOnce(): Promise<boolean> {
  if (asker === null) return Promise.resolve(false);
  asking ??= asker.confirm().finally(() => {
    asking = null;
  });
  return asking;
}
