// Receivers and networks that handle callbacks badly.

import { describe, expect, test } from "vitest";
import { type Behaviour, eventIdOf, patience, sayOk } from "./callback-receiver.ts";
import { CallbackSetup } from "./callback-setup.ts";

const setup = CallbackSetup.forFile();

describe("a receiver", () => {
  test.each<[string, (elsewhere: string) => Behaviour, RegExp, number | null]>([
    ["answers 500", () => (response) => void response.writeHead(500).end("oh no"), /^answered 500 .*"oh no"$/, 500],
    [
      "answers OK with 404",
      () => (response) => void response.writeHead(404).end('{"message":"OK"}'),
      /^answered 404/,
      404,
    ],
    ["answers something else", () => (response) => void response.end('{"message":"ok"}'), /^answered 200 without/, 200],
    ["answers nothing", () => (response) => void response.end(), /^answered 200 .*: ""$/, 200],
    ["answers null", () => (response) => void response.end("null"), /^answered 200/, 200],
    ["answers with a page", () => (response) => void response.end("<html>\u0007OK"), /"<html>\\u0007OK"$/, 200],
    [
      "answers without an end",
      () => (response) => {
        // So much that it cannot all lie in buffers between the two.
        const pour = (): void => {
          while (!response.destroyed && response.write('{"message":"OK"}'.padEnd(65_536))) continue;
        };
        response.on("drain", pour);
        pour();
      },
      /more than is read/,
      200,
    ],
    [
      "sends us elsewhere",
      (elsewhere) => (response) => void response.writeHead(307, { location: elsewhere }).end(),
      /^answered 307/,
      307,
    ],
    ["hangs up", () => (response) => void response.destroy(), /^could not be reached: /, null],
    [
      "hangs up in the middle",
      () => (response) => void (response.write('{"mess'), setImmediate(() => response.destroy())),
      /^could not be reached: /,
      null,
    ],
  ])("that %s is called again until it answers OK", async (_what, behaviour, problem, httpStatus) => {
    const receiver = await setup.receiver();
    const elsewhere = await setup.receiver();
    const deliverer = setup.deliverer();
    const merchant = await setup.merchant(receiver.url);
    receiver.behave = behaviour(elsewhere.url);
    await setup.transfer(merchant);
    await setup.deliver(deliverer);
    const [tried] = await setup.deliveries(merchant.merchantId);
    expect(tried).toMatchObject({
      state: "pending",
      attempts: [{ httpStatus, problem: expect.stringMatching(problem) as string }],
    });
    expect(tried?.attempts[0]?.problem?.length).toBeLessThan(300);
    const dueInMs = (tried?.nextAttemptAt?.getTime() ?? 0) - Date.now();
    expect(dueInMs).toBeGreaterThan(0);
    expect(dueInMs).toBeLessThan(16_000);
    // Not before it is due.
    await setup.deliver(deliverer);
    expect(receiver.received).toHaveLength(1);

    receiver.behave = sayOk;
    await setup.deliverAgain(deliverer, merchant.merchantId, 1);
    expect(await setup.deliveries(merchant.merchantId)).toMatchObject([{ state: "delivered", attempts: [{}, {}] }]);
    expect(eventIdOf(receiver.received[1])).toBe(eventIdOf(receiver.received[0]));
    expect(elsewhere.received).toEqual([]);
  });

  test("that answers OK too late is called again", async () => {
    const receiver = await setup.receiver();
    const merchant = await setup.merchant(receiver.url);
    const late = patience();
    receiver.behave = late.behave;
    await setup.transfer(merchant);
    await setup.deliver(setup.deliverer({ sending: { withinMs: 300 } }));
    late.end();
    expect(await setup.deliveries(merchant.merchantId)).toMatchObject([
      { state: "pending", attempts: [{ httpStatus: null, problem: "did not answer in time" }] },
    ]);
    receiver.behave = sayOk;
    await setup.deliverAgain(setup.deliverer(), merchant.merchantId, 1);
    expect(await setup.deliveries(merchant.merchantId)).toMatchObject([{ state: "delivered" }]);
  });

  test("that repeats the callback does not bring the token or the secret into the log", async () => {
    const receiver = await setup.receiver();
    const merchant = await setup.merchant(receiver.url);
    receiver.behave = (response, { headers }) =>
      void response.end(`${String(headers["x-callback-token"])} ${merchant.secret}`);
    await setup.transfer(merchant);
    await setup.deliver(setup.deliverer());
    const [delivery] = await setup.deliveries(merchant.merchantId);
    expect(delivery?.attempts[0]?.problem).toContain("[token] [secret]");
    expect(JSON.stringify(delivery)).not.toContain(merchant.token);
    expect(JSON.stringify(delivery)).not.toContain(merchant.secret);
  });

  test("whose name resolves to an internal address is not called, even if it resolved to another before", async () => {
    const receiver = await setup.receiver();
    const merchant = await setup.merchant(`http://hooks.example.com:${receiver.port}/`);
    await setup.transfer(merchant);
    const resolve: NonNullable<Parameters<typeof setup.deliverer>[0]>["sending"] = {
      resolve: (_name, _options, done) => done(null, [{ address: "127.0.0.1", family: 4 }]),
    };
    await setup.deliver(setup.deliverer({ allowLoopback: false, sending: resolve }));
    const problem = "the name leads to an address that is not of the public internet";
    expect(await setup.deliveries(merchant.merchantId)).toMatchObject([{ attempts: [{ httpStatus: null, problem }] }]);
    expect(receiver.received).toEqual([]);
  });

  test("at an address that is forbidden by now is not called", async () => {
    const receiver = await setup.receiver();
    const merchant = await setup.merchant(receiver.url);
    await setup.transfer(merchant);
    await setup.deliver(setup.deliverer({ allowLoopback: false }));
    const [delivery] = await setup.deliveries(merchant.merchantId);
    expect(delivery?.attempts[0]?.problem).toContain("must be an address of the public internet");
    expect(receiver.received).toEqual([]);
  });
});
