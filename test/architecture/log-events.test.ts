// Lines of the log have ids that alerts are written on. The type EventLogger demands one; this list names them.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const sources = globSync("src/**/*.ts", { cwd: root, exclude: ["src/dashboard", "**/*.test.ts"] });

/** The ids of a text, `…` for the part that is inserted. */
function idsOf(text: string): string[] {
  const ids = text.matchAll(/\bevent: (?:"([a-z_]+(?:\.[a-z_]+)+)"|`([a-z_]+)\.\$\{[^}]*\}`)/g);
  return Array.from(ids, ([, whole, subject = ""]) => whole ?? `${subject}.…`);
}

it("finds the id of an event, also where a part is inserted", () => {
  expect(idsOf('logger.warn({ event: "ledger.audit.violation", audit }, "violations")')).toEqual([
    "ledger.audit.violation",
  ]);
  expect(idsOf("logger.warn({ event: `gateway.${kind}` }, kind)")).toEqual(["gateway.…"]);
  expect(idsOf('report({ event: "clicked" })')).toEqual([]);
});

it("the README of observability names every event of the log, and no other", () => {
  const [events = ""] = read("src/app/observability/README.md").split("## Alarms");
  const named = Array.from(events.matchAll(/`([a-z_]+\.(?:…|[a-z_.]+))`/g), ([, id = ""]) => id).filter(
    (id) => !id.endsWith(".ts"),
  );
  const logged = sources.flatMap((path) => idsOf(read(path)));
  expect(logged.length).toBeGreaterThan(25);
  expect([...new Set(named)].toSorted()).toEqual([...new Set(logged)].toSorted());
});

it("only the log's own file takes a logger that accepts lines without an id", () => {
  expect(sources.filter((path) => /from "pino"/.test(read(path)))).toEqual(["src/app/observability/log.ts"]);
});
