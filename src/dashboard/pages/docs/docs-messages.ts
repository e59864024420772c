import type { Messages } from "../../i18n/language.tsx";
import type { DocPageName } from "./doc-pages.ts";

/** The messages around the documentation; its texts are in `src/docs/pages`. */
export const DOCS_MESSAGES = {
  id: {
    pages: "Halaman dokumentasi",
    markdown: "Sebagai Markdown",
    forPrograms: "llms.txt",
    openapi: "OpenAPI",
    reference: "Referensi API",
    next: "Selanjutnya",
    prices: "Harga per satu juta token",
    otherPrices: "Harga lain",
    price: "Harga",
    model: "Model",
    input: "Input",
    cache: "Cache",
    output: "Output",
    context: "Konteks",
    asInput: "seperti input",
    pricesElsewhere: "Harga yang berlaku sekarang ada di",
  },
  en: {
    pages: "Pages of the documentation",
    markdown: "As Markdown",
    forPrograms: "llms.txt",
    openapi: "OpenAPI",
    reference: "API reference",
    next: "Next",
    prices: "Prices per million tokens",
    otherPrices: "Other prices",
    price: "Price",
    model: "Model",
    input: "Input",
    cache: "Cache",
    output: "Output",
    context: "Context",
    asInput: "as input",
    pricesElsewhere: "The prices of now are in",
  },
} satisfies Messages<Record<string, string>>;

/** The titles in the list of pages. */
export const DOC_NAMES = {
  id: {
    "quick-start": "Mulai cepat",
    authentication: "Autentikasi",
    clients: "Klien & agen",
    streaming: "Streaming",
    tools: "Fungsi & skema",
    errors: "Galat",
    limits: "Batas",
    caching: "Cache",
    billing: "Aturan tagihan",
    alerts: "Peringatan & webhook",
    transfers: "Transfer",
  },
  en: {
    "quick-start": "Quick start",
    authentication: "Authentication",
    clients: "Clients & agents",
    streaming: "Streaming",
    tools: "Tools & schemas",
    errors: "Errors",
    limits: "Limits",
    caching: "Caching",
    billing: "What is billed",
    alerts: "Alerts & webhooks",
    transfers: "Transfers",
  },
} satisfies Messages<Record<DocPageName, string>>;
