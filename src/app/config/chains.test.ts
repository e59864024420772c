import { describe, expect, it } from "vitest";
import { readConfig } from "./config.ts";

const KEY = `0x${"1".repeat(64)}`;
const TOKEN = `0x${"a".repeat(40)}`;
const ETHEREUM = {
  SALDO_ETHEREUM_RPC_URL: "http://127.0.0.1:8545",
  SALDO_ETHEREUM_KEY_VARIABLE: "HOT_WALLET_KEY",
  HOT_WALLET_KEY: KEY,
};

describe("the chains of the configuration", () => {
  it("are none without a node's address", () => {
    expect(readConfig({ SALDO_ETHEREUM_CHAIN_ID: "1", HOT_WALLET_KEY: KEY }).chains).toEqual([]);
  });

  it("have working defaults, and do not hold the key", () => {
    const { chains } = readConfig(ETHEREUM);
    expect(chains).toMatchObject([
      { network: "ethereum", chainId: 1, finality: "finalized", tokens: {}, maxFeeGwei: 200, timeoutMs: 10_000 },
    ]);
    expect(JSON.stringify(chains)).not.toContain(KEY);
  });

  it("are read whole, each by its own variables", () => {
    const { chains } = readConfig({
      ...ETHEREUM,
      SALDO_ETHEREUM_TOKENS: `USDT=${TOKEN}, USDC=${TOKEN}`,
      SALDO_ETHEREUM_FINALITY: "12",
      SALDO_ETHEREUM_STUCK_SECONDS: "60",
      SALDO_BSC_RPC_URL: "https://bsc.example",
      SALDO_BSC_KEY_VARIABLE: "HOT_WALLET_KEY",
    });
    expect(chains).toMatchObject([
      { network: "ethereum", tokens: { USDT: TOKEN, USDC: TOKEN }, finality: 12, stuckAfterMs: 60_000 },
      { network: "bsc", chainId: 56, tokens: {}, finality: "finalized" },
    ]);
  });

  it("bounds what goes out of a wallet on a day, and what is too small to be sent, unless it is set otherwise", () => {
    const [chain] = readConfig({ ...ETHEREUM, SALDO_ETHEREUM_DAILY_CAP: "USDT=100" }).chains;
    expect(chain).toMatchObject({
      dailyCaps: { ETH: "10", USDT: "100", USDC: "25000" },
      least: { ETH: "0.005", USDT: "10" },
      leastFee: { ETH: "0.001", USDT: "3" },
      second: null,
      msPerBlock: 6_000,
    });
    const asked = { SALDO_ETHEREUM_SECOND_RPC_URL: "https://other", SALDO_ETHEREUM_SECOND_ABOVE: "USDT=1000" };
    const [with2] = readConfig({ ...ETHEREUM, ...asked }).chains;
    expect(with2?.second).toEqual({ rpcUrl: "https://other", above: { USDT: "1000" } });
  });

  it.each([
    ["a node without a key", { SALDO_ETHEREUM_KEY_VARIABLE: "" }, "SALDO_ETHEREUM_KEY_VARIABLE"],
    ["a key that is not there", { HOT_WALLET_KEY: "" }, "SALDO_ETHEREUM_KEY_VARIABLE"],
    [
      "a key that the catalog could send away",
      { SALDO_ETHEREUM_KEY_VARIABLE: "WALLET_API_KEY", WALLET_API_KEY: KEY },
      "SALDO_ETHEREUM_KEY_VARIABLE",
    ],
    ["an unknown token", { SALDO_ETHEREUM_TOKENS: `DOGE=${TOKEN}` }, "SALDO_ETHEREUM_TOKENS"],
    ["a contract that is none", { SALDO_ETHEREUM_TOKENS: "USDT=0x12" }, "SALDO_ETHEREUM_TOKENS"],
    ["finality after no block", { SALDO_ETHEREUM_FINALITY: "0" }, "SALDO_ETHEREUM_FINALITY"],
    ["another kind of finality", { SALDO_ETHEREUM_FINALITY: "soon" }, "SALDO_ETHEREUM_FINALITY"],
    ["a cap that is none", { SALDO_ETHEREUM_DAILY_CAP: "ETH=many" }, "SALDO_ETHEREUM_DAILY_CAP"],
    ["a second node that is none", { SALDO_ETHEREUM_SECOND_RPC_URL: "ftp://node" }, "SALDO_ETHEREUM_SECOND_RPC_URL"],
    ["an address that is none", { SALDO_ETHEREUM_RPC_URL: "ftp://node" }, "SALDO_ETHEREUM_RPC_URL"],
  ])("refuse %s by name, and show no key", (_what, wrong, name) => {
    const read = () => readConfig({ ...ETHEREUM, ...wrong });
    expect(read).toThrow(name);
    expect(read).not.toThrow(KEY);
  });
});

describe("the signer of a chain", () => {
  const WALLET = `0x${"b".repeat(40)}`;
  const node = { SALDO_ETHEREUM_RPC_URL: "http://127.0.0.1:8545" };
  const pkcs11 = {
    ...node,
    SALDO_ETHEREUM_SIGNER: "pkcs11",
    SALDO_ETHEREUM_SIGNER_KEY_ID: "01",
    SALDO_ETHEREUM_WALLET: WALLET,
    SALDO_PKCS11_MODULE: "/usr/lib/token.so",
    SALDO_PKCS11_TOKEN_LABEL: "hot",
    SALDO_PKCS11_PIN: "1234567",
  };
  const aws = {
    ...node,
    SALDO_ETHEREUM_SIGNER: "aws-kms",
    SALDO_ETHEREUM_SIGNER_KEY_ID: "alias/hot",
    SALDO_ETHEREUM_WALLET: WALLET,
    AWS_REGION: "eu-central-1",
    AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
    AWS_SECRET_ACCESS_KEY: "secret",
  };
  const KEY_VERSION = "projects/p/locations/global/keyRings/r/cryptoKeys/hot/cryptoKeyVersions/1";

  it("is read with its wallet, and the configuration holds no secret of it", () => {
    const { chains, signers } = readConfig(pkcs11);
    expect(chains).toMatchObject([{ signer: { kind: "pkcs11", key: "01", wallet: WALLET } }]);
    expect(signers).toMatchObject({ timeoutMs: 10_000, pkcs11: { tool: "pkcs11-tool", token: "hot" } });
    expect(JSON.stringify({ chains, signers })).not.toContain("1234567");
    expect(readConfig(aws).signers.aws).toEqual({
      region: "eu-central-1",
      url: "https://kms.eu-central-1.amazonaws.com",
    });
    const google = { ...node, SALDO_ETHEREUM_SIGNER: "google-kms", SALDO_ETHEREUM_SIGNER_KEY_ID: KEY_VERSION };
    expect(readConfig(google).chains).toMatchObject([{ signer: { kind: "google-kms", wallet: null } }]);
    expect(readConfig(ETHEREUM).chains).toMatchObject([{ signer: null }]);
  });

  it("leaves no secret in the environment of programs", () => {
    const { programEnvironment } = readConfig({ ...pkcs11, ...aws, PATH: "/bin", SOFTHSM2_CONF: "/etc/softhsm" });
    expect(programEnvironment()).toEqual({ PATH: "/bin", SOFTHSM2_CONF: "/etc/softhsm" });
  });

  it.each<[string, Record<string, string>, string]>([
    ["another kind", { ...pkcs11, SALDO_ETHEREUM_SIGNER: "ledger" }, "SALDO_ETHEREUM_SIGNER"],
    ["a key in a variable beside it", { ...pkcs11, ...ETHEREUM }, "SALDO_ETHEREUM_KEY_VARIABLE"],
    ["no name of a key", { ...pkcs11, SALDO_ETHEREUM_SIGNER_KEY_ID: "" }, "SALDO_ETHEREUM_SIGNER_KEY_ID"],
    [
      "a label in place of an id",
      { ...pkcs11, SALDO_ETHEREUM_SIGNER_KEY_ID: "wallet" },
      "SALDO_ETHEREUM_SIGNER_KEY_ID",
    ],
    ["a private key as the wallet", { ...pkcs11, SALDO_ETHEREUM_WALLET: KEY }, "SALDO_ETHEREUM_WALLET"],
    ["no PIN", { ...pkcs11, SALDO_PKCS11_PIN: "" }, "SALDO_PKCS11_PIN"],
    ["no library", { ...pkcs11, SALDO_PKCS11_MODULE: "" }, "SALDO_PKCS11_MODULE"],
    ["no region", { ...aws, AWS_REGION: "" }, "AWS_REGION"],
    ["a region that is a host", { ...aws, AWS_REGION: "evil.example/" }, "AWS_REGION"],
    ["no credentials", { ...aws, AWS_SECRET_ACCESS_KEY: "" }, "AWS_SECRET_ACCESS_KEY"],
    ["a key service by http", { ...aws, SALDO_AWS_KMS_URL: "http://kms.example" }, "SALDO_AWS_KMS_URL"],
    ["a key without its version", { ...aws, SALDO_ETHEREUM_SIGNER: "google-kms" }, "SALDO_ETHEREUM_SIGNER_KEY_ID"],
  ])("is refused with %s, by the name of the setting", (_what, environment, name) => {
    const read = () => readConfig(environment);
    expect(read).toThrow(name);
    expect(read).not.toThrow(/1234567/);
  });
});
