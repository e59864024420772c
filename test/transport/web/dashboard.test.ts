// How the dashboard's files leave the server: which addresses are pages, what a page may load, what is kept for how long.

import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDashboard } from "../../../src/transport/web/dashboard.ts";
import { type Running, startServers } from "../fakes.ts";

const SCRIPT = 'document.documentElement.dataset.theme = "dark";';
const PAGE = `<!doctype html><html><head><script>${SCRIPT}</script></head><body><p>page</p><div id="root"></div></body></html>`;
const HTML = { accept: "text/html,application/xhtml+xml" };

const ROUTE = /const (\w+) = createRoute\(\{\s*getParentRoute: \(\) => (\w+),\s*(?:path: "([^"]+)")?/g;

/** The address of each route of the dashboard, with a value in place of each parameter. */
function addresses(): string[] {
  const files = globSync("{router.tsx,routes/*.ts}", {
    cwd: new URL("../../../src/dashboard/", import.meta.url).pathname,
  });
  const routes = files.flatMap((file) => {
    const text = readFileSync(new URL(`../../../src/dashboard/${file}`, import.meta.url), "utf8");
    return Array.from(text.matchAll(ROUTE), ([, name = "", parent = "", path = ""]) => ({ name, parent, path }));
  });
  const addressOf = (name: string): string => {
    const route = routes.find((each) => each.name === name);
    return route === undefined ? "" : `${addressOf(route.parent)}${route.path}`;
  };
  const all = routes.map(({ name }) =>
    addressOf(name).replace("$environment", "sandbox").replaceAll(/\$\w*/g, "value"),
  );
  return [...new Set(all)].filter((address) => address !== "").toSorted();
}

describe("the dashboard's files", () => {
  let folder: string;
  let running: Running;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "saldo-dashboard-"));
    await mkdir(join(folder, "assets"));
    await writeFile(join(folder, "index.html"), PAGE);
    await writeFile(join(folder, "welcome.html"), "<h1>welcome</h1>");
    await writeFile(join(folder, "assets/index-abc.js"), "plain");
    await writeFile(join(folder, "assets/index-abc.js.br"), brotliCompressSync("plain"));
    await writeFile(join(folder, "assets/index-abc.js.gz"), gzipSync("plain"));
    await writeFile(join(folder, "favicon.svg"), "<svg/>");
    const hasSession = (cookies: string): boolean => cookies.includes("session=");
    const dashboard = createDashboard({ folder: pathToFileURL(`${folder}/`), isDemo: true, hasSession });
    const snapshot = async () => ({ takenAtMs: 0, models: new Map(), upstreams: new Map() });
    running = await startServers({
      dashboard,
      docs: { catalog: { snapshot }, baseUrl: () => "https://saldo.example" },
    });
  });
  afterAll(async () => {
    await running.servers.close(0);
    await rm(folder, { recursive: true });
  });

  it.each([
    "/",
    "/sign-in",
    "/billing",
    "/billing/",
    "/operator/accounts/1",
    "/docs/errors",
    "/models/acme/large:v1.5",
    "/transfers/production/new",
  ])("%s is the page", async (path) => {
    const answer = await fetch(running.http + path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(await answer.text()).toContain("page");
  });

  it("the page is the answer at the address of each of its routes", async () => {
    const paths = addresses();
    expect(paths).toEqual(expect.arrayContaining(["/alerts", "/operator/accounts/value", "/transfers/sandbox/new"]));
    const missing: string[] = [];
    for (const path of paths)
      if ((await fetch(running.http + path, { headers: HTML })).status !== 200) missing.push(path);
    expect(missing).toEqual([]);
  });

  it("is not the answer to a program that asks for Markdown that is not there", async () => {
    const answer = await fetch(`${running.http}/docs/unknown.md`, { headers: { ...HTML, "accept-language": "en" } });
    expect(answer.status).toBe(404);
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await answer.text()).toBe("There is no such page. All pages are listed at https://saldo.example/llms.txt\n");
    const there = await fetch(`${running.http}/docs/errors.md`);
    expect([there.status, there.headers.get("content-type")]).toEqual([200, "text/markdown; charset=utf-8"]);
  });

  it.each(["/v1/chat/completions", "/v1/merchant-transfers/01a2/cancel", "/auth/sign-in/email"])(
    "is not the answer to a browser at %s, which takes other verbs",
    async (path) => {
      const answer = await fetch(running.http + path, { headers: HTML });
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
      expect(await answer.text()).toContain('"method_not_allowed"');
    },
  );

  it("allows a page no other origin and no script but its own", async () => {
    const { headers } = await fetch(`${running.http}/`);
    const policy = headers.get("content-security-policy") ?? "";
    const digest = createHash("sha256").update(SCRIPT).digest("base64");
    expect(policy).toContain(`script-src 'self' 'sha256-${digest}';`);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("shows a page for an unknown address to people, and an error to programs", async () => {
    for (const path of ["/no/such/place", "/transfers/elsewhere", "/transfers/elsewhere/new"]) {
      const person = await fetch(running.http + path, { headers: HTML });
      expect(person.status).toBe(404);
      expect(person.headers.get("content-type")).toBe("text/html; charset=utf-8");
    }
    const program = await fetch(`${running.http}/no/such/place`);
    expect(program.status).toBe(404);
    expect(await program.json()).toMatchObject({ error: "not_found" });
    const sent = await fetch(`${running.http}/no/such/place`, { method: "POST", headers: HTML });
    expect(await sent.json()).toMatchObject({ error: "not_found" });
  });

  it("sends assets packed, to be kept for ever, and the rest to be asked for again", async () => {
    const asset = await fetch(`${running.http}/assets/index-abc.js`, {
      headers: { "accept-encoding": "br" },
    });
    expect(asset.headers.get("content-encoding")).toBe("br");
    expect(await asset.text()).toBe("plain");
    expect(asset.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    for (const path of ["/favicon.svg", "/favicon.ico"]) {
      const icon = await fetch(running.http + path);
      expect([icon.status, icon.headers.get("content-type"), icon.headers.get("cache-control")]).toEqual([
        200,
        "image/svg+xml; charset=utf-8",
        "no-cache",
      ]);
    }
    expect((await fetch(`${running.http}/`)).headers.get("cache-control")).toBe("no-cache");
  });

  it.each([
    ["gzip, deflate, br", "br"],
    ["gzip, deflate", "gzip"],
    ["br;q=0, gzip;q=0.5", "gzip"],
    ["identity", null],
    ["", null],
  ])("packs for who takes %j", async (accepted, encoding) => {
    const asked = { headers: { "accept-encoding": accepted } };
    for (const [path, text] of [
      ["/", "<p>page</p>"],
      ["/assets/index-abc.js", "plain"],
    ] as const) {
      const answer = await fetch(running.http + path, asked);
      expect(answer.headers.get("content-encoding"), path).toBe(encoding);
      expect(answer.headers.get("vary"), path).toContain("accept-encoding");
      expect(await answer.text(), path).toContain(text);
    }
  });

  it.each(["/index.html", "/assets/index-abc.js.br", "/assets/index-gone.js", "/assets/..%2findex.html"])(
    "%s is not there",
    async (path) => expect((await fetch(running.http + path)).status).toBe(404),
  );

  it("marks the page of a demo, and only that", async () => {
    expect(await (await fetch(`${running.http}/`)).text()).toContain('<meta name="saldo-demo"');
    const real = createDashboard({ folder: pathToFileURL(`${folder}/`), isDemo: false, hasSession: () => true });
    const other = await startServers({ dashboard: real });
    const answer = await fetch(`${other.http}/`);
    expect(await answer.text()).toBe(PAGE);
    expect(answer.headers.get("strict-transport-security")).toBeNull();
    await other.servers.close(0);
  });

  it("marks the pages of a browser without a session, and welcomes it at the first page alone", async () => {
    const get = async (path: string, cookie = "") => {
      const answer = await fetch(running.http + path, { headers: { cookie } });
      expect(answer.headers.get("vary")).toContain("cookie");
      return answer.text();
    };
    const [mark, welcome] = ['<meta name="saldo-stranger"', '<div id="root"><h1>welcome</h1></div>'];
    for (const path of ["/", "/?from=mail"]) {
      const page = await get(path);
      expect(page.indexOf(mark)).toBeGreaterThan(0);
      expect(page.indexOf(mark)).toBeLessThan(page.indexOf("<script>"));
      expect(page).toContain(welcome);
    }
    const models = await get("/models/acme/large");
    expect([models.includes(mark), models.includes(welcome)]).toEqual([true, false]);
    const inside = await get("/", "a=b; session=1");
    expect([inside.includes(mark), inside.includes(welcome)]).toEqual([false, false]);
    expect((await fetch(`${running.http}/welcome.html`)).status).toBe(404);
  });

  it("is not there where it was not built, and everything else is", async () => {
    const none = createDashboard({ folder: pathToFileURL(`${folder}/nothing/`), isDemo: true, hasSession: () => true });
    expect(none).toBeNull();
  });
});
