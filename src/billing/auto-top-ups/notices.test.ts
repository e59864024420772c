import { expect, test } from "vitest";
import { autoTopUpMail } from "./notices.ts";

const URL = "https://saldo.example/billing";
const notice = { id: "n", accountId: "a", amount: 55_500_000_000n } as const;

test.each(["succeeded", "failed", "paused", "capped"] as const)(
  "a mail of a top-up that %s has both languages, the reader's first",
  (kind) => {
    const english = autoTopUpMail({ ...notice, kind }, URL, "en");
    const indonesian = autoTopUpMail({ ...notice, kind }, URL, "id");
    expect(english.subject).toMatch(/^Saldo: (automatic top-up|the monthly cap).* \/ .*isi saldo otomatis/);
    expect(indonesian.subject).toMatch(/^Saldo: .*isi saldo otomatis.* \/ /);
    const [first, second, , address] = english.text.split("\n");
    expect(indonesian.text.split("\n")).toHaveLength(4);
    expect([first, second].map((line) => /[Ii]si saldo otomatis/.test(line ?? ""))).toEqual([false, true]);
    expect(address).toBe(URL);
  },
);

test("the amount is what was charged, tax included", () => {
  expect(autoTopUpMail({ ...notice, kind: "succeeded" }, URL, "en").text).toContain("Rp 55,500.00 was charged");
  expect(autoTopUpMail({ ...notice, kind: "succeeded" }, URL, "id").text).toContain("Rp 55.500,00 ditagih");
});
