// The classes of ledger accounts and the reasons of postings, in words. The books have short names of their own, which
// operators also search by; both are shown.

import type { Messages } from "../../../i18n/language.tsx";
import { REASON_MESSAGES } from "../../billing/billing-messages.ts";

/** By the server's class; an unknown one is shown by its own name. */
export const CLASS_MESSAGES = {
  id: {
    customer_funds: "Saldo pelanggan",
    merchant_funds: "Saldo merchant",
    revenue: "Pendapatan",
    operator_loss: "Kerugian kami",
    provider_clearing: "Kliring penyedia pembayaran",
    promotions: "Promosi",
    operator_adjustments: "Penyesuaian operator",
    merchant_clearing: "Kliring merchant",
    payout_clearing: "Kliring pembayaran keluar",
    receivables: "Piutang",
    network_fees: "Biaya jaringan",
    provider_fees: "Biaya penyedia pembayaran",
    overpayments: "Kelebihan bayar",
    tax_payable: "Utang PPN",
    sandbox: "Sandbox",
  },
  en: {
    customer_funds: "Customer funds",
    merchant_funds: "Merchant funds",
    revenue: "Revenue",
    operator_loss: "Our loss",
    provider_clearing: "Payment provider clearing",
    promotions: "Promotions",
    operator_adjustments: "Operator adjustments",
    merchant_clearing: "Merchant clearing",
    payout_clearing: "Payout clearing",
    receivables: "Receivables",
    network_fees: "Network fees",
    provider_fees: "Payment provider fees",
    overpayments: "Overpayments",
    tax_payable: "VAT payable",
    sandbox: "Sandbox",
  },
} satisfies Messages<Record<string, string>>;

/** The reasons of postings: those that customers see, and those that only operators see. */
export const POSTING_REASON_MESSAGES = {
  id: {
    ...REASON_MESSAGES.id,
    credit_note: "Nota kredit",
    operator_adjustment: "Penyesuaian operator",
    merchant_credit: "Kredit merchant",
    faucet: "Koin sandbox",
    network_fee: "Biaya jaringan",
    provider_fee: "Biaya penyedia pembayaran",
    overpayment: "Kelebihan bayar",
    overpayment_returned: "Kelebihan bayar dikembalikan",
    transfer_payout: "Transfer: pembayaran",
    transfer_sent: "Transfer: keluar ke rantai",
    transfer_fee: "Transfer: biaya",
    uncollected: "Pemakaian tak tertagih",
    late_uncollected: "Pemakaian kemudian, tak tertagih",
  },
  en: {
    ...REASON_MESSAGES.en,
    credit_note: "Credit note",
    operator_adjustment: "Operator adjustment",
    merchant_credit: "Merchant credit",
    faucet: "Sandbox coins",
    network_fee: "Network fee",
    provider_fee: "Payment provider fee",
    overpayment: "Overpayment",
    overpayment_returned: "Overpayment returned",
    transfer_payout: "Transfer: payout",
    transfer_sent: "Transfer: sent on chain",
    transfer_fee: "Transfer: fee",
    uncollected: "Uncollected usage",
    late_uncollected: "Uncollected later usage",
  },
} satisfies Messages<Record<string, string>>;
