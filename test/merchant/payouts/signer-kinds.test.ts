// A transfer that each kind of signer outside the process pays on a real node: a token, and fakes of two key services.

import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { createAwsKmsSigner } from "../../../src/merchant/chains/signers/aws-kms-signer.ts";
import { createGoogleKmsSigner } from "../../../src/merchant/chains/signers/google-kms-signer.ts";
import { serviceAccountToken } from "../../../src/merchant/chains/signers/google-token.ts";
import { createPkcs11Signer } from "../../../src/merchant/chains/signers/pkcs11-signer.ts";
import type { Signer } from "../../../src/merchant/chains/signers/signer.ts";
import { FakeAwsKms, FakeGoogleKms } from "../../chains/fake-key-services.ts";
import { SoftToken, tokenOf } from "../../setup/soft-hsm.ts";
import { EvmSetup } from "./evm-setup.ts";

type Opened = { readonly wallet: string; readonly signer: Signer; readonly stop: () => Promise<void> };

async function onToken(context: TestContext): Promise<Opened> {
  const token = tokenOf(context, await SoftToken.open());
  const signer = createPkcs11Signer(token.settings);
  return { wallet: await signer.address(new AbortController().signal), signer, stop: () => token.drop() };
}

async function atAws(): Promise<Opened> {
  const key = generatePrivateKey();
  const service = await FakeAwsKms.open(key);
  const { url, keyId, credentials } = service;
  const signer = createAwsKmsSigner({ region: "eu-test-1", url, keyId, credentials });
  return { wallet: privateKeyToAddress(key), signer, stop: () => service.stop() };
}

async function atGoogle(): Promise<Opened> {
  const key = generatePrivateKey();
  const service = await FakeGoogleKms.open(key);
  const { url, keyVersion, credentials } = service;
  const signer = createGoogleKmsSigner({ url, keyVersion, token: serviceAccountToken(credentials) });
  return { wallet: privateKeyToAddress(key), signer, stop: () => service.stop() };
}

describe("a transfer", () => {
  let setup: EvmSetup;
  beforeAll(async () => {
    setup = await EvmSetup.open();
  });
  afterAll(() => setup.close());

  it.for<[kind: string, open: (context: TestContext) => Promise<Opened>]>([
    ["a token", onToken],
    ["AWS KMS", atAws],
    ["Google KMS", atGoogle],
  ])("is paid once by %s, on a real node", async ([, open], context) => {
    const [to, before] = [await setup.recipient(), await setup.available()];
    const { wallet, signer, stop } = await open(context);
    await setup.anvil.rpc("anvil_setBalance", [wallet, "0x56bc75e2d63100000"]);
    await setup.anvil.giveTokens(setup.token, wallet as Hex, 100_000_000n);
    const transferId = await setup.orderTokens(to);
    const outside = { signer, pace: { timeoutMs: 20_000, pauseMs: 0 } };
    const chain = setup.chain(setup.anvil.url, { privateKey: wallet, signer: outside });
    await setup.runToEnd(setup.engine({ chain }), [transferId]);
    await stop();
    await setup.expectPaidOnce(transferId, to, before);
    expect(setup.troubles).toEqual([]);
  });
});
