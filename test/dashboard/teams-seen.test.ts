// What members see of a shared account, in both languages: the own budget and its refusals, pages that are not for their role, a switch in
// another tab, who made a key, and roles on a phone.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";

const TEXTS = {
  id: {
    budget: "Anggaran Anda",
    perMonth: /Rp\s1\/bulan/,
    left: /terpakai Rp\s0 · sisa Rp\s1/,
    shared: "dipakai bersama semua anggota",
    message: "Pesan",
    refused: "Anggaran Anda tidak cukup untuk permintaan ini",
    needed: /Sisa Rp\s1 · Dibutuhkan Rp\s[\d.,]*[1-9]/,
    again: /Anggaran mulai lagi pada .*\d{4}.* WIB/,
    ask: "minta pemilik atau admin akun menaikkan anggaran",
    frozen: "Akun ini dibekukan operator layanan.",
    notForRole: "Halaman ini bukan untuk peran Anda",
    failed: "Bagian ini gagal dimuat",
    name: "Nama",
    create: "Buat kunci",
    secret: "Kunci rahasia",
    copied: "Sudah saya salin",
    account: "Akun",
    switched: "Akun diganti di tab lain.",
    reload: "Muat ulang halaman ini",
    playgroundOf: "Playground milik",
    madeBy: "Dibuat oleh",
    key: "Kunci",
    developer: "Pengembang",
    byMember: "Per anggota per hari",
    memberColumn: "Anggota",
  },
  en: {
    budget: "Your budget",
    perMonth: /Rp\s1\/month/,
    left: /spent Rp\s0 · left Rp\s1/,
    shared: "shared by all members",
    message: "Message",
    refused: "Your budget is too low for this request",
    needed: /Left Rp\s1 · Needed Rp\s[\d.,]*[1-9]/,
    again: /The budget begins again on .*\d{4}.* WIB/,
    ask: "ask an owner or admin of the account to raise the budget",
    frozen: "The operator of the service has frozen this account.",
    notForRole: "This page is not for your role",
    failed: "This part could not be loaded",
    name: "Name",
    create: "Create key",
    secret: "Secret key",
    copied: "I have copied it",
    account: "Account",
    switched: "The account was switched in another tab.",
    reload: "Reload this page",
    playgroundOf: "Playground of",
    madeBy: "Made by",
    key: "Key",
    developer: "Developer",
    byMember: "By member and day",
    memberColumn: "Member",
  },
} as const;

const DEMO_ACCOUNT = "SELECT account_id FROM customer WHERE email = 'demo@saldo.example'";

describe.each(["id", "en"] as const)("a member of a shared account (%s)", (language) => {
  const texts = TEXTS[language];
  let dashboard: Dashboard;
  let owner: Page;
  let member: Awaited<ReturnType<Dashboard["signUp"]>>;
  const refusals: string[] = [];
  beforeAll(async () => {
    dashboard = await openDashboard();
    ({ page: owner } = await dashboard.visitDemo("/members", { locale: language === "id" ? "id-ID" : "en-GB" }));
    member = await dashboard.signUp();
    member.page.on("response", (response) => {
      if (response.status() === 403) refusals.push(response.url());
    });
    await member.page.evaluate(`localStorage.setItem("saldo.language", "${language}")`);
    await become("developer");
    const budget = `SELECT set_member_budget((${DEMO_ACCOUNT}), (SELECT id FROM auth.person WHERE email = $1), 1000000, 'month')`;
    await dashboard.changeRows(budget, [member.email]);
  });
  afterAll(async () => {
    expectNoComplaints(dashboard);
    await dashboard.close();
  });

  /** Gives the person a role in the demo's account, for which the sessions then act. */
  async function become(role: string): Promise<void> {
    await dashboard.changeRows(
      `INSERT INTO account_member (account_id, person_id, role) SELECT (${DEMO_ACCOUNT}), id, $2 FROM auth.person WHERE email = $1
       ON CONFLICT (account_id, person_id) DO UPDATE SET role = excluded.role`,
      [member.email, role],
    );
    await dashboard.changeRows(
      `UPDATE auth.session SET acts_for = (${DEMO_ACCOUNT}) WHERE user_id = (SELECT id FROM auth.person WHERE email = $1)`,
      [member.email],
    );
  }
  const open = (path: string) => member.page.goto(dashboard.saldo.httpUrl + path);
  const ask = async () => {
    await member.page.getByLabel(texts.message, { exact: true }).fill("Halo");
    await member.page.keyboard.press("Enter");
  };

  it.each(["/", "/keys", "/playground?model=demo%2Flarge"])(
    "sees the own budget at %s, and is refused no call",
    async (path) => {
      await open(path);
      const card = member.page.locator("section").filter({ hasText: texts.budget });
      await expect.poll(() => card.innerText()).toMatch(texts.perMonth);
      expect(await card.innerText()).toMatch(texts.left);
      if (path === "/") await member.page.getByText(texts.shared).waitFor();
      expect(refusals).toEqual([]);
    },
  );

  it("learns in the playground why a budget refuses, until when, and whom to ask", async () => {
    await open("/playground?model=demo%2Flarge");
    await ask();
    const card = member.page.getByRole("alert").filter({ hasText: texts.refused });
    await expect.poll(() => card.innerText()).toMatch(texts.needed);
    expect(await card.innerText()).toMatch(texts.again);
    expect(await card.innerText()).toContain(texts.ask);
  });

  it("learns in the playground that the account is frozen", async () => {
    await open("/playground?model=demo%2Fsmall");
    await dashboard.changeRows(`UPDATE account SET frozen_at = now() WHERE id = (${DEMO_ACCOUNT})`);
    await ask();
    await member.page.getByRole("alert").filter({ hasText: texts.frozen }).waitFor();
    await dashboard.changeRows(`UPDATE account SET frozen_at = NULL WHERE id = (${DEMO_ACCOUNT})`);
    expect(await member.page.getByRole("alert").count()).toBe(1);
  });

  it("keeps a secret that is shown once when another tab switches the account, and stays on the page", async () => {
    const { page, context } = member;
    await open("/keys?create=true");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel(texts.name, { exact: true }).fill("kept");
    await dialog.getByRole("button", { name: texts.create }).click();
    const secret = await dialog
      .getByText(/gw_\w{20,}/)
      .first()
      .textContent();
    const other = await context.newPage();
    await other.goto(`${dashboard.saldo.httpUrl}/settings`);
    await other.getByLabel(texts.account, { exact: true }).selectOption({ label: member.email });
    await page.getByText(texts.switched).waitFor({ state: "attached" });
    expect(
      await dialog
        .getByText(/gw_\w{20,}/)
        .first()
        .textContent(),
    ).toBe(secret);
    await dialog.getByRole("button", { name: texts.copied, exact: true }).click();
    await page.getByRole("button", { name: texts.reload }).click();
    await expect
      .poll(() => page.getByLabel(texts.account, { exact: true }).locator("option:checked").textContent())
      .toBe(member.email);
    expect(new URL(page.url()).pathname).toBe("/keys");
    expect(await page.getByText(texts.switched).count()).toBe(0);
    await other.close();
    await become("developer");
  });

  it("is distinguished by others: makers of keys and playgrounds, and roles on a phone", async () => {
    await owner.goto(`${dashboard.saldo.httpUrl}/playground?model=demo%2Fsmall`);
    await owner.getByLabel(texts.message, { exact: true }).fill("Halo !tokens=5");
    await owner.keyboard.press("Enter");
    await owner.getByTestId("cost").waitFor();
    await owner.goto(`${dashboard.saldo.httpUrl}/keys`);
    for (const email of ["demo@saldo.example", member.email])
      await owner.getByRole("heading", { name: `${texts.playgroundOf} ${email}` }).waitFor();
    await owner.getByRole("columnheader", { name: texts.madeBy }).waitFor();
    await owner.getByRole("row").filter({ hasText: "kept" }).getByRole("cell", { name: member.email }).waitFor();
    await owner.goto(`${dashboard.saldo.httpUrl}/usage?by=key`);
    const names = owner.getByLabel(texts.key, { exact: true }).locator("option");
    for (const email of ["demo@saldo.example", member.email])
      await expect.poll(() => names.allTextContents()).toContain(`Playground (${email})`);
    await owner.getByRole("listitem").filter({ hasText: "Playground (demo@saldo.example)" }).first().waitFor();
    await owner.goto(`${dashboard.saldo.httpUrl}/usage?by=member`);
    const days = owner.getByRole("table", { name: texts.byMember });
    await days.getByRole("columnheader", { name: texts.memberColumn }).waitFor();
    await days.getByRole("cell", { name: "demo@saldo.example", exact: true }).waitFor();
    await owner.setViewportSize({ width: 360, height: 780 });
    expect(await owner.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
    await owner.goto(`${dashboard.saldo.httpUrl}/members`);
    const role = owner
      .getByRole("row")
      .filter({ hasText: member.email })
      .getByText(texts.developer)
      .filter({ visible: true });
    const box = await role.boundingBox();
    expect((box?.x ?? 999) + (box?.width ?? 0)).toBeLessThanOrEqual(360);
  });

  it("reads amounts of the overview on one line at 360 px", async () => {
    await open("/");
    await member.page.setViewportSize({ width: 360, height: 780 });
    const amount = member.page.getByText(/^Rp\s[\d.,]{9,}$/).first();
    await amount.waitFor();
    // A line is 24 px high.
    expect((await amount.boundingBox())?.height).toBeLessThan(40);
    await member.page.setViewportSize({ width: 1280, height: 900 });
  });

  it.each([
    ["billing", ["/usage", "/keys", "/members", "/playground"]],
    ["viewer", ["/playground"]],
    ["developer", ["/billing", "/alerts", "/members"]],
  ])("with the role %s reads the role's sentence on pages that it may not read", async (role, paths) => {
    await become(role);
    for (const path of paths) {
      await open(path);
      await member.page.getByRole("heading", { level: 1, name: texts.notForRole }).waitFor();
      expect(await member.page.getByText(texts.failed).count()).toBe(0);
    }
  });
});
