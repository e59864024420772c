// The bounds of one HTTP/2 connection, of one address, and of all together. A connection with a call lives as long as the call;
// one without a call, or without a peer, is ended.

import {
  constants,
  type Http2Server,
  type Http2Session,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { networkOf } from "../../identity/client-network.ts";
import type { RefusedAtPort } from "./port-refusals.ts";

/** The bounds of the port. */
export type Http2Bounds = {
  readonly maxSessions: number;
  readonly maxSessionsPerAddress: number;
  readonly maxStreamsPerSession: number;
  /** All streams of the process. */
  readonly maxStreams: number;
  /** How long a session without a call may stay, and how long one with calls may be silent before its peer is pinged. */
  readonly idleMs: number;
  /** How long the peer may take to answer a ping. */
  readonly pingMs: number;
  /** How long a request may take to arrive; its answer may take longer. */
  readonly requestMs: number;
};

/** A balancer in front has one address for all callers, so the bound of an address is wide. */
export const HTTP2_BOUNDS: Http2Bounds = {
  maxSessions: 2_000,
  maxSessionsPerAddress: 500,
  maxStreamsPerSession: 250,
  maxStreams: 2_000,
  idleMs: 300_000,
  pingMs: 20_000,
  requestMs: 300_000,
};

/** Streams that a client may reset at once, and each second from then on. Above it the session ends with GOAWAY. */
const STREAM_RESETS = { streamResetBurst: 500, streamResetRate: 33 };
/** Megabytes of frames and headers of one session. The bodies are bounded where they are read. */
const MAX_SESSION_MEMORY = 10;

/** Open connections for each allowed session; connections before the end of their TLS handshake count too. */
const CONNECTIONS_PER_SESSION = 2;

/** The options of a server within the bounds. */
export function http2Options({ maxStreamsPerSession }: Http2Bounds) {
  return {
    ...STREAM_RESETS,
    maxSessionMemory: MAX_SESSION_MEMORY,
    settings: { maxConcurrentStreams: maxStreamsPerSession },
  };
}

/** Enforces the bounds of a server. */
export class BoundedSessions {
  readonly #bounds: Http2Bounds;
  readonly #onRefused: (reason: RefusedAtPort) => void;
  /** Each session with the streams it carries. */
  readonly #sessions = new Map<Http2Session, number>();
  readonly #perAddress = new Map<string, number>();
  #streams = 0;

  constructor(server: Http2Server, bounds: Http2Bounds, onRefused: (reason: RefusedAtPort) => void) {
    this.#bounds = bounds;
    this.#onRefused = onRefused;
    // A connection becomes a session once both sides have agreed on TLS, which takes seconds where the client is slow.
    server.maxConnections = CONNECTIONS_PER_SESSION * bounds.maxSessions;
    server.on("drop", () => onRefused("sessions"));
    server.on("session", (session: ServerHttp2Session) => this.#admitSession(session));
  }

  /** All sessions. */
  get all(): Http2Session[] {
    return [...this.#sessions.keys()];
  }

  /** Counts a stream until it ends. False: there are too many, and it has been refused. */
  admit(stream: ServerHttp2Stream): boolean {
    if (this.#streams >= this.#bounds.maxStreams) {
      this.#onRefused("streams");
      // This code means that nothing was done, so a client may send the request again.
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return false;
    }
    const { session } = stream;
    this.#count(session, 1);
    const late = setTimeout(() => {
      if (stream.readableEnded) return;
      this.#onRefused("slow_request");
      stream.close(constants.NGHTTP2_CANCEL);
    }, this.#bounds.requestMs);
    stream.once("close", () => {
      clearTimeout(late);
      this.#count(session, -1);
    });
    stream.once("wantTrailers", () => {
      // The answer is complete. A client that goes on sending its request, which is not read, would keep its stream for ever.
      if (!stream.readableEnded) setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR));
    });
    return true;
  }

  #count(session: Http2Session | undefined, streams: 1 | -1): void {
    this.#streams += streams;
    const carried = session === undefined ? undefined : this.#sessions.get(session);
    if (session !== undefined && carried !== undefined) this.#sessions.set(session, carried + streams);
  }

  #admitSession(session: ServerHttp2Session): void {
    // A broken connection needs no action: its calls end through their own streams.
    session.on("error", () => session.destroy());
    // One subscriber of a network operator has all addresses of an IPv6 network.
    const address = networkOf(session.socket.remoteAddress ?? "");
    const ofAddress = this.#perAddress.get(address) ?? 0;
    if (this.#sessions.size >= this.#bounds.maxSessions || ofAddress >= this.#bounds.maxSessionsPerAddress) {
      this.#onRefused("sessions");
      session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      session.destroy();
      return;
    }
    this.#sessions.set(session, 0);
    this.#perAddress.set(address, ofAddress + 1);
    session.once("close", () => {
      this.#sessions.delete(session);
      const left = (this.#perAddress.get(address) ?? 1) - 1;
      if (left === 0) this.#perAddress.delete(address);
      else this.#perAddress.set(address, left);
    });
    session.on("timeout", () => this.#endIfIdle(session));
    session.setTimeout(this.#bounds.idleMs);
  }

  #endIfIdle(session: ServerHttp2Session): void {
    if (session.destroyed) return;
    if (this.#sessions.get(session) === 0) {
      session.close();
      return;
    }
    // A call may be silent for long, such as a watch of health. A ping shows whether its client is still there.
    const unanswered = setTimeout(() => {
      this.#onRefused("silent_peer");
      session.destroy();
    }, this.#bounds.pingMs);
    session.ping(() => {
      clearTimeout(unanswered);
      // A ping is no activity for Node: without this the session would not be pinged again.
      if (!session.destroyed) session.setTimeout(this.#bounds.idleMs);
    });
  }
}
