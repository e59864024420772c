// What the command line answers without settings: its help, of everything, of a group or of one command.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { usages } from "../../src/commands/all-commands.ts";
import { answerAtOnce } from "../../src/commands/run.ts";
import { runSaldo } from "../setup/saldo-command.ts";

/** What is printed for these words; a code of null: they are no question for help. */
function answer(...words: string[]): { code: number | null; out: string; err: string } {
  const printed = { out: "", err: "" };
  const code = answerAtOnce(words, {
    out: (text) => void (printed.out += text),
    err: (text) => void (printed.err += text),
  });
  return { code, ...printed };
}

const namesIn = (text: string): string[] =>
  [...text.matchAll(/^ {2}saldo ([a-z- ]+?)(?: \[| --|$| [A-Z])/gm)].map(([, name = ""]) => name);
const ofKeys = usages.map(({ name }) => name).filter((name) => name.startsWith("key "));

it.each([["key"], ["key", "--help"], ["help", "key"]])(
  "%s %s lists the commands of the group, and no others",
  (...words) => {
    const { code, out, err } = answer(...words.filter((word) => word !== undefined));
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(namesIn(out)).toEqual(ofKeys);
    expect(ofKeys).toContain("key create");
  },
);

it("the commands of a group are one object with --json", () => {
  const { code, out } = answer("key", "--json");
  expect(code).toBe(0);
  const { commands } = JSON.parse(out) as { commands: { name: string }[] };
  expect(commands.map(({ name }) => name)).toEqual(ofKeys);
});

it("a group within a group is one, and the help of a command names those that begin with its words", () => {
  expect(namesIn(answer("payout", "journal").out)).toEqual(["payout journal list", "payout journal forget"]);
  const { out } = answer("help", "backup");
  expect(out).toContain("usage: saldo backup --to DIR");
  expect(namesIn(out)).toEqual(["backup verify", "backup prune"]);
});

it("a word behind a group that is none of its commands is refused with the group alone", async () => {
  const { code, stdout, stderr } = await runSaldo(["key", "make", "--json"], {});
  expect(code).toBe(2);
  const { error, message } = JSON.parse(stdout) as { error: string; message: string };
  expect({ error, message }).toEqual({ error: "usage", message: stderr.trimEnd() });
  expect(message).toMatch(/^There is no command "saldo key make"\.$/m);
  expect(namesIn(message)).toEqual(ofKeys);
});

it("a word that begins no command is refused in two lines, and help of it too", async () => {
  const expected = 'There is no command "saldo nonsense".\n\nsaldo help lists all commands.';
  expect((await runSaldo(["nonsense"], {})).stderr).toBe(`${expected}\n`);
  expect(answer("help", "nonsense")).toEqual({ code: 2, out: "", err: expected });
  expect(answer("nonsense")).toEqual({ code: null, out: "", err: "" });
  // A word that a terminal would act on.
  expect(answer("help", "\u001b[31m").err).not.toContain("\u001b");
});

it("a command that needs options is no group", () => {
  expect(answer("migrate").code).toBeNull();
  expect(answer("key", "list").code).toBeNull();
  expect(answer("key", "--account", "x").code).toBeNull();
});

it("the package has the command that is completed, and it starts from any folder", () => {
  const entry = packageJson.bin.saldo;
  const folder = mkdtempSync(join(tmpdir(), "saldo-bin-"));
  try {
    // As npm link does it.
    const command = join(folder, "saldo");
    symlinkSync(fileURLToPath(new URL(`../../${entry}`, import.meta.url)), command);
    const path = [dirname(process.execPath), process.env["PATH"]].join(delimiter);
    const printed = execFileSync(command, ["--version"], { cwd: folder, env: { PATH: path }, encoding: "utf8" });
    expect(printed).toBe(`${packageJson.version}\n`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
