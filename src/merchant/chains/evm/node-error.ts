// A node's error without its URL: the URL of a provider's node carries its key, and errors are logged.

import { BaseError, RpcRequestError } from "viem";
import type { PayoutChain } from "../payout-chain.ts";

/** Shorter parts of a URL are words such as "v3", and no keys. */
const SHORTEST_KEY = 8;

/** An invalid answer of a node, or a missing one. It has no cause: viem's errors quote the URL and the call. */
export class NodeError extends Error {
  override readonly name = "NodeError";
}

/** The same chain, whose errors never contain its nodes' URLs. */
export function withoutUrlInErrors(chain: PayoutChain, urls: readonly string[]): PayoutChain {
  const keys = urls.flatMap(keysIn).toSorted((one, other) => other.length - one.length);
  const guarded = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
    try {
      return await answer;
    } catch (error) {
      throw error instanceof BaseError ? new NodeError(redacted(keys, error)) : error;
    }
  };
  return {
    ...chain,
    check: () => guarded(chain.check()),
    head: () => guarded(chain.head()),
    find: (transaction, head) => guarded(chain.find(transaction, head)),
    hasBlock: (block, head) => guarded(chain.hasBlock(block, head)),
    nextNonce: () => guarded(chain.nextNonce()),
    holderOf: (nonce, head) => guarded(chain.holderOf(nonce, head)),
    balance: (coin) => guarded(chain.balance(coin)),
    suggestFee: (replaced) => guarded(chain.suggestFee(replaced)),
    broadcast: (raw) => guarded(chain.broadcast(raw)),
  };
}

/** The error's kind and message, and the node's own message where there is one. */
function redacted(keys: readonly string[], error: BaseError): string {
  const nodeError = error.walk((each) => each instanceof RpcRequestError);
  const parts = [error.name, error.shortMessage, nodeError instanceof RpcRequestError ? nodeError.details : ""];
  return keys.reduce((text, key) => text.replaceAll(key, "…"), parts.filter((part) => part !== "").join(": "));
}

/** The longest first, so that none is replaced only in part. */
function keysIn(url: string): string[] {
  const { href, host, pathname, search, searchParams, username, password } = new URL(url);
  const parts = [...pathname.split("/"), ...searchParams.values(), username, password, ...host.split(".")];
  const keys = parts.filter((part) => part.length >= SHORTEST_KEY);
  return [url, href, host, `${pathname}${search}`, ...keys, ...keys.map(decodeURIComponent)]
    .filter((part) => part.length >= SHORTEST_KEY)
    .toSorted((one, other) => other.length - one.length);
}
