// Amounts by currency, as settings write them: `USDT=1000,ETH=0.5`, in whole coins.

import type { SettingReaders } from "./setting-readers.ts";

/** Reads one setting. A currency that it does not name has the amount of `fallback`. Errors: ConfigError. */
export function readAmounts(
  name: string,
  { text, wrong }: Pick<SettingReaders, "text" | "wrong">,
  fallback: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const value = text(name);
  if (value === null) return fallback;
  const entries = value.split(",").filter((entry) => entry.trim() !== "");
  const named = entries.map((entry) => {
    const [, code, amount] = /^\s*([A-Z]{3,10})\s*=\s*(\d{1,15}(?:\.\d{1,18})?)\s*$/.exec(entry) ?? [];
    if (code === undefined || amount === undefined) {
      throw wrong(name, value, "amounts in whole coins by currency, such as USDT=1000,ETH=0.5");
    }
    return [code, amount] as const;
  });
  return { ...fallback, ...Object.fromEntries(named) };
}
