// The nodes of chains that production transfers go out on: whether each answers, is on its chain, has the tokens, and pays fees.

import { createRealChains } from "../../app/compose/payouts.ts";
import type { ChainConfig } from "../../app/config/chains.ts";
import type { Config } from "../../app/config/config.ts";
import type { PayoutChain } from "../../merchant/chains/payout-chain.ts";
import { type Check, failed, type Finding, ok, type CheckContext, reasonOf, warning } from "./check.ts";

/** A node of another provider may be so many blocks away. */
const BLOCKS_APART = 20;

/** A check for each chain. */
export function chainChecks({ config, withinMs }: CheckContext): Check[] {
  if (config.chains.length === 0) {
    return [{ name: "chains", advice: "", look: noChains }];
  }
  return config.chains.map((chain) => ({
    name: chain.network,
    advice: `Look at the node that ${settingOf(chain)} names and the network path to it.`,
    look: () => lookAt(chain, config, withinMs),
  }));
}

function noChains(): Promise<Finding[]> {
  return Promise.resolve([ok("chains", "none is set up, so production transfers are not offered")]);
}

async function lookAt(settings: ChainConfig, config: Config, withinMs: number): Promise<Finding[]> {
  const { network, second, rpcUrl } = settings;
  const chainAt = async (url: string): Promise<PayoutChain | undefined> => {
    const chains = [{ ...settings, rpcUrl: url, second: null, timeoutMs: withinMs }];
    return (await createRealChains({ ...config, chains }))[0]?.chain;
  };
  const first = await lookAtNode(network, await chainAt(rpcUrl), settingOf(settings));
  if (second === null) return first.findings;
  const name = `${network}, second node`;
  const other = await lookAtNode(name, await chainAt(second.rpcUrl), `SALDO_${network.toUpperCase()}_SECOND_RPC_URL`);
  return [...first.findings, ...other.findings, ...apartFinding(network, first.latest, other.latest)];
}

async function lookAtNode(
  name: string,
  chain: PayoutChain | undefined,
  setting: string,
): Promise<{ findings: Finding[]; latest: number | null }> {
  if (chain === undefined) return { findings: [], latest: null };
  try {
    await chain.check();
    const { latest, final } = await chain.head();
    const findings = [
      ok(name, `the node is on its chain, at block ${latest}, ${final} of them final`),
      ...(await walletFinding(name, chain)),
    ];
    return { findings, latest };
  } catch (error) {
    const advice = `Set ${setting}, the id of the chain and the contracts of its tokens so that they belong together, and look at the network path to it.`;
    return { findings: [failed(name, reasonOf(error), advice)], latest: null };
  }
}

async function walletFinding(name: string, chain: PayoutChain): Promise<Finding[]> {
  if (chain.feeCoin === null) return [];
  const balance = await chain.balance(chain.feeCoin);
  const { currencyCode } = chain.feeCoin;
  if (balance > 0n) return [];
  return [
    warning(
      `${name}, wallet`,
      `${chain.wallet} has no ${currencyCode}, so it pays no fees`,
      `Send ${currencyCode} to it.`,
    ),
  ];
}

function apartFinding(network: string, one: number | null, other: number | null): Finding[] {
  if (one === null || other === null || Math.abs(one - other) <= BLOCKS_APART) return [];
  const text = `its two nodes are ${Math.abs(one - other)} blocks apart`;
  return [warning(network, text, "The one that is behind has stopped or is catching up: look at it.")];
}

function settingOf({ network }: ChainConfig): string {
  return `SALDO_${network.toUpperCase()}_RPC_URL`;
}
