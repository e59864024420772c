// Where no seller is set, no receipt is issued: the customer's page, the operators' first page and the doctor show it, until one is.

import { create, toBinary } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { GetOverviewResponseSchema } from "#gen/saldo/operator/v1/overview_pb.ts";
import { diagnose } from "../commands/doctor-findings.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { type Dashboard, expectNoComplaints, openDashboard } from "./open-dashboard.ts";

/** Balance is sold, and it is no demo, which would have a seller of its own. */
const SELLING = { SALDO_DEMO: "0", SALDO_PAYMENT_PROVIDER: "sandbox" };
const VIEWS = [
  {
    language: "id",
    width: 1280,
    receipts: /^Kuitansi belum terbit karena pengelola/,
    none: /^Kuitansi dibuat beberapa detik setelah/,
    decision: "Kuitansi tidak terbit: data penjual belum diisi",
  },
  {
    language: "en",
    width: 360,
    receipts: /^Receipts are not issued yet, because the operator/,
    none: /^A receipt is made some seconds after/,
    decision: "Receipts are not issued: no seller is set",
  },
] as const;

let dashboard: Dashboard;
let page: Page;
beforeAll(async () => {
  dashboard = await openDashboard(SELLING);
  ({ page } = await dashboard.signUp());
});
afterAll(() => dashboard.close());

async function open(on: Page, url: string, { language, width }: Pick<(typeof VIEWS)[number], "language" | "width">) {
  await on.setViewportSize({ width, height: 900 });
  await on.evaluate(`localStorage.setItem("saldo.language", "${language}")`);
  await on.goto(url);
}

const fits = (on: Page) => on.evaluate("document.documentElement.scrollWidth <= window.innerWidth");
const diagnosis = async () => (await diagnose({ ...SELLING, DATABASE_URL: dashboard.database.url })).of("receipts");

it.each(VIEWS)("customers read why there are no receipts: $language, $width px", async (view) => {
  await open(page, `${dashboard.saldo.httpUrl}/billing`, view);
  await page.getByText(view.receipts).waitFor();
  expect(await page.getByText(view.none).count()).toBe(0);
  expect(await fits(page)).toBe(true);
  expectNoComplaints(dashboard);
});

it("the doctor warns of it, with the command that mends it", async () => {
  expect(await diagnosis()).toMatchObject({
    state: "warning",
    advice: expect.stringContaining("saldo settings seller --name") as string,
  });
});

it("nothing of it is left once a seller is set", async () => {
  const seller = ["--name", "PT Saldo Nusantara", "--npwp", "0012345678901000"];
  await saldoJson(["settings", "seller", ...seller, "--reason", "opening"], { DATABASE_URL: dashboard.database.url });
  await page.reload();
  await page.getByText(/^A receipt is made some seconds after/).waitFor();
  expect(await page.getByText(VIEWS[1].receipts).count()).toBe(0);
  expect(await diagnosis()).toMatchObject({ state: "ok" });
});

it("the doctor warns of a seller of before, whose name receipts cannot print", async () => {
  const seller = JSON.stringify({ name: "株式会社サルド", address: "", npwp: "0012345678901000" });
  const text = `INSERT INTO operator_setting (name, version, value) SELECT name, max(version) + 1, $1 FROM operator_setting
    WHERE name = 'seller' GROUP BY name`;
  await dashboard.database.database.pool.query(text, [seller]);
  expect(await diagnosis()).toMatchObject({
    state: "warning",
    finding: expect.stringContaining("name the seller with question marks") as string,
  });
});

it("operators find it among what needs a decision, with the command", async () => {
  // A demo has a seller of its own, and elsewhere operators need a second factor: the server's answer is replaced.
  const demo = await openDashboard();
  try {
    const { page: desk } = await demo.visitDemo("/operator");
    const overview = create(GetOverviewResponseSchema, {
      takenAt: timestampNow(),
      firstDay: "2026-11-20",
      flows: [{ currencyCode: "IDR", todayIn: "0", todayOut: "0", weekIn: "0", weekOut: "0" }],
      flowsComplete: true,
      holds: { requests: 0, amount: "0" },
      decisions: { sellerMissing: true },
    });
    const body = Buffer.from(toBinary(GetOverviewResponseSchema, overview));
    await desk.route(/SystemService\/GetOverview\b/, (route) =>
      route.fulfill({ contentType: "application/proto", body }),
    );
    for (const view of VIEWS) {
      await open(desk, `${demo.saldo.httpUrl}/operator`, view);
      await desk.getByRole("link", { name: view.decision }).click();
      await desk.getByText("npm run saldo -- settings seller").waitFor();
      expect(await fits(desk), view.language).toBe(true);
    }
    expectNoComplaints(demo);
  } finally {
    await demo.close();
  }
});
