import { expect, test } from "vitest";
import { UpstreamBusy } from "../../kernel/errors.ts";
import { listedDigests } from "./listed-passwords.ts";
import { hashPassword, isCommonPassword, verifyPassword } from "./passwords.ts";

test("keeps a password as an argon2id hash that fits it alone", async () => {
  const hash = await hashPassword("kuda benar baterai staples");
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await verifyPassword({ hash, password: "kuda benar baterai staples" })).toBe(true);
  expect(await verifyPassword({ hash, password: "kuda benar baterai stapleS" })).toBe(false);
});

test("hashes few at once, lets some wait, and refuses the rest", async () => {
  const flood = await Promise.allSettled(Array.from({ length: 80 }, (_, i) => hashPassword(`sandi nomor ${i}`)));
  const refused = flood.filter((each) => each.status === "rejected");
  expect(refused).toHaveLength(80 - 2 - 64);
  expect(refused.every(({ reason }) => reason instanceof UpstreamBusy)).toBe(true);
  // A refused caller can try again.
  expect(await hashPassword("sesudah banjir reda")).toMatch(/^\$argon2id/);
});

test.each([
  "Password12345",
  "aaaaaaaaaaaa",
  "abababababab",
  "qwertyuiopas",
  "123456789012",
  "987654321098",
  "pembeli12345",
  "Password123!",
  "P@ssw0rd1234",
  "Qwerty12345!",
  "Welcome2026!",
  "Indonesia2026",
  "S4l d0-2026!!",
  "saldo-admin-2026",
  "iloveyou2forever",
  "Bismillah123!",
  "sayangku12345",
  "1qaz@WSX3edc",
  "qwerty-asdfgh",
  "abc1abc1abc1",
  "17081945170845",
  "+62 812 3456 7890",
  "Pembeli.Test.2026",
  "Merchant-Operator-1",
  "transfer-topup-99",
])("knows %s as one that is guessed first", (password) =>
  expect(isCommonPassword(password, "pembeli@test.example")).toBe(true),
);

test.each(["sonyericsson", "FinalFantasy", "4815162342lost", "1234567890qwe"])(
  "knows %s from the published list, in any case",
  (password) => expect(isCommonPassword(password, "pembeli@test.example")).toBe(true),
);

test("the published list has 3000 digests, in order", () => {
  const digests = [...listedDigests()];
  expect(digests).toHaveLength(3_000);
  expect(digests.filter((digest) => !/^[0-9a-f]{12}$/.test(digest))).toEqual([]);
  expect(digests).toEqual(digests.toSorted());
});

test.each([
  "kuda benar baterai staples",
  "pembeli suka kopi susu",
  "x7#Lq9!vT2mR",
  "penyu hijau berenang pelan",
  "a-long-quiet-river",
  "тихая длинная река",
  "7#9!2@46$8&1:3",
  "8305 1764 9220 5318",
  "password is not my only friend today",
])("takes %s", (password) => expect(isCommonPassword(password, "pembeli@test.example")).toBe(false));
