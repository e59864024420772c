import { expect, test } from "vitest";
import { deviceCookie, knownDevice } from "./sign-in/known-devices.ts";
import { cookiePlanOf } from "./session-cookie.ts";

test("cookies belong to this host alone where people come over https", () => {
  const plan = cookiePlanOf("https://saldo.example");
  expect(plan).toEqual({
    isSecure: true,
    sessionName: "__Host-saldo_session",
    deviceName: "__Host-saldo_device",
    signUpName: "__Host-saldo_sign_up",
  });
  const line = deviceCookie(plan, "secret", "a@b.example");
  expect(line).toMatch(
    /^__Host-saldo_device=[\w-]{22}\.[\w-]{43}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
  );
});

test("browsers keep cookies over plain http, where no name with __Host- would be", () => {
  const plan = cookiePlanOf("http://127.0.0.1:3000");
  expect(plan).toEqual({
    isSecure: false,
    sessionName: "saldo_session",
    deviceName: "saldo_device",
    signUpName: "saldo_sign_up",
  });
});

test("a device is known for the address that signed in from it, and by our own signature", () => {
  const plan = cookiePlanOf("http://127.0.0.1:3000");
  const [cookies = ""] = deviceCookie(plan, "secret", "a@b.example").split(";");
  expect(knownDevice(cookies, { plan, secret: "secret", email: "a@b.example" })).toMatch(/^[\w-]{22}$/);
  expect(knownDevice(cookies, { plan, secret: "secret", email: "b@b.example" })).toBeNull();
  expect(knownDevice(cookies, { plan, secret: "other", email: "a@b.example" })).toBeNull();
  expect(knownDevice("", { plan, secret: "secret", email: "a@b.example" })).toBeNull();
});
