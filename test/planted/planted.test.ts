// Does the net still hold? Here: every planted bug still applies, and its test is still there; two of them are really planted.
// All of them are by `npm run planted-bugs`.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ARITHMETIC_BUGS } from "./bugs/arithmetic.ts";
import { PLANTED_BUGS } from "./bugs/bugs.ts";
import { edited, hasNoticed, root, Workshop } from "./workshop.ts";

const read = (file: string): string => readFileSync(join(root, file), "utf8");

describe("planted bugs", () => {
  it.each(PLANTED_BUGS.map((bug) => [bug.name, bug] as const))("can be planted: %s", (_name, { edits, noticedBy }) => {
    for (const edit of edits) expect(edited(read(edit.file), edit)).not.toBe(read(edit.file));
    expect(read(noticedBy.file)).toContain(noticedBy.test);
  });

  it("are noticed by the test meant alone, and not where the planted code cannot run", () => {
    const bug = { name: "b", edits: [], noticedBy: { file: "f.test.ts", test: "adds" } };
    const noticed = (failed: readonly string[], broken: readonly string[] = []) =>
      hasNoticed(bug, { passed: 1, failed, broken, output: "" });
    expect(noticed(["sum ends", "sum adds"])).toBe(true);
    expect([noticed([]), noticed(["sum ends"]), noticed(["sum adds"], ["sum adds"])]).toEqual([false, false, false]);
  });

  describe("are found in a file", () => {
    const edit = { file: "f.ts", find: "if (isPaid(order, at)) return { ok: true };\n", replace: "" };
    const found = (text: string): string => edited(text, edit).trim();

    it.each([
      ["as they are written", "if (isPaid(order, at)) return { ok: true };"],
      ["in another layout", "if (\n  isPaid(\n    order,\n    at,\n  )\n)\n  return {\n    ok: true,\n  };"],
    ])("%s", (_layout, text) => {
      expect(found(`let a;\n${text}\nlet b;`)).toMatch(/^let a;\s+let b;$/);
    });

    it.each([
      ["with another name", "if (isPaid(order, that)) return { ok: true };"],
      ["as a part of a name", "elif (isPaid(order, at)) return { ok: true };"],
      ["without one of its signs", "if (isPaid(order at)) return { ok: true };"],
      ["twice", `${edit.find}${edit.find}`],
    ])("not %s", (_difference, text) => {
      expect(() => found(text)).toThrow("and not once");
    });
  });

  describe("in a copy of the checkout", () => {
    let workshop: Workshop;
    beforeAll(() => {
      workshop = Workshop.open();
    });
    afterAll(() => workshop.close());
    const config = "test/planted/vitest.config.ts";

    it.each(ARITHMETIC_BUGS.slice(0, 2).map((bug) => [bug.name, bug] as const))(
      "are noticed: %s",
      async (_name, bug) => {
        const sound = await workshop.run([bug.noticedBy.file], config);
        expect(sound).toMatchObject({ failed: [] });
        const run = await workshop.runWith(bug, config);
        expect(hasNoticed(bug, run), run.output).toBe(true);
      },
    );
  });
});
