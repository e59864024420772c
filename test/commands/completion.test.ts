// Completion by a real bash: the words before the cursor are given to it as Readline does.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { usages } from "../../src/commands/all-commands.ts";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";

let folder: string;
let script: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "saldo-completion-"));
  writeFileSync(join(folder, "catalog.yaml"), "");
  mkdirSync(join(folder, "backups"));
  script = (await saldoJson(["completion", "bash"], {}))["script"] ?? "";
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What bash offers behind these words; the last one is the one at the cursor. */
function offered(...words: string[]): string[] {
  const drive = `
eval "$SCRIPT"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
complete -p saldo >/dev/null && _saldo saldo
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const printed = execFileSync("bash", ["--norc", "-c", drive, "bash", "saldo", ...words], {
    cwd: folder,
    env: { ...process.env, SCRIPT: script },
    encoding: "utf8",
  });
  return [...new Set(printed.split("\n").filter((line) => line !== ""))].toSorted();
}

it("bash completes the first word of a command, and the words behind it", () => {
  expect(offered("acc")).toEqual(["account"]);
  expect(offered("")).toEqual([...new Set(usages.map(({ name }) => name.split(" ")[0] ?? ""))].toSorted());
  expect(offered("account", "")).toEqual([
    "create",
    "credit",
    "freeze",
    "limit",
    "list",
    "recount",
    "show",
    "unfreeze",
    "update",
  ]);
  expect(offered("payout", "journal", "f")).toEqual(["forget"]);
  // A command that is the beginning of another one.
  expect(offered("backup", "v")).toEqual(["verify"]);
});

it("bash completes the command that help is asked of", () => {
  expect(offered("help", "")).toEqual(offered("").filter((word) => word !== "--version"));
  expect(offered("help", "serv")).toEqual(["serve", "service-token"]);
  expect(offered("help", "payout", "journal", "")).toEqual(["forget", "list"]);
  // The options of a command are none of its help.
  expect(offered("help", "key", "create", "")).toEqual([]);
  expect(offered("help", "key", "create", "-")).toEqual(["--json"]);
});

it("bash completes the options of a command", () => {
  expect(offered("account", "show", "")).toEqual(["--account", "--json"]);
  expect(offered("key", "create", "--account", "id", "--bud")).toEqual(["--budget", "--budget-period"]);
  expect(offered("person", "sign-out", "someone@example.com", "--r")).toEqual(["--reason"]);
});

it("bash completes the values of an option, also behind an equals sign", () => {
  expect(offered("key", "create", "--budget-period", "")).toEqual(["day", "month", "total"]);
  expect(offered("margin", "--by", "up")).toEqual(["upstream"]);
  expect(offered("margin", "--by", "=", "up")).toEqual(["upstream"]);
  expect(offered("margin", "--by", "=")).toContain("upstream");
  expect(offered("merchant", "create", "--environment", "s")).toEqual(["sandbox"]);
  expect(offered("completion", "")).toEqual(["bash", "fish", "zsh"]);
});

it("bash completes files and folders where a command takes one, and nothing where only the user knows the value", () => {
  expect(offered("catalog", "apply", "cat")).toEqual(["catalog.yaml"]);
  expect(offered("backup", "--to", "")).toEqual(["backups"]);
  expect(offered("account", "show", "--account", "")).toEqual([]);
});

it("every command and option of the help is completed", () => {
  for (const { name, options } of usages) {
    const words = name.split(" ");
    expect(offered(...words), name).toContain(words.at(-1));
    const known = [...Object.keys(options), "json"].map((option) => `--${option}`).toSorted();
    expect(offered(...words, "-"), name).toEqual(known);
  }
});

it.each(["zsh", "fish"])(
  "the script of %s has every command, and a shell without a script is refused",
  async (shell) => {
    const { stdout } = await runSaldo(["completion", shell], {});
    for (const { name } of usages) expect(stdout).toContain(`'${name}'`);
    expect(await runSaldo(["completion", "tcsh"], {})).toMatchObject({ code: 2, stdout: "" });
  },
);
