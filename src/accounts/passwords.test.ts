import { expect, test } from "vitest";
import { UpstreamBusy } from "../kernel/errors.ts";
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
  // Whoever was refused can try again.
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
])("knows %s as one that is guessed first", (password) =>
  expect(isCommonPassword(password, "pembeli@test.example")).toBe(true),
);

test.each(["kuda benar baterai staples", "pembeli suka kopi susu", "x7#Lq9!vT2mR"])("takes %s", (password) =>
  expect(isCommonPassword(password, "pembeli@test.example")).toBe(false),
);
