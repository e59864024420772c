// The session in a real browser. No script can read it, no page of another site can use it, no attacker can fix it in
// advance, and it ends in every tab. The other site is another port of the same machine, to which browsers send the
// session's cookies.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Dashboard, openDashboard, type Visit } from "./open-dashboard.ts";

const CREATE_KEY = "/saldo.keys.v1.KeysService/CreateKey";
const GET_ME = "/saldo.accounts.v1.AccountsService/GetMe";
const STOLEN = '{"name":"stolen"}';

describe("the session of a browser", () => {
  let dashboard: Dashboard;
  let visit: Visit;
  let base: string;
  let elsewhere: string;
  const site = createServer((_request, response) => {
    response.setHeader("content-type", "text/html").end("<!doctype html><title>elsewhere</title>");
  });
  beforeAll(async () => {
    dashboard = await openDashboard();
    base = dashboard.saldo.httpUrl;
    await once(site.listen(0, "127.0.0.1"), "listening");
    elsewhere = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
    visit = await dashboard.signUp();
  });
  afterAll(async () => {
    site.close();
    site.closeAllConnections();
    await dashboard.close();
  });

  /** Calls a method from the open page, as a script of it could; returns the status, or that the browser forbids it. */
  const callFrom = (page: Page, path: string, options: Record<string, unknown>): Promise<unknown> =>
    page.evaluate(`fetch(${JSON.stringify(base + path)}, ${JSON.stringify({ credentials: "include", ...options })})
      .then((answer) => answer.status, () => "forbidden")`);
  const asJson = (body: string) => ({ method: "POST", headers: { "content-type": "application/json" }, body });

  /** The names of the keys, as the person's own page receives them. */
  const keyNames = () =>
    visit.page.evaluate<string>(
      `fetch("/saldo.keys.v1.KeysService/ListKeys", { method: "POST", headers: { "content-type": "application/json" }, body: "{}" })
        .then((answer) => answer.text())`,
    );

  it("is in a cookie that scripts cannot read, and nowhere else", async () => {
    const { page, context } = visit;
    const session = (await context.cookies()).find(({ name }) => name.endsWith("saldo_session"));
    expect(session).toMatchObject({ httpOnly: true, sameSite: "Lax", path: "/" });
    const [token = ""] = decodeURIComponent(session?.value ?? "").split(".");
    expect(token.length).toBeGreaterThan(20);
    const reach =
      "JSON.stringify([document.cookie, localStorage, sessionStorage, history.state, document.documentElement.outerHTML])";
    expect(await page.evaluate<string>(reach)).not.toContain(token);
    expect(await page.evaluate("document.cookie")).not.toContain("session");
  });

  it("works for our own page", async () => {
    await visit.page.goto(base);
    expect(await callFrom(visit.page, CREATE_KEY, asJson('{"name":"key of the owner"}'))).toBe(200);
    expect(await keyNames()).toContain('"key of the owner"');
  });

  it.each([
    { how: "as JSON", path: CREATE_KEY, options: asJson(STOLEN), outcome: "forbidden" },
    {
      how: "as text, without asking",
      path: CREATE_KEY,
      options: { method: "POST", mode: "no-cors", body: STOLEN },
      outcome: "forbidden",
    },
    {
      how: "as a form, without asking",
      path: "/auth/sign-out",
      options: {
        method: "POST",
        mode: "no-cors",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: "a=b",
      },
      outcome: "forbidden",
    },
    {
      how: "to end sessions",
      path: "/auth/revoke-sessions",
      options: { method: "POST", mode: "no-cors" },
      outcome: "forbidden",
    },
    { how: "to read", path: `${GET_ME}?connect=v1&encoding=json&message=%7B%7D`, options: {}, outcome: "forbidden" },
  ])("does not work for a script of another site: $how", async ({ path, options, outcome }) => {
    const page = await visit.context.newPage();
    const statuses: number[] = [];
    page.on("response", (response) => {
      if (response.url().startsWith(base)) statuses.push(response.status());
    });
    await page.goto(elsewhere);
    expect(await callFrom(page, path, options)).toBe(outcome);
    await page.close();
    expect(await keyNames()).not.toContain("stolen");
    expect(statuses.filter((status) => status < 400)).toEqual([]);
  });

  it.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])(
    "does not work for a form of another site that is sent as %s",
    async (type) => {
      const answers: number[] = [];
      for (const path of [CREATE_KEY, "/auth/sign-out"]) {
        const page = await visit.context.newPage();
        page.on("response", (response) => {
          if (response.url() === base + path) answers.push(response.status());
        });
        await page.goto(elsewhere);
        await page.evaluate(submit(type, path));
      }
      await expect.poll(() => answers.length).toBe(2);
      expect(answers.filter((status) => status < 400)).toEqual([]);
      expect(await keyNames()).not.toContain("stolen");
    },
  );

  /** A form whose one field makes JSON of its name, the equals sign and its value. */
  const submit = (enctype: string, path: string): string => `(() => {
    const form = document.createElement("form");
    Object.assign(form, { method: "POST", enctype: "${enctype}", action: "${base}${path}" });
    form.append(Object.assign(document.createElement("input"), { name: '{"name":"stolen","x":"', value: '"}' }));
    document.body.append(form);
    setTimeout(() => form.submit());
  })()`;

  it("is not shown in a frame of another site", async () => {
    const page = await visit.context.newPage();
    await page.goto(elsewhere);
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement("iframe"), { src: "${base}/keys" }))`,
    );
    await expect
      .poll(() =>
        page
          .frames()
          .map((frame) => frame.url())
          .join(" "),
      )
      .toContain("chrome-error:");
    await page.close();
  });

  it("is a new one at every sign-in, whatever cookie the browser had before", async () => {
    const fresh = await dashboard.visit("/sign-in");
    const brought = (await visit.context.cookies()).filter(({ name }) => name.endsWith("saldo_session"));
    await fresh.context.addCookies(brought);
    await fresh.page.getByRole("button", { name: /demo/i }).click();
    await fresh.page.getByRole("navigation", { name: "Navigasi utama" }).waitFor();
    const now = (await fresh.context.cookies()).filter(({ name }) => name.endsWith("saldo_session"));
    expect(now).toHaveLength(1);
    expect(now[0]?.value).not.toBe(brought[0]?.value);
    await fresh.context.close();
  });

  it("ends in every tab, and a copied cookie does not work any more", async () => {
    const { page, context } = visit;
    const kept = await context.cookies();
    const other = await context.newPage();
    await other.goto(`${base}/keys`);
    await other.getByRole("heading", { level: 1 }).waitFor();
    await page.goto(base);
    await page.getByRole("button", { name: "Keluar" }).click();
    await page.waitForURL(/\/sign-in/);
    await other.getByRole("link", { name: "Pemakaian" }).first().click();
    await other.waitForURL(/\/sign-in/);
    const thief = await dashboard.visit("/sign-in");
    await thief.context.addCookies(kept);
    await thief.page.goto(`${base}/keys`);
    await thief.page.waitForURL(/\/sign-in/);
    expect(await thief.page.content()).not.toContain("key of the owner");
  });
});
