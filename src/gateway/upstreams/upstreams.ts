// The upstreams there are, opened when first needed and opened anew when the operator has changed them.

import type { Route, UpstreamConfig } from "../../catalog/catalog.ts";
import type { ChatUpstream } from "./chat-upstream.ts";
import { createDemoUpstream, type DemoOptions } from "./demo/demo-upstream.ts";
import { createOpenAiCompatibleUpstream } from "./openai-compatible/openai-compatible-upstream.ts";

/** A route with its upstream open. */
export type OpenRoute = { readonly upstream: ChatUpstream; readonly model: string };

export type Upstreams = {
  /** The routes that can be tried, in order: their upstream exists and has its credential. */
  open(routes: readonly Route[], configs: ReadonlyMap<string, UpstreamConfig>): readonly OpenRoute[];
  close(): Promise<void>;
};

export type UpstreamsOptions = {
  /** Looks a credential up by the name of its environment variable. */
  readonly credential: (name: string) => string | undefined;
  readonly demo?: DemoOptions;
};

/** Keeps one open upstream per id. */
export function createUpstreams(options: UpstreamsOptions): Upstreams {
  const opened = new Map<string, { config: UpstreamConfig; upstream: ChatUpstream | null }>();
  const closing = new Set<Promise<void>>();

  function find(config: UpstreamConfig): ChatUpstream | null {
    const known = opened.get(config.id);
    if (known?.config === config) return known.upstream;
    // A new snapshot of the catalog brings equal configurations as new objects.
    if (known !== undefined && isSame(known.config, config)) {
      opened.set(config.id, { config, upstream: known.upstream });
      return known.upstream;
    }
    if (known?.upstream) track(known.upstream.close());
    const upstream = openUpstream(config, options);
    opened.set(config.id, { config, upstream });
    return upstream;
  }

  function track(close: Promise<void>): void {
    closing.add(close);
    void close.finally(() => closing.delete(close));
  }

  return {
    open(routes, configs) {
      const open: OpenRoute[] = [];
      for (const route of routes) {
        const config = configs.get(route.upstream);
        const upstream = config === undefined ? null : find(config);
        if (upstream !== null) open.push({ upstream, model: route.model });
      }
      return open;
    },
    async close() {
      for (const { upstream } of opened.values()) {
        if (upstream !== null) track(upstream.close());
      }
      await Promise.allSettled(closing);
    },
  };
}

/** Null: the upstream's credential is not set. */
function openUpstream(config: UpstreamConfig, options: UpstreamsOptions): ChatUpstream | null {
  if (config.kind === "demo") return createDemoUpstream(config.id, options.demo);
  const apiKey = config.apiKeyEnv === null ? null : options.credential(config.apiKeyEnv);
  return apiKey === undefined || apiKey === "" ? null : createOpenAiCompatibleUpstream(config, apiKey);
}

function isSame(a: UpstreamConfig, b: UpstreamConfig): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
