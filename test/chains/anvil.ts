// A real Ethereum node for a test file: anvil, from npm, on a free port of the loopback, which mines only on command.
// It is stopped by its own pid; where its binary is missing the test fails.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { encodeAbiParameters, encodeFunctionData, type Hex, parseAbi, toHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { committedToken } from "./test-token/compile.ts";

const READY_WITHIN_MS = 20_000;
const TOKEN_SUPPLY = 10n ** 15n;
const TOKEN_ABI = parseAbi([
  "function transfer(address to, uint256 value) returns (bool)",
  "function refuse(address holder)",
  "function ignore(address holder)",
  "function tax(address holder)",
]);
const TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/** A key and its address. */
export type TestWallet = { readonly privateKey: Hex; readonly address: Hex };

export class Anvil {
  readonly url: string;
  readonly #child: ChildProcess;
  #calls = 0;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  static async start(): Promise<Anvil> {
    const folder = dirname(createRequire(import.meta.url).resolve("@foundry-rs/anvil-linux-amd64/package.json"));
    const child = spawn(
      join(folder, "bin", "anvil"),
      ["--host", "127.0.0.1", "--port", "0", "--no-mining", "--accounts", "1"],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    const { stdout } = child;
    if (stdout === null) throw new Error("a test node has pipes");
    const address = await new Promise<string>((resolve, reject) => {
      const giveUp = setTimeout(() => reject(new Error("anvil does not listen")), READY_WITHIN_MS);
      child.once("error", reject);
      child.once("exit", (code) => reject(new Error(`anvil ended with ${code}`)));
      createInterface(stdout).on("line", (line) => {
        const [, listening] = /^Listening on (\S+)/.exec(line) ?? [];
        if (listening === undefined) return;
        clearTimeout(giveUp);
        resolve(listening);
      });
    });
    return new Anvil(child, `http://${address}`);
  }

  /** Calls a method of the node. Errors: the node's own. */
  async rpc<Result = unknown>(method: string, params: readonly unknown[] = []): Promise<Result> {
    this.#calls += 1;
    const body = JSON.stringify({ jsonrpc: "2.0", id: this.#calls, method, params });
    const response = await fetch(this.url, { method: "POST", headers: { "content-type": "application/json" }, body });
    const answer = (await response.json()) as { result: Result; error?: { message: string } };
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result;
  }

  async mine(blocks = 1): Promise<void> {
    await this.rpc("anvil_mine", [toHex(blocks)]);
  }

  /** A new wallet with so much of the native coin. */
  async wallet(balance = 10n ** 20n): Promise<TestWallet> {
    const privateKey = generatePrivateKey();
    const { address } = privateKeyToAccount(privateKey);
    await this.rpc("anvil_setBalance", [address, toHex(balance)]);
    return { privateKey, address };
  }

  /** Deploys the test token; all of it belongs to a node's own account. */
  async deployToken(): Promise<Hex> {
    const supply = encodeAbiParameters([{ type: "uint256" }], [TOKEN_SUPPLY]);
    const data: Hex = `${committedToken().bytecode}${supply.slice(2) as ""}`;
    const { contractAddress } = await this.#send({ data });
    if (contractAddress === null) throw new Error("the token was not deployed");
    return contractAddress;
  }

  /** Sends some of the token to a wallet. */
  async giveTokens(token: Hex, to: Hex, value: bigint): Promise<void> {
    await this.#send({
      to: token,
      data: encodeFunctionData({ abi: TOKEN_ABI, functionName: "transfer", args: [to, value] }),
    });
  }

  /** Makes transfers of the token to a holder revert, answer false and move nothing, or deliver a hundredth less. */
  async spoil(token: Hex, functionName: "refuse" | "ignore" | "tax", holder: Hex): Promise<void> {
    await this.#send({ to: token, data: encodeFunctionData({ abi: TOKEN_ABI, functionName, args: [holder] }) });
  }

  /** The token's transfers to a holder, in blocks of the current chain. */
  async tokenTransfersTo(token: Hex, to: Hex): Promise<{ transactionHash: Hex; value: bigint }[]> {
    const topics = [TRANSFER_TOPIC, null, `0x${to.slice(2).toLowerCase().padStart(64, "0")}`];
    const logs = await this.rpc<{ transactionHash: Hex; data: Hex }[]>("eth_getLogs", [
      { address: token, fromBlock: "0x0", toBlock: "latest", topics },
    ]);
    return logs.map(({ transactionHash, data }) => ({ transactionHash, value: BigInt(data) }));
  }

  /** The transactions of a wallet that are in the mempool and can be mined. */
  async pooledOf(wallet: Hex): Promise<Hex[]> {
    const { pending } = await this.rpc<{ pending: Record<string, Record<string, { hash: Hex }>> }>("txpool_content");
    const own = Object.entries(pending).find(([from]) => from.toLowerCase() === wallet.toLowerCase());
    return Object.values(own?.[1] ?? {}).map(({ hash }) => hash);
  }

  async balanceOf(address: Hex): Promise<bigint> {
    return BigInt(await this.rpc<Hex>("eth_getBalance", [address, "latest"]));
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exit;
  }

  async #send(call: { to?: Hex; data: Hex }): Promise<{ contractAddress: Hex | null }> {
    const [from] = await this.rpc<Hex[]>("eth_accounts");
    const hash = await this.rpc<Hex>("eth_sendTransaction", [{ from, gas: toHex(3_000_000), ...call }]);
    await this.mine();
    const receipt = await this.rpc<{ status: Hex; contractAddress: Hex | null }>("eth_getTransactionReceipt", [hash]);
    if (receipt.status !== "0x1") throw new Error("a transaction of the test itself was reverted");
    return receipt;
  }
}
