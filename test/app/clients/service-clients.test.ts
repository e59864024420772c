// `saldo/client` as the guide to clients shows it: its snippet is run unchanged, but for the addresses.

import { execFile } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { status } from "@grpc/grpc-js";
import { ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  BillingService,
  connectClient,
  ErrorFactsSchema,
  grpcJsClient,
  KeysService,
} from "../../../src/client/client.ts";
import { type ServedSaldo, serveSaldo } from "./served-saldo.ts";

const ROOT = new URL("../../../", import.meta.url);

let served: ServedSaldo;
let token: string;
let accountId: string;
beforeAll(async () => {
  served = await serveSaldo();
  ({ accountId } = await served.customer({ credit: "25000" }));
  ({ token = "" } = await served.saldo([
    "service-token",
    "create",
    "--all",
    "--name",
    "tests",
    "--scope",
    "read,keys",
  ]));
});
afterAll(() => served.stop());

const addresses = () => ({ baseUrl: served.server.httpUrl, address: served.server.grpcAddress });

test("the snippet of the guide to clients runs", async () => {
  const readme = await readFile(new URL(".github/CLIENTS.md", ROOT), "utf8");
  const snippet = [...readme.matchAll(/```ts\n(.*?)```/gs)]
    .map(([, text = ""]) => text)
    .find((text) => text.includes("saldo/client"));
  const { baseUrl, address } = addresses();
  const text = snippet?.replace("http://127.0.0.1:3000", baseUrl).replace("127.0.0.1:3001", address) ?? "";
  expect(text).toContain(baseUrl);
  // Beside package.json, where the package knows itself by its name.
  const file = fileURLToPath(new URL(`.try-${process.pid}.mts`, ROOT));
  await writeFile(file, text);
  try {
    const env = { ...process.env, SALDO_SERVICE_TOKEN: token, SALDO_ACCOUNT: accountId };
    const { stdout } = await promisify(execFile)(process.execPath, [file], { env, timeout: 30_000 });
    expect(stdout).toMatch(/^25000\ngw_\w{4}\n$/);
  } finally {
    await rm(file);
  }
});

test("both clients send the caller's credentials, and return the facts of a refusal", async () => {
  const caller = { ...addresses(), token, accountId };
  const keys = grpcJsClient(KeysService, caller);
  try {
    const { key } = await keys.createKey({ name: "one" });
    const listed = await connectClient(KeysService, caller).listKeys({});
    expect(listed.keys.map(({ id }) => id)).toContain(key?.id);
    await expect(keys.createKey({ name: "" })).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
  } finally {
    keys.close();
  }
  const nameless = connectClient(BillingService, { ...addresses(), token });
  const refusal = await nameless.getBalance({}).catch((error: unknown) => ConnectError.from(error));
  expect(refusal).toBeInstanceOf(ConnectError);
  const [facts] = (refusal as ConnectError).findDetails(ErrorFactsSchema);
  expect(facts?.details).toMatchObject([{ field: "x-saldo-account", rule: "required" }]);
});

test("a token of one account is of no use for another, and of none once it is revoked", async () => {
  const { accountId: other } = await served.customer();
  const made = await served.saldo(["service-token", "create", "--account", accountId]);
  const client = (named?: string) =>
    connectClient(BillingService, { ...addresses(), token: made["token"] ?? "", ...(named && { accountId: named }) });
  expect((await client().getBalance({})).balance?.available).toBe("25000");
  await expect(client(other).getBalance({})).rejects.toMatchObject({ rawMessage: "There is no such account." });
  await served.saldo(["service-token", "revoke", "--token-id", made["tokenId"] ?? ""]);
  await expect
    .poll(
      () =>
        client()
          .getBalance({})
          .catch((error: unknown) => ConnectError.from(error).message),
      {
        timeout: 10_000,
        interval: 250,
      },
    )
    .toMatch(/unauthenticated/);
});
