// The configured upstreams, opened when first needed and opened again when the operator has changed them.

import { setTimeout as sleep } from "node:timers/promises";
import type { Route, UpstreamConfig, UpstreamKind } from "../../catalog/catalog-model.ts";
import { isKeyVariable } from "../../catalog/upstream-file.ts";
import { createAnthropicUpstream } from "./anthropic/anthropic-upstream.ts";
import type { ChatUpstream } from "./chat-upstream.ts";
import { createDemoUpstream, type DemoOptions } from "./demo/demo-upstream.ts";
import { createGeminiUpstream } from "./gemini/gemini-upstream.ts";
import type { HttpUpstreamOptions } from "./http/http-upstream.ts";
import { createOpenAiCompatibleUpstream } from "./openai-compatible/openai-compatible-upstream.ts";
import { createOpenAiResponsesUpstream } from "./openai-responses/openai-responses-upstream.ts";
import { presetVariableOf } from "./presets.ts";

/** A route with its open upstream. `cost` is what it charges us, where the catalog has it. */
export type OpenRoute = Omit<Route, "upstream"> & {
  readonly upstream: ChatUpstream;
  /** The upstream's own time-outs. */
  readonly timeouts: Pick<UpstreamConfig, "firstByteTimeoutMs" | "idleTimeoutMs">;
};

/** An upstream that cannot be called, and the name of the environment variable that would change this. */
export type UnsetUpstream = { readonly upstream: string; readonly variable: string };

export type Upstreams = {
  /**
   * The routes that can be tried, in order: their upstream exists and has its credential. An upstream without its variable is
   * reported once.
   */
  open(
    routes: readonly Route[],
    configs: ReadonlyMap<string, UpstreamConfig>,
    reportUnset: (unset: UnsetUpstream) => void,
  ): readonly OpenRoute[];
  /**
   * Another process has found, so many milliseconds ago, that an upstream sends bytes that answer no request. A finding from
   * before this process opened the upstream with its present configuration does not count.
   */
  readonly markMixedUp: (id: string, agoMs: number) => void;
  /** Closes all upstreams. Running calls have a moment to end, then they are aborted. */
  close(): Promise<void>;
};

export type UpstreamsOptions = {
  /** Looks a credential up by the name of its environment variable. */
  readonly credential: (name: string) => string | undefined;
  readonly demo?: DemoOptions;
  /** The variable that allows other upstreams than the demo's; left out, they are allowed. */
  readonly onlyDemoUnless?: string;
  readonly closeWithinMs?: number;
  /** An upstream has sent bytes that answer no request; its connections are not used again from now on. */
  readonly onMixedUp?: (id: string) => void;
};

/** When upstreams are closed everything is settled. */
const CLOSE_WITHIN_MS = 2_000;

/** Keeps one open upstream per id. */
export function createUpstreams(options: UpstreamsOptions): Upstreams {
  const opened = new Map<string, { config: UpstreamConfig; upstream: ChatUpstream | null; openedAtMs: number }>();
  const closing = new Map<ChatUpstream, Promise<void>>();
  const told = new Set<string>();

  function find(config: UpstreamConfig): ChatUpstream | null {
    const known = opened.get(config.id);
    if (known?.config === config) return known.upstream;
    // A new snapshot of the catalog brings equal configurations as new objects.
    if (known !== undefined && isSame(known.config, config)) {
      opened.set(config.id, { ...known, config });
      return known.upstream;
    }
    if (known?.upstream) close(known.upstream);
    const upstream = openUpstream(config, options);
    opened.set(config.id, { config, upstream, openedAtMs: performance.now() });
    return upstream;
  }

  function close(upstream: ChatUpstream): void {
    const closed = upstream.close().finally(() => closing.delete(upstream));
    closing.set(upstream, closed);
  }

  return {
    open(routes, configs, reportUnset) {
      const open: OpenRoute[] = [];
      for (const route of routes) {
        const config = configs.get(route.upstream);
        const upstream = config === undefined ? null : find(config);
        if (config !== undefined && upstream !== null) {
          open.push({ ...route, upstream, timeouts: config });
          continue;
        }
        // A preset without its variable is no upstream at all.
        const { onlyDemoUnless } = options;
        const variable =
          onlyDemoUnless !== undefined
            ? onlyDemoUnless
            : config === undefined
              ? presetVariableOf(route.upstream)
              : config.apiKeyEnv;
        const fact = `${route.upstream} ${variable}`;
        if (variable === null || told.has(fact)) continue;
        told.add(fact);
        reportUnset({ upstream: route.upstream, variable });
      }
      return open;
    },
    markMixedUp(id, agoMs) {
      const known = opened.get(id);
      if (known !== undefined && performance.now() - agoMs >= known.openedAtMs) known.upstream?.stopReuse?.();
    },
    async close() {
      for (const { upstream } of opened.values()) {
        if (upstream !== null) close(upstream);
      }
      const limit = sleep(options.closeWithinMs ?? CLOSE_WITHIN_MS, undefined, { ref: false });
      await Promise.race([Promise.allSettled(closing.values()), limit]);
      await Promise.allSettled([...closing.keys()].map((upstream) => upstream.destroy()));
    },
  };
}

/** Null: the upstream's credential is not set. */
function openUpstream(config: UpstreamConfig, options: UpstreamsOptions): ChatUpstream | null {
  if (config.kind === "demo") return createDemoUpstream(config.id, options.demo);
  if (options.onlyDemoUnless !== undefined) return null;
  const apiKey = config.apiKeyEnv === null ? null : credentialOf(config.apiKeyEnv, options);
  if (apiKey === undefined || apiKey === "") return null;
  return ADAPTERS[config.kind]?.(config, { apiKey, onMixedUp: () => options.onMixedUp?.(config.id) }) ?? null;
}

/** Opens an upstream that is called over HTTP. */
type OpenAdapter = (config: UpstreamConfig, options: HttpUpstreamOptions) => ChatUpstream;

/** The adapters by kind. A catalog that a newer version has published may name a kind without one. */
const ADAPTERS: Readonly<Partial<Record<UpstreamKind, OpenAdapter>>> = {
  "openai-compatible": createOpenAiCompatibleUpstream,
  "openai-responses": createOpenAiResponsesUpstream,
  anthropic: createAnthropicUpstream,
  gemini: createGeminiUpstream,
};

/** A catalog from before there was this rule, or one written by hand, may name a variable that is not for upstreams. */
function credentialOf(variable: string, { credential }: UpstreamsOptions): string | undefined {
  return isKeyVariable(variable) ? credential(variable) : undefined;
}

function isSame(a: UpstreamConfig, b: UpstreamConfig): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
