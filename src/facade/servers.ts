// The door of rpc/ and facade/ for the composition root: the ports that callers reach, started and stopped together.

import type { SignIn } from "../accounts/sign-in.ts";
import type { Gateway } from "../gateway/chat.ts";
import type { Keys } from "../keys/keys.ts";
import type { Verifiers } from "../rpc/authenticate.ts";
import { createGrpcServer } from "../rpc/grpc-server.ts";
import type { CallPorts } from "../rpc/interceptors.ts";
import type { CallLogger } from "../rpc/log.ts";
import type { Implementations } from "../rpc/services.ts";
import type { Dashboard } from "./dashboard.ts";
import type { DocsOptions } from "./docs.ts";
import { createHttpServer } from "./http-server.ts";
import type { PaymentPorts } from "./payments.ts";

/** What the servers are built from. */
export type ServersOptions = {
  /** The topics' services; what is missing answers Unimplemented, 404 on the REST face. */
  readonly implementations: Implementations;
  /** Answers chat on the REST face. */
  readonly gateway: Gateway;
  readonly keys: Pick<Keys, "verify" | "takeSlot" | "refuseWhileLimited">;
  readonly verifyMerchant: Verifiers["verifyMerchant"];
  readonly verifyServiceToken: Verifiers["verifyServiceToken"];
  readonly noteOrder: CallPorts["noteOrder"];
  /** Who is signed in, and which accounts there are. */
  readonly people: Pick<Verifiers, "verifySession" | "accountExists">;
  /** Signs people up, in and out. */
  readonly signIn: SignIn;
  /** How many proxies of ours stand before the HTTP port. */
  readonly trustedProxies: number;
  /** Where people reach the HTTP port. Null: where their request says. */
  readonly publicUrl: string | null;
  /** Whether the process can serve now: the probe behind /readyz and gRPC health. */
  readonly ready: () => Promise<boolean>;
  /** The package that points coding agents at this gateway. */
  readonly agentsPackage: () => Promise<Buffer>;
  /** What the documentation for programs is filled from. Left out, there is none. */
  readonly docs?: DocsOptions;
  /** Webhooks of payment providers. Left out, there are none. */
  readonly payments?: PaymentPorts;
  /** The pages that people see. Null: they were not built. */
  readonly dashboard: Dashboard | null;
  readonly logger: CallLogger;
  readonly host: string;
  /** The ports to listen on; 0 takes any that is free. */
  readonly ports: { readonly http: number; readonly grpc: number };
};

/** The servers of the process. */
export type Servers = {
  /** Starts all of them and gives the ports they took. When one cannot start, none is left listening. */
  listen(): Promise<{ httpPort: number; grpcPort: number }>;
  /** Stops taking work, waits for running requests up to the limit, then ends what is left. */
  close(limitMs: number): Promise<void>;
};

/** Builds the HTTP and gRPC servers. */
export function createServers(options: ServersOptions): Servers {
  const { implementations, gateway, ready, agentsPackage, dashboard, publicUrl, host, ports } = options;
  const { keys, logger, people, verifyMerchant, verifyServiceToken, noteOrder } = options;
  const callPorts = { keys, logger, verifyMerchant, verifyServiceToken, noteOrder, ...people };
  const { docs, payments, signIn, trustedProxies } = options;
  const web = { gateway, publicUrl, host, signIn, trustedProxies, ready, agentsPackage, dashboard };
  const http = createHttpServer({
    implementations,
    ports: callPorts,
    ...web,
    ...(payments === undefined ? {} : { payments }),
    ...(docs === undefined ? {} : { docs }),
  });
  const grpc = createGrpcServer({ implementations, ports: callPorts, ready });
  const close = async (limitMs: number) => {
    await Promise.all([http.close(limitMs), grpc.close(limitMs)]);
  };
  return {
    async listen() {
      try {
        const httpPort = await http.listen({ host, port: ports.http });
        const grpcPort = await grpc.listen({ host, port: ports.grpc });
        return { httpPort, grpcPort };
      } catch (error) {
        await close(0);
        throw error;
      }
    },
    close,
  };
}
