// The servers of the process, for the composition root: the ports that callers reach, started and stopped together.

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

/** The parts of the servers. */
export type ServersOptions = {
  /** The topics' services; a missing one answers Unimplemented, and 404 over REST. */
  readonly implementations: Implementations;
  /** Answers chat over REST. */
  readonly gateway: Gateway;
  readonly keys: Pick<Keys, "verify" | "known" | "takeSlot" | "refuseWhileLimited">;
  readonly verifyMerchant: Verifiers["verifyMerchant"];
  readonly verifyServiceToken: Verifiers["verifyServiceToken"];
  readonly recordCall: CallPorts["recordCall"];
  readonly recordActivity?: CallPorts["recordActivity"];
  readonly takeCallerSlot: CallPorts["takeCallerSlot"];
  readonly takeCountSlot: CallPorts["takeCountSlot"];
  /** Absent: unknown credentials are not counted. */
  readonly refusedCredentials?: RefusedCredentials;
  /** Absent: reads of operators are not recorded. */
  readonly recordSecurityEvent?: RecordSecurityEvent;
  /** Finds signed-in people and existing accounts. */
  readonly people: Pick<Verifiers, "verifySession" | "accountExists">;
  /** Signs people up, in and out. */
  readonly signIn: SignIn;
  /** The certificate of the HTTP port. Null or absent: cleartext. */
  readonly tls?: TlsFiles | null;
  /** How many of our proxies are before the HTTP port. */
  readonly trustedProxies: number;
  /** The public address of the HTTP port. Null: the host of each request. */
  readonly publicUrl: string | null;
  /** Traces calls. Absent: there are no traces. */
  readonly tracing?: CallPorts["tracing"] | undefined;
  /** Whether calls may be answered now. Absent: always. */
  readonly mayServe?: CallPorts["mayServe"];
  /** Whether the process can serve now: the probe behind /readyz and gRPC health. */
  readonly ready: () => Promise<boolean>;
  /** The package that points coding agents at this gateway. */
  readonly agentsPackage: () => Promise<Buffer>;
  /** The facts in the documentation for programs. Absent: there is none. */
  readonly docs?: DocsOptions;
  /** Webhooks of payment providers. Absent: there are none. */
  readonly payments?: PaymentPorts;
  /** The dashboard. Null: it was not built. */
  readonly dashboard: Dashboard | null;
  /** The settings of the gRPC port that differ from its defaults. */
  readonly grpc?: Pick<GrpcServerOptions, "reflection" | "onRefused" | "tls"> & {
    /** Absent: the address of the HTTP port. */
    readonly host?: string;
  };
  readonly logger: CallLogger;
  /** The bounds of bodies that arrive at once. Absent: the defaults. */
  readonly intake?: IntakeSettings;
  /** How many connections of the HTTP port may be open at once. Absent: the default. */
  readonly maxConnections?: number;
  readonly host: string;
  /** The ports to listen on; 0 takes any that is free. */
  readonly ports: { readonly http: number; readonly grpc: number };
};

/** The servers of the process. */
export type Servers = {
  /** Starts all of them and returns their ports. When one cannot start, none is left listening. */
  listen(): Promise<{ httpPort: number; grpcPort: number }>;
  /** Stops taking work, waits for running requests up to the limit, then ends the rest. */
  close(limitMs: number): Promise<void>;
  /** The bodies on the HTTP port, received and refused. */
  readonly intake: IntakeStatistics;
  /** How many connections were closed at once, because too many were open. */
  droppedConnections(): number;
};

/** Some 20 KiB of memory each, when idle. */
export const DEFAULT_MAX_CONNECTIONS = 10_000;

/** Builds the HTTP and gRPC servers. */
export function createServers(options: ServersOptions): Servers {
  const { implementations, gateway, ready, agentsPackage, dashboard, publicUrl, host, ports } = options;
  const { keys, logger, people, verifyMerchant, verifyServiceToken, recordCall } = options;
  const { takeCallerSlot, takeCountSlot, refusedCredentials, recordSecurityEvent } = options;
  const callPorts = {
    keys,
    logger,
    verifyMerchant,
    verifyServiceToken,
    recordCall,
    takeCallerSlot,
    takeCountSlot,
    ...people,
    trustedProxies: options.trustedProxies,
    ...(refusedCredentials === undefined ? {} : { refusedCredentials }),
    ...(recordSecurityEvent === undefined ? {} : { recordSecurityEvent }),
    ...(options.recordActivity === undefined ? {} : { recordActivity: options.recordActivity }),
    ...(options.tracing === undefined ? {} : { tracing: options.tracing }),
    ...(options.mayServe === undefined ? {} : { mayServe: options.mayServe }),
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
