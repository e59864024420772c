// A terminal with a person in front of it, who presses keys once the screen shows what they answer.

import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";

/** Keys to press, and what the screen has to show before. */
export type Step = { readonly at: string; readonly keys: string };

/** A terminal for the wizard, what its screen has shown so far, and the steps that are left. */
export function pressing(steps: readonly Step[]) {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input });
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 120, rows: 40 });
  const left = [...steps];
  let screen = "";
  let seen = 0;
  output.on("data", (piece: Buffer) => {
    screen += piece.toString();
    const [step] = left;
    const at = step === undefined ? -1 : stripVTControlCharacters(screen).indexOf(step.at, seen);
    if (step === undefined || at === -1) return;
    left.shift();
    seen = stripVTControlCharacters(screen).length;
    // The question has to be listening before the first key comes.
    setImmediate(() => input.write(step.keys));
  });
  return { terminal: { input, output }, screen: () => stripVTControlCharacters(screen), left };
}
