// A customer buys balance at the demo's provider and downloads the receipt. Its sums are those of the ledger.

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { extractText, getDocumentProxy } from "unpdf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { ReceiptKind } from "#gen/saldo/billing/v1/receipt_pb.ts";
import { ReceiptService } from "#gen/saldo/billing/v1/receipt_service_pb.ts";
import { StatementService } from "#gen/saldo/billing/v1/statement_service_pb.ts";
import { rupiahInWords } from "../../src/billing/receipts/amount-in-words.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { issueServiceToken } from "../../src/identity/service-tokens.ts";
import { SOUND } from "../money/money-setup.ts";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { TopUpSetup } from "../top-ups/top-up-setup.ts";

/** The background job writes a receipt within seconds; machines that test are busy. */
const ISSUED_WITHIN_MS = 30_000;

let setup: TopUpSetup;
let saldo: SaldoHere;
let settings: Record<string, string>;
beforeAll(async () => {
  setup = await TopUpSetup.create();
  settings = { DATABASE_URL: setup.money.opened.url };
  const seller = [
    "--name",
    "PT Saldo Nusantara",
    "--address",
    "Jl. Thamrin 9;Jakarta",
    "--npwp",
    "0012 3456 7890 1000",
  ];
  await saldoJson(["settings", "seller", ...seller, "--reason", "opening"], settings);
  await saldoJson(["settings", "tax", "--percent", "11", "--reason", "registered"], settings);
  saldo = await SaldoHere.start(settings);
});
afterAll(async () => {
  await saldo.stop();
  expect(await setup.money.audit()).toEqual(SOUND);
  await setup.close();
});

type Buyer = { readonly accountId: string; readonly headers: { readonly authorization: string } };

async function customer(): Promise<Buyer> {
  const accountId = await setup.money.account(0n);
  const { secret } = await withTransaction(setup.money.opened.database, (client) =>
    issueServiceToken(client, { accountId, name: "test", scopes: ["read", "top_ups", "settings"] }),
  );
  return { accountId, headers: { authorization: `Bearer ${secret}` } };
}

const transport = () => createConnectTransport({ baseUrl: saldo.httpUrl, httpVersion: "1.1" });
const billing = () => createClient(BillingService, transport());
const receipts = () => createClient(ReceiptService, transport());

/** Buys for so many rupiah on the provider's page, and waits for the receipt. */
async function buy({ headers }: Buyer, amount: string) {
  const { topUp } = await billing().createTopUp({ amount, idempotencyKey: crypto.randomUUID() }, { headers });
  const topUpId = topUp?.id ?? "";
  await fetch(topUp?.paymentUrl ?? "", {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams({ action: "pay" }),
  });
  const bought = async () => (await billing().getTopUp({ topUpId }, { headers })).topUp;
  await expect.poll(async () => (await bought())?.receiptId, { timeout: ISSUED_WITHIN_MS }).not.toBe("");
  const paid = await bought();
  if (paid === undefined) throw new Error("the top-up is gone");
  return paid;
}

/** The text of a PDF file, with one space between words. */
async function textOf(file: Uint8Array): Promise<string> {
  const { text } = await extractText(await getDocumentProxy(new Uint8Array(file)), { mergePages: true });
  return text.replaceAll(/\s+/g, " ");
}

/** What the ledger has of a top-up, in whole rupiah: on the account, and owed to the state. */
async function ledgerOf(topUpId: string, accountId: string): Promise<{ net: bigint; tax: bigint }> {
  const text = `SELECT coalesce(sum(amount) FILTER (WHERE credit = $2), 0)::bigint AS net,
    coalesce(sum(amount) FILTER (WHERE credit = '00000000-0000-7000-8000-00000000000e'), 0)::bigint AS tax
    FROM posting WHERE group_id = $1`;
  const { rows } = await setup.money.pool.query<{ net: bigint; tax: bigint }>(text, [topUpId, accountId]);
  return { net: (rows[0]?.net ?? 0n) / 1_000_000n, tax: (rows[0]?.tax ?? 0n) / 1_000_000n };
}

/** The statement names the receipt of what was bought, and the credit note of what was refunded, in all its forms. */
async function expectOnStatement(
  buyer: Buyer,
  { receiptNumber, noteNumber }: { receiptNumber: string; noteNumber: string },
): Promise<void> {
  const statements = createClient(StatementService, transport());
  const month = (await statements.listStatements({}, buyer)).months[0]?.month ?? "";
  const { statement } = await statements.getStatement({ month }, buyer);
  expect(statement?.entries).toMatchObject([
    { reason: "top_up", amount: "50000", receiptNumber },
    { reason: "top_up_refunded", amount: "-9741", receiptNumber: noteNumber },
  ]);
  const get = (query: string) => fetch(`${saldo.httpUrl}/v1/statements/${month}/file${query}`, buyer);
  expect(await (await get("?format=csv")).text()).toContain(`,,${noteNumber},`);
  for (const [language, text] of [
    ["en", `Refund credit note ${noteNumber}`],
    ["id", `Pengembalian dana nota kredit ${noteNumber}`],
  ])
    expect(await textOf(new Uint8Array(await (await get(`?language=${language}`)).arrayBuffer()))).toContain(text);
}

const indonesian = (rupiah: bigint): string => `Rp ${rupiah.toLocaleString("id-ID")},00`;
const english = (rupiah: bigint): string => `Rp ${rupiah.toLocaleString("en-GB")}.00`;

describe("the receipt of a top-up that was bought at the demo's provider", () => {
  it("is a PDF whose sums are those of the ledger, in both languages", async () => {
    const buyer = await customer();
    const company = { name: "PT Pembeli Setia", address: "Jl. Asia Afrika 1\nBandung", npwp: "01.234.567.8-901.000" };
    await receipts().setBuyer({ buyer: company }, buyer);
    const topUp = await buy(buyer, "123450");
    expect(topUp).toMatchObject({ amount: "123450", tax: "13580", total: "137030" });
    expect(topUp.receiptNumber).toMatch(/^DEMO-KW-20\d\d-000001$/);
    const { net, tax } = await ledgerOf(topUp.id, buyer.accountId);
    for (const [language, money] of [
      ["id", indonesian],
      ["en", english],
    ] as const) {
      const file = await receipts().getReceiptFile({ receiptId: topUp.receiptId, language }, buyer);
      expect(file).toMatchObject({ mediaType: "application/pdf", fileName: `${topUp.receiptNumber}.pdf` });
      const text = await textOf(file.content);
      const parties = ["PT Saldo Nusantara", "0012 3456 7890 1000", "PT Pembeli Setia", "01.234.567.8-901.000"];
      const sums = [money(net), money(tax), money(net + tax), rupiahInWords(net + tax, language)];
      for (const part of [topUp.receiptNumber, topUp.id, ...parties, ...sums]) expect(text).toContain(part);
    }
  });

  it("is not of a name that it cannot print: the refusal names the characters, of a buyer and of a seller", async () => {
    const buyer = await customer();
    const typed = { name: "PT 株式 🎉", address: "", npwp: "" };
    const characters = "has characters that receipts cannot print: 株 (U+682A), 式 (U+5F0F), 🎉 (U+1F389)";
    await expect(receipts().setBuyer({ buyer: typed }, buyer)).rejects.toThrow(`buyer.name ${characters}.`);
    expect((await receipts().getBuyer({}, buyer)).buyer?.name).toBe("");
    const seller = await runSaldo(["settings", "seller", "--name", typed.name, "--reason", "test"], settings);
    expect(seller).toMatchObject({ code: 1, stderr: expect.stringContaining(`seller.name ${characters}`) as string });
    expect(await saldoJson(["settings", "show"], settings)).toMatchObject({ seller: { name: "PT Saldo Nusantara" } });
  });

  it("is a file over REST, for its own account only", async () => {
    const buyer = await customer();
    const { receiptId, receiptNumber } = await buy(buyer, "10000");
    const get = (path: string, { headers }: Buyer) => fetch(`${saldo.httpUrl}${path}`, { headers });
    const answer = await get(`/v1/receipts/${receiptId}/file?language=en`, buyer);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "application/pdf",
      "content-disposition": `attachment; filename="${receiptNumber}.pdf"`,
    });
    expect(await textOf(new Uint8Array(await answer.arrayBuffer()))).toContain("Rp 11,100.00");
    const shown = (await (await get(`/v1/receipts/${receiptId}`, buyer)).json()) as object;
    expect(shown).toMatchObject({ number: receiptNumber, net: "10000", tax: "1100", total: "11100", taxPercent: "11" });
    const list = (await (await get("/v1/receipts", buyer)).json()) as { receipts: { id: string }[] };
    expect(list.receipts.map(({ id }) => id)).toEqual([receiptId]);
    const other = await customer();
    for (const path of ["", "/file"]) expect((await get(`/v1/receipts/${receiptId}${path}`, other)).status).toBe(404);
    expect((await fetch(`${saldo.httpUrl}/v1/receipts/${receiptId}/file`)).status).toBe(401);
  });

  it("is on the statement of its month, as JSON, PDF and CSV, which come to the balance", async () => {
    const buyer = await customer();
    const { receiptNumber } = await buy(buyer, "75000");
    const statements = createClient(StatementService, transport());
    const [current] = (await statements.listStatements({}, buyer)).months;
    const month = current?.month ?? "";
    const { statement } = await statements.getStatement({ month }, buyer);
    const { balance } = await billing().getBalance({}, buyer);
    expect(statement).toMatchObject({ month, openingBalance: "0", closingBalance: "75000" });
    expect(balance?.posted).toBe(statement?.closingBalance);
    expect(statement?.entries).toMatchObject([{ reason: "top_up", amount: "75000", receiptNumber }]);
    const get = (query: string) => fetch(`${saldo.httpUrl}/v1/statements/${month}/file${query}`, buyer);
    const [pdf, csv] = [await get("?language=en"), await get("?format=csv")];
    expect([pdf, csv].map(({ headers }) => headers.get("content-disposition"))).toEqual(
      ["pdf", "csv"].map((format) => `attachment; filename="saldo-${month}.${format}"`),
    );
    expect(await textOf(new Uint8Array(await pdf.arrayBuffer()))).toContain("Closing balance Rp 75,000.00");
    expect((await csv.text()).trimEnd().split("\r\n").at(-1)).toBe(`${month},closing_balance,,,,,,,,75000`);
    expect((await get("?format=xml")).status).toBe(400);
    const missing = await fetch(`${saldo.httpUrl}/v1/statements/${month}`, await customer());
    expect(missing.status).toBe(404);
    const shown = await saldoJson(["statement", "month", "--account", buyer.accountId, "--month", month], settings);
    expect(shown).toMatchObject({ month, closing: "75000", sums: [{ reason: "top_up", count: "1", amount: "75000" }] });
  });

  it("is followed by a credit note when the payment is refunded, which the command line shows too", async () => {
    const buyer = await customer();
    const { id, receiptId, receiptNumber } = await buy(buyer, "50000");
    // A company that is named afterwards is not on the paper that corrects the receipt.
    await receipts().setBuyer({ buyer: { name: "PT Lain", address: "", npwp: "" } }, buyer);
    await saldoJson(["top-up", "refund", "--top-up", id, "--amount", "10812"], settings);
    const notes = async () => (await receipts().listReceipts({}, buyer)).receipts;
    await expect.poll(async () => (await notes()).length, { timeout: ISSUED_WITHIN_MS }).toBe(2);
    const [note, corrected] = await notes();
    expect(note).toMatchObject({ kind: ReceiptKind.CREDIT_NOTE, net: "9741", tax: "1071", total: "10812" });
    expect([note?.buyer, note?.seller]).toEqual([corrected?.buyer, corrected?.seller]);
    expect(note?.buyer?.name).not.toBe("PT Lain");
    const file = await receipts().getReceiptFile({ receiptId: note?.id ?? "", language: "id" }, buyer);
    const words = "sepuluh ribu delapan ratus dua belas rupiah";
    for (const part of [`Untuk kuitansi ${receiptNumber}`, "PPN 11% Rp 1.071,00", words])
      expect(await textOf(file.content)).toContain(part);
    await expectOnStatement(buyer, { receiptNumber, noteNumber: note?.number ?? "" });
    const listed = await saldoJson(["receipt", "list", "--account", buyer.accountId], settings);
    expect(listed["receipts"]).toMatchObject([
      { number: note?.number, total: "10812" },
      { receiptId, total: "55500" },
    ]);
    expect(await saldoJson(["receipt", "get", "--receipt", receiptId], settings)).toMatchObject({
      number: receiptNumber,
    });
    expect(await runSaldo(["receipt", "get", "--receipt", id], settings)).toMatchObject({ code: 1 });
    const folder = await mkdtemp(join(tmpdir(), "saldo-receipt-"));
    const path = join(folder, "receipt.pdf");
    await saldoJson(["receipt", "get", "--receipt", receiptId, "--file", path, "--language", "en"], settings);
    expect(await textOf(new Uint8Array(await readFile(path)))).toContain("Total paid Rp 55,500.00");
    await rm(folder, { recursive: true });
  });
});
