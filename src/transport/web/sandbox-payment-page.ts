// The sandbox provider's page: what a payer sees, with a button for everything that can happen to a payment. Plain forms, no
// script; its one style sheet is named by hash in the policy it is sent with.

import { hash } from "node:crypto";
import { formatMoney, idr } from "../../kernel/money.ts";
import { preferredLanguage } from "../../kernel/preferred-language.ts";
import { DEFAULT_TIME_ZONE } from "../../billing/usage/time-zone.ts";
import type { SandboxAction } from "../../billing/payments/sandbox/sandbox-desk.ts";
import type { SandboxPayment, SandboxStatus } from "../../billing/payments/sandbox/store.ts";

type Words = {
  readonly title: string;
  readonly notice: string;
  readonly order: string;
  readonly expires: string;
  readonly back: string;
  readonly other: string;
  readonly status: Readonly<Record<SandboxStatus, string>>;
  readonly action: Readonly<Record<SandboxAction, string>>;
};

const WORDS: Readonly<Record<"id" | "en", Words>> = {
  id: {
    title: "Pembayaran sandbox",
    notice: "Uang mainan. Halaman ini meniru penyedia pembayaran.",
    order: "Pesanan",
    expires: "Berlaku sampai",
    back: "Kembali ke Saldo",
    other: "Yang juga bisa terjadi",
    status: {
      pending: "Menunggu pembayaran",
      review: "Sedang diperiksa",
      paid: "Dibayar",
      failed: "Ditolak",
      expired: "Kedaluwarsa",
      canceled: "Dibatalkan",
      partially_refunded: "Dikembalikan sebagian",
      refunded: "Dikembalikan",
      charged_back: "Ditarik kembali oleh bank",
    },
    action: {
      pay: "Bayar",
      pay_refused_card: "Bayar dengan kartu yang akan ditolak nanti",
      pay_late: "Bayar, pemberitahuan terlambat",
      pay_twice: "Bayar, pemberitahuan ganda",
      pay_silently: "Bayar, tanpa pemberitahuan",
      review: "Tahan untuk diperiksa",
      fail: "Tolak pembayaran",
      expire: "Biarkan kedaluwarsa",
      cancel: "Batalkan pesanan",
    },
  },
  en: {
    title: "Sandbox payment",
    notice: "Play money. This page replaces a payment provider's.",
    order: "Order",
    expires: "Valid until",
    back: "Back to Saldo",
    other: "What else can happen",
    status: {
      pending: "Waiting for the payment",
      review: "Being looked at",
      paid: "Paid",
      failed: "Refused",
      expired: "Expired",
      canceled: "Canceled",
      partially_refunded: "Refunded in part",
      refunded: "Refunded",
      charged_back: "Taken back by the bank",
    },
    action: {
      pay: "Pay",
      pay_refused_card: "Pay with a card that is refused later",
      pay_late: "Pay, with a late notification",
      pay_twice: "Pay, with a doubled notification",
      pay_silently: "Pay, without a notification",
      review: "Hold for review",
      fail: "Refuse the payment",
      expire: "Let it expire",
      cancel: "Cancel the order",
    },
  },
};

const STYLE = `
:root{color-scheme:light dark;--ground:#f6f7f8;--card:#fff;--ink:#16191d;--soft:#5b636e;--line:#dfe3e8;--go:#0b7a4b;--on-go:#fff}
@media(prefers-color-scheme:dark){:root{--ground:#111417;--card:#1a1e23;--ink:#eceff2;--soft:#9aa4b0;--line:#2d333b;--go:#3ecf8e;--on-go:#06281a}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:16px;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{width:100%;max-width:420px;background:var(--card);border:1px solid var(--line);border-radius:14px;padding:24px}
h1{font-size:1rem;margin:0 0 4px;color:var(--soft);font-weight:600}
.amount{font-size:2rem;font-weight:650;margin:0;font-variant-numeric:tabular-nums}
.status{display:inline-block;margin:8px 0 0;padding:2px 10px;border:1px solid var(--line);border-radius:99px;font-size:.875rem}
dl{margin:20px 0;font-size:.875rem;border-top:1px solid var(--line);padding-top:12px}
dt{color:var(--soft)}
dd{margin:0 0 8px;overflow-wrap:anywhere;font-family:ui-monospace,monospace}
p.notice{font-size:.875rem;color:var(--soft);margin:20px 0 0}
h2{font-size:.875rem;margin:20px 0 8px;color:var(--soft);font-weight:600}
form{display:grid;gap:8px}
button{font:inherit;min-height:44px;padding:8px 14px;border-radius:9px;border:1px solid var(--line);background:transparent;color:inherit;cursor:pointer;text-align:left}
button.first{background:var(--go);border-color:var(--go);color:var(--on-go);font-weight:650;text-align:center}
button:focus-visible,a:focus-visible{outline:3px solid var(--go);outline-offset:2px}
a{color:var(--go);display:inline-block;padding:8px 0}
`;

/** The headers of the page: nothing is loaded, framed, kept or sent on. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${hash("sha256", STYLE, "base64")}'; form-action 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'`,
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

const moments = (locale: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short", timeZone: DEFAULT_TIME_ZONE });
// As the dashboard writes them, from which the payer comes.
const MOMENTS = { id: moments("id-ID"), en: moments("en-GB") };

/** Renders the page. Indonesian, unless the browser asks for English first. */
export function renderPaymentPage(
  payment: SandboxPayment,
  { actions, acceptLanguage }: { actions: readonly SandboxAction[]; acceptLanguage: string | undefined },
): string {
  const language = preferredLanguage(acceptLanguage);
  const words = WORDS[language];
  const [first, ...others] = actions;
  const button = (action: SandboxAction, isFirst: boolean): string =>
    `<button name="action" value="${action}"${isFirst ? ' class="first"' : ""}>${escape(words.action[action])}</button>`;
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(words.title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escape(words.title)}</h1>
<p class="amount">Rp ${grouped(formatMoney(idr(payment.amount)), language)}</p>
<p class="status" role="status" data-status="${payment.status}">${escape(words.status[payment.status])}</p>
<dl><dt>${escape(words.order)}</dt><dd>${escape(payment.orderId)}</dd><dt>${escape(words.expires)}</dt><dd>${MOMENTS[language].format(payment.expiresAt)} WIB</dd></dl>
${first === undefined ? "" : `<form method="post">${button(first, true)}</form>`}
<p><a href="${escape(payment.returnUrl)}">${escape(words.back)}</a></p>
${others.length === 0 ? "" : `<h2>${escape(words.other)}</h2>\n<form method="post">${others.map((each) => button(each, false)).join("\n")}</form>`}
<p class="notice">${escape(words.notice)}</p>
</main>
</body>
</html>
`;
}

function grouped(digits: string, language: "id" | "en"): string {
  return digits.replaceAll(/\B(?=(\d{3})+$)/g, language === "id" ? "." : ",");
}

function escape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
