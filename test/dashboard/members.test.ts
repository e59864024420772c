// Members of an account in the browser: invited by mail, seeing what the role allows, switching accounts, and removed.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { limitAccount } from "../../src/operator/commands/accounts.ts";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";

type Person = Awaited<ReturnType<Dashboard["signUp"]>>;

describe("members of an account", () => {
  let dashboard: Dashboard;
  let owner: Person;
  let developer: Person;
  beforeAll(async () => {
    dashboard = await openDashboard();
    owner = await dashboard.signUp();
    developer = await dashboard.signUp();
  });
  afterAll(async () => {
    expectNoComplaints(dashboard);
    await dashboard.close();
  });

  const open = async ({ page }: Person, path: string) => {
    await page.goto(dashboard.saldo.httpUrl + path);
  };
  const navigation = ({ page }: Person) => page.getByRole("navigation", { name: "Navigasi utama" });
  const links = (person: Person) => navigation(person).getByRole("link").allTextContents();

  it("are invited by an owner, by mail", async () => {
    const { page } = owner;
    await navigation(owner).getByRole("link", { name: "Anggota" }).click();
    await page.getByRole("button", { name: "Undang anggota" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Kirim undangan" }).click();
    await dialog.getByText("Masukkan alamat e-mail.").waitFor();
    await dialog.getByLabel("Alamat e-mail").fill(developer.email);
    await dialog.getByLabel("Peran").selectOption({ label: "Pengembang" });
    await dialog.getByRole("button", { name: "Kirim undangan" }).click();
    await page.getByRole("table", { name: "Undangan terbuka" }).getByText(developer.email).waitFor();
    await page.getByRole("table", { name: "Catatan aktivitas" }).getByText("Mengundang anggota").waitFor();
    expect(await page.getByRole("table", { name: "Anggota akun ini" }).getByRole("row").count()).toBe(2);
  });

  it("accept by the link, and see what their role allows and nothing else", async () => {
    const { page } = developer;
    await page.goto(await dashboard.mails.linkTo(developer.email, /\/invite\?token=/));
    await page.getByText(owner.email).first().waitFor();
    await page.getByRole("button", { name: "Terima undangan" }).click();
    await page.getByLabel("Akun", { exact: true }).waitFor();
    await expect
      .poll(() => page.getByLabel("Akun", { exact: true }).locator("option:checked").textContent())
      .toBe(owner.email);
    await navigation(developer).getByText("Pengembang").or(page.getByText("Pengembang")).first().waitFor();
    await expect
      .poll(() => links(developer))
      .toEqual([
        "Ringkasan",
        "Pemakaian",
        "Model",
        "Playground",
        "Kunci API",
        "Dokumentasi",
        "Status layanan",
        "Pengaturan",
      ]);
    await open(developer, "/settings");
    await page.getByRole("heading", { name: "Pengaturan" }).waitFor();
    await expect.poll(() => page.getByText("Percobaan ulang").count()).toBe(0);
  });

  it("make keys that the owner sees with the member's number of keys", async () => {
    const { page } = developer;
    await open(developer, "/keys?create=true");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Nama", { exact: true }).fill("kunci pengembang");
    await dialog.getByRole("button", { name: "Buat kunci" }).click();
    await page.getByRole("button", { name: "Sudah saya salin" }).click();
    await page.getByRole("button", { name: "Ubah: kunci pengembang" }).click();
    await dialog.getByLabel("Nama", { exact: true }).waitFor();
    // The limits are for owners.
    expect(await dialog.getByText("Batasi kunci ini").count()).toBe(0);
    await page.keyboard.press("Escape");
    await open(owner, "/members");
    const row = owner.page.getByRole("row").filter({ hasText: developer.email }).first();
    await row.getByRole("cell", { name: "1", exact: true }).waitFor();
    await owner.page.getByRole("table", { name: "Catatan aktivitas" }).getByText("kunci pengembang").waitFor();
  });

  it("get a budget for all of their keys, which the page shows with what was spent", async () => {
    const { page } = owner;
    await page.getByRole("button", { name: `Atur anggaran: ${developer.email}` }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Anggaran (Rp)").fill("dua");
    await dialog.getByRole("button", { name: "Simpan" }).click();
    await dialog.getByText("Tulis angka saja").waitFor();
    await dialog.getByLabel("Anggaran (Rp)").fill("50000");
    await dialog.getByLabel("Periode").selectOption({ label: "Per bulan" });
    await dialog.getByRole("button", { name: "Simpan" }).click();
    await dialog.waitFor({ state: "detached" });
    const row = page.getByRole("table", { name: "Anggota akun ini" }).getByRole("row");
    const member = row.filter({ hasText: developer.email });
    await member.getByText("Rp 50.000/bulan").filter({ visible: true }).waitFor();
    await member.getByText("terpakai Rp 0 · sisa Rp 50.000").filter({ visible: true }).waitFor();
    await page.getByRole("table", { name: "Catatan aktivitas" }).getByText("Mengatur anggaran anggota").waitFor();
    expect(await member.getByText("mulai lagi").count()).toBeGreaterThan(0);
  });

  it("switch to their own account and back", async () => {
    const { page } = developer;
    await page.getByLabel("Akun", { exact: true }).selectOption({ label: developer.email });
    await navigation(developer).getByRole("link", { name: "Anggota" }).waitFor();
    await open(developer, "/keys");
    await page.getByText("Belum ada kunci").first().waitFor();
    await page.getByLabel("Akun", { exact: true }).selectOption({ label: owner.email });
    await expect.poll(() => links(developer)).not.toContain("Anggota");
    await open(developer, "/keys");
    await page.getByText("kunci pengembang").first().waitFor();
  });

  it("see what an operator changed, in both languages and without the operator", async () => {
    const { database } = dashboard.database;
    const { rows } = await database.pool.query<{ id: string }>(
      "SELECT account_id AS id FROM customer WHERE email = $1",
      [owner.email],
    );
    const by = { database, operator: "ani@operators.example" };
    await limitAccount(by, { accountId: rows[0]?.id ?? "", most: 7, reason: "a secret of operators" });
    const { page } = owner;
    await open(owner, "/members");
    const line = (name: string) => page.getByRole("table", { name }).getByRole("row").nth(1);
    await line("Catatan aktivitas").getByText("Operator Saldo").waitFor();
    await line("Catatan aktivitas").getByText("Mengatur batas permintaan bersamaan").waitFor();
    await page.evaluate(`localStorage.setItem("saldo.language", "en")`);
    await page.reload();
    await line("Activity log").getByText("Saldo operator").waitFor();
    await line("Activity log").getByText("Set the limit of requests at once").waitFor();
    expect(await page.getByText(/operators\.example|a secret of operators/).count()).toBe(0);
    await page.evaluate(`localStorage.setItem("saldo.language", "id")`);
    await page.reload();
    await page.getByRole("table", { name: "Anggota akun ini" }).waitFor();
  });

  it("lose access when they are removed, and their keys are revoked", async () => {
    const { page } = owner;
    await page.getByRole("button", { name: `Keluarkan anggota: ${developer.email}` }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Keluarkan anggota" }).click();
    // While the dialog is open the table has no role, so it would count as empty before the removal.
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("table", { name: "Anggota akun ini" }).waitFor();
    await expect
      .poll(() => page.getByRole("table", { name: "Anggota akun ini" }).getByText(developer.email).count())
      .toBe(0);
    await open(developer, "/keys");
    await developer.page.getByRole("heading", { name: "Anda bukan anggota akun ini lagi" }).waitFor();
    await developer.page.getByLabel("Akun", { exact: true }).selectOption({ label: developer.email });
    await navigation(developer).getByRole("link", { name: "Anggota" }).waitFor();
    await open(owner, "/keys");
    await page.getByRole("row").filter({ hasText: "kunci pengembang" }).getByText("Dicabut").waitFor();
  });

  it("are invited, see what their role allows, and are removed, in English", async () => {
    const { page } = owner;
    const english = ({ page: of }: Person) => of.evaluate(`localStorage.setItem("saldo.language", "en")`);
    await Promise.all([english(owner), english(developer)]);
    await open(owner, "/members");
    await page.getByRole("button", { name: "Invite a member" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Send the invitation" }).click();
    await dialog.getByText("Enter an e-mail address.").waitFor();
    await dialog.getByLabel("E-mail address").fill(developer.email);
    await dialog.getByLabel("Role").selectOption({ label: "Viewer" });
    await dialog.getByRole("button", { name: "Send the invitation" }).click();
    await page.getByRole("table", { name: "Open invitations" }).getByText(developer.email).waitFor();
    const invitations = () =>
      dashboard.mails.mails.filter(({ to, text }) => to === developer.email && text.includes("/invite?token="));
    await expect.poll(() => invitations().length, { timeout: 30_000 }).toBe(2);
    await developer.page.goto(await dashboard.mails.linkTo(developer.email, /\/invite\?token=/));
    await developer.page.getByRole("heading", { name: "Invitation" }).waitFor();
    await developer.page.getByRole("button", { name: "Accept the invitation" }).click();
    const main = developer.page.getByRole("navigation", { name: "Main navigation" });
    await main.getByText("Viewer").or(developer.page.getByText("Viewer")).first().waitFor();
    // Until the account has changed, the navigation is that of the own one.
    await expect
      .poll(() => developer.page.getByLabel("Account", { exact: true }).locator("option:checked").textContent())
      .toBe(owner.email);
    await expect.poll(() => main.getByRole("link", { name: "Playground" }).count()).toBe(0);
    await open(owner, "/members");
    await page.getByRole("button", { name: `Remove the member: ${developer.email}` }).click();
    await dialog.getByRole("button", { name: "Remove the member" }).click();
    await dialog.waitFor({ state: "detached" });
    const members = page.getByRole("table", { name: "Members of this account" });
    await expect.poll(() => members.getByText(developer.email).count()).toBe(0);
  });
});
