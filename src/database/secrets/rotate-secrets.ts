// Stores every secret again, under the first master key and in a form, while the service serves. Each text is replaced by a statement of
// its own, which does nothing where the text was changed meanwhile. So one that stops is simply run again.

import type { Pool } from "pg";
import { openText, resealText, type SealedForm, sealedPrefixes, SecretUnreadable } from "../../kernel/sealed-text.ts";
import { readTexts, replaceText, type SecretColumns, type SecretText } from "./secret-columns.ts";
import { moveKeyCheck, setSecretForm } from "./secret-state.ts";

export type RotatedSecrets = {
  /** How many got the new master key: of an envelope the data key alone was encrypted again. */
  readonly rewrapped: number;
  /** How many were in clear or in the other form. */
  readonly encrypted: number;
  /** The places of secrets under a key that this process does not have. */
  readonly unreadable: readonly string[];
  /** How many are still in another form, because processes wrote them meanwhile. */
  readonly left: number;
};

export type RotateOptions = {
  readonly form: SealedForm;
  /** Whether the form and the key of all other secrets stay what they are. */
  readonly keepsState?: boolean;
  /** Called behind each text. */
  readonly replaced?: () => void;
};

/** A process that writes under a former key meanwhile is followed so often. */
const MOST_PASSES = 3;
const SEALED = "sealed:1:";

/**
 * Does it. Nothing is changed where the keys are wrong. Errors: SecretUnreadable.
 */
export async function rotateSecrets(
  pool: Pool,
  columns: readonly SecretColumns[],
  { form, keepsState = false, replaced = () => {} }: RotateOptions,
): Promise<RotatedSecrets> {
  if (!keepsState) await setSecretForm(pool, form);
  const done = { rewrapped: 0, encrypted: 0 };
  const unreadable = new Set<string>();
  let left = 0;
  for (let pass = 1; pass <= MOST_PASSES; pass += 1) {
    left = 0;
    let changed = 0;
    for (const each of columns) {
      for await (const found of outdated(pool, each, form)) {
        const kind = await restore(pool, each, found, form);
        if (kind === "unreadable") unreadable.add(found.name);
        else if (kind === "changed") left += 1;
        else done[kind] += 1;
        if (kind !== "unreadable") changed += 1;
        replaced();
      }
    }
    // Only a pass that finds nothing shows that nothing was written meanwhile.
    if (changed === 0) break;
  }
  // Last: until then a start with the new key alone is refused. What no key of this process reads, the former one does not read either.
  if (!keepsState && left === 0) await moveKeyCheck(pool);
  return { ...done, unreadable: [...unreadable], left };
}

/** The texts that are not stored in a form under the first key. */
async function* outdated(pool: Pool, columns: SecretColumns, form: SealedForm): AsyncGenerator<SecretText> {
  const isPlain = form === "former" && columns.formerIs === "plain";
  for await (const found of readTexts(pool, columns, isPlain ? [] : sealedPrefixes([form]))) {
    if (!isPlain || found.text.startsWith(SEALED)) yield found;
  }
}

async function restore(
  pool: Pool,
  columns: SecretColumns,
  found: SecretText,
  form: SealedForm,
): Promise<"rewrapped" | "encrypted" | "changed" | "unreadable"> {
  const { name, text } = found;
  let replacement;
  try {
    const isPlain = form === "former" && columns.formerIs === "plain";
    replacement = isPlain ? openText(name, text) : resealText(name, text, form);
  } catch (error) {
    if (error instanceof SecretUnreadable) return "unreadable";
    throw error;
  }
  if (!(await replaceText(pool, columns, found, replacement))) return "changed";
  return isOfForm(text, replacement) ? "rewrapped" : "encrypted";
}

/** Whether both are envelopes: then the data stayed, and with it the length. */
function isOfForm(before: string, after: string): boolean {
  return before.startsWith(SEALED) && before.length === after.length && before.slice(-20) === after.slice(-20);
}
