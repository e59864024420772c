// The door of transport/calls/ and transport/rest/ for the composition root: the ports that callers reach, started and stopped together.

import type { RecordSecurityEvent } from "../../identity/security-log.ts";
import type { SignIn } from "../../identity/sign-in/sign-in.ts";
import type { Gateway } from "../../gateway/chat.ts";
import type { Keys } from "../../keys/keys.ts";
import type { Verifiers } from "../calls/authenticate.ts";
import { createGrpcServer, type GrpcServerOptions } from "../grpc/grpc-server.ts";
import type { CallPorts } from "../calls/interceptors.ts";
import type { CallLogger } from "../calls/log.ts";
import type { RefusedCredentials } from "../calls/refused-credentials.ts";
import type { Implementations } from "../calls/services.ts";
import type { IntakeSettings, IntakeStatistics } from "../http/body-budget.ts";
import { BodyIntake } from "../http/body-intake.ts";
import type { Dashboard } from "../web/dashboard.ts";
import type { DocsOptions } from "../web/docs.ts";
import { createHttpServer } from "./http-server.ts";
import type { TlsFiles } from "../http/tls-files.ts";
import type { PaymentPorts } from "../web/payments.ts";

/** What the servers are built from. */
export type ServersOptions = {
  /** The topics' services; what is missing answers Unimplemented, 404 on the REST face. */
  readonly implementations: Implementations;
  /** Answers chat on the REST face. */
  readonly gateway: Gateway;
  readonly keys: Pick<Keys, "verify" | "known" | "takeSlot" | "refuseWhileLimited">;
  readonly verifyMerchant: Verifiers["verifyMerchant"];
  readonly verifyServiceToken: Verifiers["verifyServiceToken"];
  readonly noteOrder: CallPorts["noteOrder"];
  readonly takeCallerSlot: CallPorts["takeCallerSlot"];
  /** Left out, credentials that are nobody's are not counted. */
  readonly refusedCredentials?: RefusedCredentials;
  /** Left out, what operators look at is not written down. */
  readonly recordSecurityEvent?: RecordSecurityEvent;
  /** Who is signed in, and which accounts there are. */
  readonly people: Pick<Verifiers, "verifySession" | "accountExists">;
  /** Signs people up, in and out. */
  readonly signIn: SignIn;
  /** The certificate of the HTTP port. Null or left out: cleartext. */
  readonly tls?: TlsFiles | null;
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
  /** How the gRPC port differs from its defaults. */
  readonly grpc?: Pick<GrpcServerOptions, "reflection" | "onRefused" | "tls"> & {
    /** Left out: where HTTP listens. */
    readonly host?: string;
  };
  readonly logger: CallLogger;
  /** How much may be received at once. Left out, the defaults. */
  readonly intake?: IntakeSettings;
  /** How many connections of the HTTP port may be open at once. Left out, the default. */
  readonly maxConnections?: number;
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
  /** What is received on the HTTP port, and what was refused of it. */
  readonly intake: IntakeStatistics;
  /** How many connections were closed as they came, because too many were open. */
  droppedConnections(): number;
};

/** Some 20 KiB of memory each, when idle. */
export const DEFAULT_MAX_CONNECTIONS = 10_000;

/** Builds the HTTP and gRPC servers. */
export function createServers(options: ServersOptions): Servers {
  const { implementations, gateway, ready, agentsPackage, dashboard, publicUrl, host, ports } = options;
  const { keys, logger, people, verifyMerchant, verifyServiceToken, noteOrder } = options;
  const { takeCallerSlot, refusedCredentials, recordSecurityEvent } = options;
  const callPorts = {
    keys,
    logger,
    verifyMerchant,
    verifyServiceToken,
    noteOrder,
    takeCallerSlot,
    ...people,
    trustedProxies: options.trustedProxies,
    ...(refusedCredentials === undefined ? {} : { refusedCredentials }),
    ...(recordSecurityEvent === undefined ? {} : { recordSecurityEvent }),
  };
  const { docs, payments, signIn, trustedProxies } = options;
  const { maxConnections = DEFAULT_MAX_CONNECTIONS, tls = null } = options;
  const intake = new BodyIntake(options.intake);
  const web = { tls, gateway, publicUrl, host, signIn, trustedProxies, ready, agentsPackage, dashboard, intake };
  const http = createHttpServer({
    implementations,
    ports: callPorts,
    ...web,
    maxConnections,
    ...(payments === undefined ? {} : { payments }),
    ...(docs === undefined ? {} : { docs }),
  });
  const grpc = createGrpcServer({ implementations, ports: callPorts, ready, meter: intake.meter, ...options.grpc });
  const close = async (limitMs: number) => {
    await Promise.all([http.close(limitMs), grpc.close(limitMs)]);
  };
  return {
    async listen() {
      try {
        const httpPort = await http.listen({ host, port: ports.http });
        const grpcPort = await grpc.listen({ host: options.grpc?.host ?? host, port: ports.grpc });
        return { httpPort, grpcPort };
      } catch (error) {
        await close(0);
        throw error;
      }
    },
    close,
    intake: intake.statistics,
    droppedConnections: () => http.droppedConnections(),
  };
}
