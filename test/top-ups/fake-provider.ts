// A payment provider on the loopback that speaks the wire formats of Midtrans (Snap and Core) and Xendit (invoices and refunds).
// Tests change its payments, take its notifications, and choose how it misbehaves.

import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type FakePayment, midtransBody, XENDIT_STATUS, xenditRefunds } from "./fake-wire.ts";

export const MIDTRANS_KEY = "SB-Mid-server-a-key-nobody-may-see";
export const XENDIT_KEY = "xnd_development_a-key-nobody-may-see";
export const XENDIT_TOKEN = "a-callback-token-nobody-may-see";
/** The secret text in the fake's errors; only its own log may show it. */
export const PROVIDER_SECRETS = [MIDTRANS_KEY, XENDIT_KEY, XENDIT_TOKEN, "payer@example.com"];

/** How the fake misbehaves. `slow`: it never answers. `reset`: it cuts the connection. */
export type Misbehaviour = "slow" | "reset" | "garbage" | "huge" | number;

export type FakeProvider = Awaited<ReturnType<typeof startFakeProvider>>;

/** Starts the fake on a free port. */
export async function startFakeProvider() {
  const payments = new Map<string, FakePayment>();
  /** The answer about a payment for the next call only. */
  const once = new Map<string, Partial<FakePayment>>();
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const state: { misbehaviour: Misbehaviour | null; at: string; charges: FakePayment["status"] } = {
    misbehaviour: null,
    at: "/",
    charges: "captured",
  };
  let pages = 0;

  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      asked.push(`${request.method} ${request.url}`);
      if (state.misbehaviour !== null && request.url?.startsWith(state.at) === true)
        misbehave(state.misbehaviour, response);
      else answer(request, Buffer.concat(parts).toString("utf8"), response);
    });
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const base = `http://127.0.0.1:${port}`;

  function open(orderId: string, amount: number): FakePayment {
    const known = payments.get(orderId);
    if (known !== undefined) return known;
    const transactionId = `t-${createHash("sha256").update(orderId).digest("hex").slice(0, 24)}`;
    const fresh: FakePayment = {
      orderId,
      transactionId,
      amount,
      status: "none",
      gross: amount,
      refunded: 0,
      refunds: 1,
      chargedBack: 0,
      currency: "IDR",
      kept: null,
      savedToken: null,
      toldOrderId: orderId,
    };
    payments.set(orderId, fresh);
    return fresh;
  }

  function answer(request: IncomingMessage, body: string, response: ServerResponse): void {
    const url = new URL(request.url ?? "", base);
    const basic = Buffer.from((request.headers.authorization ?? "").replace("Basic ", ""), "base64").toString();
    const isMidtrans = url.pathname.startsWith("/snap/") || url.pathname.startsWith("/core/");
    if (basic !== `${isMidtrans ? MIDTRANS_KEY : XENDIT_KEY}:`) {
      json(response, 401, { error_messages: [`Access denied for ${basic} of payer@example.com`] });
      return;
    }
    const sent = body === "" ? {} : (JSON.parse(body) as Record<string, unknown>);
    if (isMidtrans) answerMidtrans(url, sent, response);
    else answerXendit(request.method ?? "", url, sent, response);
  }

  function answerMidtrans(url: URL, sent: Record<string, unknown>, response: ServerResponse): void {
    if (url.pathname === "/snap/v1/transactions") {
      const details = sent["transaction_details"] as { order_id: string; gross_amount: number };
      const items = sent["item_details"] as { price: number; quantity: number }[];
      const sum = items.reduce((total, { price, quantity }) => total + price * quantity, 0);
      if (!/^[A-Za-z0-9-_~.]{1,50}$/.test(details.order_id) || sum !== details.gross_amount) {
        json(response, 400, {
          error_messages: ["transaction_details.gross_amount is not equal to the sum of item_details"],
        });
        return;
      }
      const opened = open(details.order_id, details.gross_amount);
      const isSaved = (sent["credit_card"] as { save_card?: boolean } | undefined)?.save_card === true;
      if (isSaved) opened.savedToken = `481111-${opened.transactionId}`;
      pages += 1;
      json(response, 201, { token: `token-${pages}`, redirect_url: `${base}/pay/token-${pages}` });
      return;
    }
    if (url.pathname === "/core/v2/charge") {
      const details = sent["transaction_details"] as { order_id: string; gross_amount: number };
      const token = (sent["credit_card"] as { token_id: string }).token_id;
      if (payments.has(details.order_id)) {
        json(response, 200, { status_code: "406", status_message: "The request could not be completed" });
      } else if ([...payments.values()].some(({ savedToken }) => savedToken === token)) {
        open(details.order_id, details.gross_amount).status = state.charges;
        json(response, 200, midtransBody(open(details.order_id, details.gross_amount)));
      } else json(response, 200, { status_code: "411", status_message: "Token id is missing, invalid, or timed out" });
      return;
    }
    const orderId = /^\/core\/v2\/([^/]+)\/status$/.exec(url.pathname)?.[1] ?? "";
    const payment = payments.get(orderId);
    if (payment === undefined || payment.status === "none") {
      json(response, 404, { status_code: "404", status_message: "Transaction doesn't exist." });
      return;
    }
    const shown = { ...payment, ...once.get(orderId) };
    once.delete(orderId);
    json(response, 200, { ...midtransBody(shown), status_message: "Success, transaction is found" });
  }

  function answerXendit(method: string, url: URL, sent: Record<string, unknown>, response: ServerResponse): void {
    if (url.pathname === "/v2/invoices" && method === "POST") {
      json(response, 200, xenditBody(open(String(sent["external_id"]), Number(sent["amount"]))));
      return;
    }
    if (url.pathname === "/v2/invoices") {
      const payment = payments.get(url.searchParams.get("external_id") ?? "");
      json(response, 200, payment === undefined ? [] : [xenditBody(payment)]);
      return;
    }
    const isOf = (id: string | undefined) => [...payments.values()].find((each) => each.transactionId === id);
    if (url.pathname === "/refunds/") {
      const payment = isOf(url.searchParams.get("invoice_id") ?? "");
      const all = payment === undefined || payment.refunded === 0 ? [] : xenditRefunds(payment);
      const after = all.findIndex(({ id }) => id === url.searchParams.get("after_id")) + 1;
      const data = all.slice(after, after + Number(url.searchParams.get("limit")));
      json(response, 200, { data, has_more: after + data.length < all.length });
      return;
    }
    const payment = isOf(/^\/v2\/invoices\/([^/]+)$/.exec(url.pathname)?.[1]);
    if (payment === undefined) json(response, 404, { error_code: "INVOICE_NOT_FOUND_ERROR", message: "No invoice" });
    else json(response, 200, xenditBody(payment));
  }

  function misbehave(how: Misbehaviour, response: ServerResponse): void {
    if (how === "slow") return;
    if (how === "reset") response.socket?.destroy();
    else if (how === "garbage") response.writeHead(200).end("<html>payer@example.com</html>");
    else if (how === "huge") response.writeHead(200).end(`"${"x".repeat(1_000_000)}"`);
    else json(response, how, { message: `${PROVIDER_SECRETS.join(" ")} is not welcome` });
  }

  function xenditBody(payment: FakePayment): Record<string, unknown> {
    const { transactionId, toldOrderId, amount, gross, currency } = payment;
    const status = XENDIT_STATUS[payment.status];
    return {
      id: transactionId,
      external_id: toldOrderId,
      status,
      amount,
      currency,
      invoice_url: `${base}/invoice/${transactionId}`,
      expiry_date: "2030-01-01T00:00:00.000Z",
      payer_email: "payer@example.com",
      ...(status === "PAID" || status === "SETTLED" ? { paid_amount: gross, paid_at: "2026-11-21T00:00:00.000Z" } : {}),
      // Real ones have both, and the second is often 0.
      ...(payment.kept === null ? {} : { adjusted_received_amount: gross - payment.kept, fees_paid_amount: 0 }),
    };
  }

  return {
    base,
    midtrans: {
      serverKey: MIDTRANS_KEY,
      snapUrl: `${base}/snap/v1`,
      apiUrl: `${base}/core`,
      timeoutMs: 1_000,
      savesCards: true,
    },
    xendit: { apiKey: XENDIT_KEY, callbackToken: XENDIT_TOKEN, apiUrl: base, timeoutMs: 1_000 },
    /** Its received calls, in order. */
    asked,
    /** An open payment. */
    payment(orderId: string): FakePayment {
      const payment = payments.get(orderId);
      if (payment === undefined) throw new Error(`no order ${orderId} is open at the fake`);
      return payment;
    },
    /** Changes the state or other fields of a payment. */
    set(orderId: string, changed: Partial<FakePayment>): void {
      Object.assign(this.payment(orderId), changed);
    },
    /** What becomes of charges of saved cards from now on. */
    charges(status: FakePayment["status"]): void {
      state.charges = status;
    },
    /** Answers the next Midtrans call about a payment with these fields, as a delayed replica would. */
    answerOnce(orderId: string, fields: Partial<FakePayment>): void {
      once.set(orderId, fields);
    },
    /** Misbehaves from now on, at paths with this prefix; null: no longer. */
    misbehave(how: Misbehaviour | null, at = "/"): void {
      Object.assign(state, { misbehaviour: how, at });
    },
    /** The notification that Midtrans would send now; `edited` members are changed after it was signed. */
    midtransNotification(orderId: string, edited: Record<string, string> = {}) {
      const body = midtransBody(this.payment(orderId));
      const signed = `${body["order_id"]}${body["status_code"]}${body["gross_amount"]}${MIDTRANS_KEY}`;
      const signature = createHash("sha512").update(signed).digest("hex");
      return {
        headers: { "content-type": "application/json" } as Record<string, string>,
        body: Buffer.from(JSON.stringify({ ...body, signature_key: signature, ...edited })),
      };
    },
    /** The notification that Xendit would send now. */
    xenditNotification(orderId: string, edited: Record<string, unknown> = {}) {
      return {
        headers: { "content-type": "application/json", "x-callback-token": XENDIT_TOKEN } as Record<string, string>,
        body: Buffer.from(JSON.stringify({ ...xenditBody(this.payment(orderId)), ...edited })),
      };
    },
    /** The notification that Xendit would send of a refund: it names the invoice and not our order. */
    xenditRefundNotification(orderId: string) {
      const { transactionId, refunded } = this.payment(orderId);
      const data = { id: "rfd-1", invoice_id: transactionId, amount: refunded, status: "SUCCEEDED", currency: "IDR" };
      return {
        headers: { "content-type": "application/json", "x-callback-token": XENDIT_TOKEN } as Record<string, string>,
        body: Buffer.from(JSON.stringify({ event: "refund.succeeded", data })),
      };
    },
    /** The notification that Xendit would send of a dispute, which is in no answer about the invoice. */
    xenditDisputeNotification(orderId: string, status: "ACTION_REQUIRED" | "UNDER_REVIEW" | "WON" | "LOST") {
      const { gross } = this.payment(orderId);
      const dispute = {
        event: `dispute.${status.toLowerCase()}`,
        id: `mi-dspt-${orderId}`,
        status,
        currency: "IDR",
        amount: { initial: `${gross}.00`, terminal: null },
        payment_id: `py-${orderId}`,
        reference_id: orderId,
      };
      return {
        headers: { "content-type": "application/json", "x-callback-token": XENDIT_TOKEN } as Record<string, string>,
        body: Buffer.from(JSON.stringify(dispute)),
      };
    },
    async stop(): Promise<void> {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
