// Another account's rows are not visible: at their addresses every page shows the same as for an unknown id, and every
// method returns the same, word for word.

import { type DescMethod, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
import { Environment } from "#gen/saldo/merchant/v1/merchant_pb.ts";
import { MerchantService } from "#gen/saldo/merchant/v1/merchant_service_pb.ts";
import { MerchantTransferService } from "#gen/saldo/merchant/v1/merchant_transfer_service_pb.ts";
import { MembersService } from "#gen/saldo/identity/v1/members_service_pb.ts";
import { Caller } from "#gen/saldo/options/v1/options_pb.ts";
import { AccountsService, BillingService, KeysService } from "../../src/client/client.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { ADDRESS, methodsNamingRows, requestAbout, type Rows } from "../security/requests-about.ts";
import { type Dashboard, expectNoComplaints, openDashboard, type Visit } from "./open-dashboard.ts";
import { moveTo, watchCalls } from "./moves.ts";
import { callsOf } from "./session-calls.ts";

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const KEY_NAME = "kunci milik orang";

/** Methods that a page calls with the id of a row in the request. */
const naming = methodsNamingRows(Caller.SESSION);

describe("rows of another account", () => {
  let dashboard: Dashboard;
  let stranger: Visit;
  let untilAnswered: () => Promise<void>;
  let asStranger: Transport;
  let asOwner: Transport;
  let owner: Visit;
  let theirs: Rows;
  let nobodys: Rows;
  beforeAll(async () => {
    dashboard = await openDashboard();
    owner = await dashboard.visitDemo("/billing");
    stranger = await dashboard.signUp();
    untilAnswered = watchCalls(stranger.page);
    [asOwner, asStranger] = [await callsOf(dashboard, owner), await callsOf(dashboard, stranger)];
    theirs = await makeRows(asOwner);
    nobodys = Object.fromEntries(Object.keys(theirs).map((name) => [name, uuidv7()]));
    // The page of a transfer requires a merchant.
    await createClient(MerchantService, asStranger).createMerchant({ environment: Environment.SANDBOX });
  });
  afterAll(() => dashboard.close());

  /** A row of every kind on the account of a session, which has sent its first request before. */
  async function makeRows(session: Transport): Promise<Rows> {
    const merchants = createClient(MerchantService, session);
    const { merchants: own } = await merchants.listMerchants({});
    const merchantId = own.find(({ environment }) => environment === Environment.SANDBOX)?.id ?? "";
    const order = { externalId: uuidv7(), currencyCode: "TRX", amount: "10", address: ADDRESS };
    const { transfer } = await createClient(MerchantTransferService, session).createTransfer({ merchantId, ...order });
    const { credential } = await merchants.createCredential({ merchantId });
    const { key, secret } = await createClient(KeysService, session).createKey({ name: KEY_NAME });
    const asked = await fetch(`${dashboard.saldo.httpUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "demo/small", messages: [{ role: "user", content: "Hi" }] }),
    });
    await asked.text();
    const { topUp } = await createClient(BillingService, session).createTopUp({
      amount: "25000",
      idempotencyKey: uuidv7(),
    });
    const { sessions } = await createClient(AccountsService, session).listSessions({});
    const { members } = await createClient(MembersService, session).listMembers({});
    const rows = {
      merchantId,
      transferId: transfer?.id ?? "",
      credentialId: credential?.id ?? "",
      keyId: key?.id ?? "",
      requestId: asked.headers.get("x-request-id") ?? "",
      topUpId: topUp?.id ?? "",
      sessionId: sessions[0]?.id ?? "",
      personId: members[0]?.personId ?? "",
    };
    expect(Object.entries(rows).filter(([, id]) => id === "")).toEqual([]);
    return rows;
  }

  async function answer(method: DescMethod, session: Transport, rows: Rows): Promise<unknown> {
    const client = createClient(method.parent, session) as Record<string, (request: unknown) => unknown>;
    try {
      const answered = client[method.localName]?.(requestAbout(method.input, rows));
      if (method.methodKind === "server_streaming") await Array.fromAsync(answered as AsyncIterable<unknown>);
      return JSON.stringify(await answered, (_name, value: unknown) =>
        typeof value === "bigint" ? `${value}` : value,
      );
    } catch (thrown) {
      const error = ConnectError.from(thrown);
      const facts = error.findDetails(ErrorFactsSchema).map((each) => toJson(ErrorFactsSchema, each));
      const refusal = JSON.stringify([Code[error.code], error.rawMessage, facts]).replaceAll(ID, "an id");
      return [refusal, [...error.metadata.keys()].toSorted((one, other) => (one < other ? -1 : 1))];
    }
  }

  it("are answered like rows that do not exist, by every method", async () => {
    const answers = await Promise.all(
      naming.map(async (method) => ({
        name: method.name,
        foreign: await answer(method, asStranger, theirs),
        never: await answer(method, asStranger, nobodys),
      })),
    );
    for (const { name, foreign, never } of answers) expect([name, foreign]).toEqual([name, never]);
    const notFound = answers.filter(({ foreign }) => String(foreign).startsWith('["NotFound"'));
    expect(answers.filter((each) => !notFound.includes(each)).map(({ name }) => name)).toEqual([]);
    expect(notFound.length).toBeGreaterThan(15);
  });

  const PAGES: readonly { row: string; path: string; own: RegExp | string; gone: string }[] = [
    { row: "requestId", path: "/usage?request=", own: KEY_NAME, gone: "Permintaan ini tidak ada" },
    { row: "keyId", path: "/usage?tab=requests&key=", own: "demo/small", gone: "Tidak ada pemakaian di rentang ini" },
    {
      row: "topUpId",
      path: "/billing?topUp=",
      own: "Buka halaman pembayaran",
      gone: "Pengisian saldo ini tidak ditemukan",
    },
    { row: "transferId", path: "/transfers/sandbox/", own: ADDRESS, gone: "Transfer ini tidak ada" },
    { row: "merchantId", path: "/operator/fees?merchant=", own: "Biaya", gone: "Halaman ini hanya untuk operator" },
    { row: "requestId", path: "/operator/ledger?group=", own: "Buku besar", gone: "Halaman ini hanya untuk operator" },
    { row: "topUpId", path: "/operator/top-ups?topUp=", own: "25.000", gone: "Halaman ini hanya untuk operator" },
  ];

  it.each(PAGES)("are not there on $path…", async ({ row, path, own, gone }) => {
    await moveTo(owner.page, path + (theirs[row] ?? ""));
    await owner.page.getByText(own).filter({ visible: true }).first().waitFor();
    expect(await owner.page.getByText(gone).count()).toBe(0);
    const never = await textOf(path + (nobodys[row] ?? ""), gone);
    // A part of the page that is late on a busy machine is there when asked again.
    await expect.poll(() => textOf(path + (theirs[row] ?? ""), gone)).toBe(never);
    expectNoComplaints(dashboard);
  });

  /** The whole text of a page, once it shows that a row does not exist, without the ids. */
  async function textOf(path: string, gone: string): Promise<string> {
    const { page } = stranger;
    await moveTo(page, path);
    await page.getByText(gone).first().waitFor();
    await untilAnswered();
    await page.locator(".animate-pulse").first().waitFor({ state: "detached" });
    return (await page.locator("body").innerText()).replaceAll(ID, "an id");
  }

  it("are not shown at addresses that never belonged to a row either", async () => {
    for (const { path, gone } of PAGES.filter(({ row }) => row !== "keyId")) {
      const text = await textOf(path + encodeURIComponent("<b>x</b>"), gone);
      expect(text).not.toContain("gagal dimuat");
    }
    expectNoComplaints(dashboard);
  });

  it("stay unchanged", async () => {
    const left = await Promise.all([
      createClient(KeysService, asOwner).listKeys({}),
      createClient(MerchantService, asOwner).listCredentials({ merchantId: theirs["merchantId"] ?? "" }),
      createClient(MerchantTransferService, asOwner).getTransferStatement({ id: theirs["transferId"] ?? "" }),
    ]);
    const [{ keys }, { credentials }, { statement }] = left;
    expect(keys.find(({ id }) => id === theirs["keyId"])).toMatchObject({ name: KEY_NAME });
    expect(keys.find(({ id }) => id === theirs["keyId"])?.revokedAt).toBeUndefined();
    expect(credentials.find(({ id }) => id === theirs["credentialId"])?.revokedAt).toBeUndefined();
    expect(statement?.transfer?.status).not.toMatch(/CANCEL/);
  });
});
