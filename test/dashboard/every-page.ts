// Every page there is, for what must hold on all of them.

export type PageToLookAt = {
  readonly path: string;
  /** Pages for people who are not signed in are looked at by somebody who is not. */
  readonly isOutside?: true;
  /** Presses something first: dialogs are looked at, too. The name of a button. */
  readonly press?: RegExp;
};

export const EVERY_PAGE: readonly PageToLookAt[] = [
  { path: "/sign-in", isOutside: true },
  { path: "/sign-up", isOutside: true },
  { path: "/forgot-password", isOutside: true },
  { path: "/reset-password?token=x", isOutside: true },
  { path: "/no/such/page", isOutside: true },
  { path: "/" },
  { path: "/usage" },
  { path: "/usage?tab=requests&unit=tokens&from=2026-11-01&to=2026-11-30" },
  { path: "/billing" },
  { path: "/playground" },
  { path: "/playground", press: /^(Lihat kode|View code)$/ },
  { path: "/models" },
  { path: "/models", press: /^Demo Large/ },
  { path: "/transfers/sandbox" },
  { path: "/transfers/sandbox", press: /^(Keran sandbox|Sandbox faucet)$/ },
  { path: "/transfers/sandbox/new" },
  { path: "/transfers/production" },
  { path: "/transfers/sandbox/credentials" },
  { path: "/transfers/sandbox/credentials", press: /^(Cabut|Revoke) mk_/ },
  { path: "/transfers/sandbox/callbacks" },
  { path: "/settings" },
  { path: "/settings", press: /^(Keluar dari semua tempat|Sign out everywhere)$/ },
  { path: "/keys" },
  { path: "/keys", press: /^(Buat kunci|Create key)$/ },
  { path: "/keys", press: /^(Ganti nama|Rename)/ },
  { path: "/keys", press: /^(Cabut|Revoke)/ },
  { path: "/operator/catalog" },
  { path: "/operator/catalog?view=draft" },
  { path: "/operator/catalog?view=history" },
  { path: "/operator/upstreams" },
  { path: "/operator/accounts" },
  { path: "/operator/ledger" },
  { path: "/operator/ledger?view=trial" },
  { path: "/operator/top-ups" },
  { path: "/operator/fees" },
  { path: "/operator/fees", press: /^(Tetapkan biaya…|Set a fee…)$/ },
  { path: "/operator/fees", press: /^(Kreditkan koin…|Credit coins…)/ },
  { path: "/operator/service" },
  { path: "/operator/service", press: /^(Hentikan…|Stop…)$/ },
  { path: "/operator/margin" },
  { path: "/operator/log" },
  { path: "/docs" },
  { path: "/docs", isOutside: true },
  { path: "/docs/clients" },
  { path: "/docs/errors" },
  { path: "/docs/limits" },
  { path: "/docs/caching" },
  { path: "/docs/billing" },
  { path: "/docs/transfers" },
];
