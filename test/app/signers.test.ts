// Signers as the settings of a service name them: what pays, what only watches, and the command that shows the address of a key.

import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRealChains, withoutWalletKeys } from "../../src/app/compose/payouts.ts";
import { readConfig } from "../../src/app/config/config.ts";
import { WrongSigner } from "../../src/merchant/chains/signers/signer.ts";
import { publicKeyOf } from "../chains/random-signer.ts";
import { FakeAwsKms, FakeGoogleKms } from "../chains/fake-key-services.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { SoftToken, tokenOf } from "../setup/soft-hsm.ts";

const KEY = generatePrivateKey();
const WALLET = privateKeyToAddress(KEY);
const NODE = { SALDO_ETHEREUM_RPC_URL: "http://127.0.0.1:9", SALDO_DEMO: "0" };

describe("a service whose wallet has a signer", () => {
  let aws: FakeAwsKms;
  let google: FakeGoogleKms;
  beforeAll(async () => {
    [aws, google] = [await FakeAwsKms.open(KEY), await FakeGoogleKms.open(KEY)];
  });
  afterAll(() => Promise.all([aws.stop(), google.stop()]));

  const atAws = (): Record<string, string> => ({
    ...NODE,
    SALDO_ETHEREUM_SIGNER: "aws-kms",
    SALDO_ETHEREUM_SIGNER_KEY_ID: aws.keyId,
    SALDO_ETHEREUM_WALLET: WALLET,
    AWS_REGION: "eu-test-1",
    AWS_ACCESS_KEY_ID: aws.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: aws.credentials.secretAccessKey,
    SALDO_AWS_KMS_URL: aws.url,
  });
  const atGoogle = (): Record<string, string> => ({
    ...NODE,
    SALDO_ETHEREUM_SIGNER: "google-kms",
    SALDO_ETHEREUM_SIGNER_KEY_ID: google.keyVersion,
    SALDO_ETHEREUM_WALLET: WALLET,
    SALDO_GOOGLE_KMS_CREDENTIALS: google.credentials,
    SALDO_GOOGLE_KMS_URL: google.url,
  });

  it.each([
    ["AWS KMS", atAws],
    ["Google KMS", atGoogle],
  ])("at %s pays, and asks nothing before it has to", async (_kind, settings) => {
    const [real] = await createRealChains(readConfig(settings()));
    expect(real).toMatchObject({ pays: true, chain: { wallet: WALLET } });
    expect(real?.chain.signerTrouble()).toBeNull();
    await real?.chain.checkSigner();
    expect(real?.chain.signerTrouble()).toBeNull();
  });

  it("starts while the signer is away, and has its trouble then", async () => {
    const [real] = await createRealChains(readConfig({ ...atAws(), SALDO_AWS_KMS_URL: "http://127.0.0.1:9" }));
    await expect(real?.chain.checkSigner()).rejects.toThrow("cannot be reached");
    expect(real?.chain.signerTrouble()?.sinceMs).toBeGreaterThan(0);
  });

  it("refuses a signer with the key of another wallet", async () => {
    const other = privateKeyToAddress(generatePrivateKey());
    const [real] = await createRealChains(readConfig({ ...atAws(), SALDO_ETHEREUM_WALLET: other }));
    await expect(real?.chain.checkSigner()).rejects.toThrow(WrongSigner);
  });

  it("does not start without the wallet's address", async () => {
    await expect(createRealChains(readConfig({ ...atAws(), SALDO_ETHEREUM_WALLET: "" }))).rejects.toThrow(
      /SALDO_ETHEREUM_WALLET must be the wallet's address/,
    );
  });

  it.each([
    ["AWS KMS", atAws],
    ["Google KMS", atGoogle],
  ])("at %s gives other workers the wallet's address, and nothing that can sign", async (_kind, settings) => {
    const own = await withoutWalletKeys(readConfig(settings()));
    expect(JSON.stringify(own)).not.toMatch(/secret-of-the-test|AKIDEXAMPLE|PRIVATE KEY/);
    const [real] = await createRealChains(readConfig(own));
    expect(real).toMatchObject({ pays: false, chain: { wallet: WALLET } });
    const order = { nonce: 0, payment: null, fee: { most: 1n, priority: 1n } };
    await expect(real?.chain.sign(order)).rejects.toThrow("watches the wallet");
  });

  it("on a token shows the address of its key by `saldo payout signer`, and the PIN nowhere", async (context) => {
    const token = tokenOf(context, await SoftToken.open());
    const { module, tool, token: label, pin, keyId, environment } = token.settings;
    const settings = {
      ...NODE,
      SALDO_ETHEREUM_SIGNER: "pkcs11",
      SALDO_ETHEREUM_SIGNER_KEY_ID: keyId,
      SALDO_PKCS11_TOOL: tool,
      SALDO_PKCS11_MODULE: module,
      SALDO_PKCS11_TOKEN_LABEL: label,
      SALDO_PKCS11_PIN: pin,
      SOFTHSM2_CONF: environment["SOFTHSM2_CONF"] ?? "",
    };
    const shown = await saldoJson(["payout", "signer"], settings);
    const [signer] = shown["signers"] as unknown as { address: string }[];
    expect(signer).toMatchObject({ chain: "ethereum", kind: "pkcs11", wallet: null });
    expect(JSON.stringify(shown)).not.toContain(pin);
    const config = readConfig({ ...environment, ...settings, SALDO_ETHEREUM_WALLET: signer?.address ?? "" });
    const [real] = await createRealChains(config);
    await real?.chain.checkSigner();
    await token.drop();
  });

  it("on a token tries a wrong PIN once, however many chains have keys there, and by no later start", async () => {
    const folder = await mkdtemp(join(tmpdir(), "saldo-fake-token-"));
    const [tool, tries, key] = [join(folder, "pkcs11-tool"), join(folder, "tries"), join(folder, "key")];
    // It shows the key to everyone, and refuses the PIN after a while: both chains ask meanwhile.
    const lines = [
      "#!/bin/sh",
      'case "$*" in',
      `  *--login*) echo try >> ${tries}; sleep 0.3; echo CKR_PIN_INCORRECT >&2; exit 1 ;;`,
      `  *) cat ${key} ;;`,
      "esac",
    ];
    await writeFile(key, publicKeyOf(KEY));
    await writeFile(tool, `${lines.join("\n")}\n`);
    await chmod(tool, 0o755);
    const chainOf = (name: string): Record<string, string> => ({
      [`SALDO_${name}_RPC_URL`]: "http://127.0.0.1:9",
      [`SALDO_${name}_SIGNER`]: "pkcs11",
      [`SALDO_${name}_SIGNER_KEY_ID`]: "01",
      [`SALDO_${name}_WALLET`]: WALLET,
    });
    const config = readConfig({
      PATH: process.env["PATH"] ?? "",
      SALDO_DEMO: "0",
      SALDO_DATA_DIR: folder,
      ...chainOf("ETHEREUM"),
      ...chainOf("BSC"),
      SALDO_PKCS11_TOOL: tool,
      SALDO_PKCS11_MODULE: join(folder, "library.so"),
      SALDO_PKCS11_TOKEN_LABEL: "saldo-test",
      SALDO_PKCS11_PIN: "0000000",
    });
    const chains = (await createRealChains(config)).map(({ chain }) => chain);
    expect(chains).toHaveLength(2);
    const failures = await Promise.all(chains.map((chain) => chain.checkSigner().catch(String)));
    expect(failures.toSorted((one, other) => String(one).length - String(other).length)).toEqual([
      expect.stringContaining("refuses the PIN (CKR_PIN_INCORRECT)"),
      expect.stringContaining("is not tried again until SALDO_PKCS11_PIN is another one"),
    ]);
    // Nor does a chain that is opened later.
    const [later] = await createRealChains(config);
    await expect(later?.chain.checkSigner()).rejects.toThrow(`${join(folder, "refused-pin")} is removed`);
    expect(await readFile(tries, "utf8")).toBe("try\n");
    await rm(folder, { recursive: true });
  });
});
