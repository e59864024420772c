// Compares the packages of the lock file with published advisories: those of a committed snapshot, and those that the registry
// knows now, where it answers. Without an answer the snapshot alone decides, so that no outage of a registry stops a build.
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import semver from "semver";
import { root, run } from "./commands.mjs";

const SNAPSHOT = `${root}/.ci/advisories.json`;
const ANSWER_WITHIN_MS = 8_000;

/** The versions of each package that the lock file names: `{name: [version]}`. */
export function lockedVersions(lock) {
  const versions = {};
  for (const [path, { version, name }] of Object.entries(lock.packages)) {
    if (path === "" || version === undefined) continue;
    (versions[name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)] ??= new Set()).add(
      version,
    );
  }
  return Object.fromEntries(Object.entries(versions).map(([name, found]) => [name, [...found]]));
}

/**
 * A sentence for each locked version that an advisory names, but for those accepted: `{id, reason, until}`, which count until
 * the day `until` is over.
 */
export function findVulnerable(versions, { advisories, accepted }, today) {
  const isAccepted = (id) => accepted.some((entry) => entry.id === id && entry.reason !== "" && entry.until >= today);
  return advisories.flatMap(({ id, package: name, vulnerable, severity }) =>
    (versions[name] ?? [])
      .filter((version) => semver.satisfies(version, vulnerable, { includePrerelease: true }) && !isAccepted(id))
      .map((version) => `${name} ${version} has the ${severity} advisory ${id} (vulnerable: ${vulnerable})`),
  );
}

/** What the registry answers, in the form of the snapshot; null where it does not answer with advisories. */
export async function askRegistry(registry, versions) {
  try {
    const response = await fetch(new URL("-/npm/v1/security/advisories/bulk", registry), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(versions),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    if (!response.ok) return null;
    return Object.entries(await response.json()).flatMap(([name, found]) =>
      found.map(({ id, url, severity, vulnerable_versions: vulnerable }) => ({
        id: url?.split("/").at(-1) ?? String(id),
        package: name,
        vulnerable,
        severity,
      })),
    );
  } catch {
    return null;
  }
}

async function main() {
  const snapshot = JSON.parse(readFileSync(SNAPSHOT, "utf8"));
  const versions = lockedVersions(JSON.parse(readFileSync(`${root}/package-lock.json`, "utf8")));
  const registry = run("npm", ["config", "get", "registry"]).stdout.trim();
  const known = await askRegistry(registry, versions);
  const today = new Date().toISOString().slice(0, 10);
  if (process.argv.includes("--update")) {
    if (known === null) throw new Error("The registry answers no audits, so the snapshot stays as it is.");
    const updated = { ...snapshot, takenAt: today, note: "What the registry answered.", advisories: known };
    writeFileSync(SNAPSHOT, `${JSON.stringify(updated, undefined, 2)}\n`);
  }
  const advisories = [...snapshot.advisories, ...(known ?? [])];
  const problems = [...new Set(findVulnerable(versions, { ...snapshot, advisories }, today))];
  for (const problem of problems) console.log(problem);
  const sources = `the snapshot of ${snapshot.takenAt}${known === null ? "; the registry did not answer" : " and the registry"}`;
  console.log(`${problems.length} advisories for ${Object.keys(versions).length} packages, by ${sources}.`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
