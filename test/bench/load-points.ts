import type { LoadPoint } from "./rounds.ts";
import { hasOwnDatabase, hasOwnKeys, isBeside, TARGET_NAMES, type TargetName, WITH_OWN_KEYS } from "./target.ts";

/** The points that are measured last, when the database has grown. */
export const GROWN_POINTS = ["grown", "audited"];
export const GROWN_RECORDS = 2_000_000;

const BODY_KB = 400;
const BODY_CONNECTIONS = 8;
const AGENT_CONNECTIONS = 32;
const TRACED_CONNECTIONS = 32;
const BUDGET_CONNECTIONS = 32;
const CELL_CONNECTIONS = 256;
const STREAMS = 1000;
const CHUNK_DELAY_MS = 40;

/** Requests of agents: about 100 KB, 40 messages, 25 tools. */
const AGENT_POINTS = [
  { name: "agent", kind: "agent", title: "An agent's requests of 100 KB as chat" },
  { name: "messages", kind: "messages", title: "The same as Messages, for an upstream that speaks it" },
  { name: "responses", kind: "responses", title: "The same as Responses, for an upstream that speaks it" },
  { name: "translated", kind: "translated", title: "The same as Messages, for an upstream that speaks chat" },
] as const;

/** Where the targets are measured. Quick streams are half as long, so that a round is. */
export function loadPoints(quick: boolean): LoadPoint[] {
  const chunks = quick ? 50 : 100;
  // The direct call shows the latency that a gateway adds; points that only compare CPU omit it.
  const alone = TARGET_NAMES.filter((name) => !isBeside(name) && !hasOwnKeys(name) && !hasOwnDatabase(name));
  const gateways = alone.filter((name) => name !== "direct");
  return [
    ...[1, 32, 256].map((connections) => ({
      name: String(connections),
      title: `Answers in one piece, ${connections} connection${connections === 1 ? "" : "s"}`,
      connections,
      bodyKb: 0,
      stream: null,
      targets: alone,
    })),
    {
      name: "streams",
      title: `${STREAMS} streams at a time, ${chunks} chunks each, one every ${CHUNK_DELAY_MS} ms`,
      connections: STREAMS,
      bodyKb: 0,
      stream: { chunks, delayMs: CHUNK_DELAY_MS },
      targets: gateways,
    },
    {
      name: "body",
      title: `Request bodies of ${BODY_KB} KB, ${BODY_CONNECTIONS} connections`,
      connections: BODY_CONNECTIONS,
      bodyKb: BODY_KB,
      stream: null,
      targets: gateways,
    },
    ...AGENT_POINTS.map((point) => ({
      ...point,
      connections: AGENT_CONNECTIONS,
      bodyKb: 0,
      stream: null,
      targets: gateways,
    })),
    ...AGENT_POINTS.filter(({ kind }) => kind !== "agent").map(({ name, kind, title }) => ({
      name: `${name}-streams`,
      title: `${title}: ${STREAMS} streams at a time, ${chunks} chunks each, one every ${CHUNK_DELAY_MS} ms`,
      kind,
      connections: STREAMS,
      bodyKb: 0,
      stream: { chunks, delayMs: CHUNK_DELAY_MS },
      targets: gateways,
    })),
    {
      name: "workers",
      title: "One process and two workers, 256 connections",
      connections: 256,
      bodyKb: 0,
      stream: null,
      targets: ["ours", "two-workers"],
    },
    {
      name: "traces",
      title: `Without traces, twice, and with 1 % and all of the requests traced, ${TRACED_CONNECTIONS} connections`,
      connections: TRACED_CONNECTIONS,
      bodyKb: 0,
      stream: null,
      targets: ["ours", "untraced", "traced-1", "traced-all"],
    },
    {
      name: "budgets",
      title: `Without budgets, twice, with one on each key, and with one on each key and each member, ${BUDGET_CONNECTIONS} connections`,
      connections: BUDGET_CONNECTIONS,
      bodyKb: 0,
      stream: null,
      targets: ["ours", ...WITH_OWN_KEYS],
    },
    ...[1, 32, 256].map((connections) => ({
      name: `standby-${connections}`,
      title: `Without a standby, and with a synchronous one on this machine, ${connections} connections`,
      connections,
      bodyKb: 0,
      stream: null,
      targets: ["ours", "with-standby"] satisfies TargetName[],
    })),
    {
      name: "cells",
      title: `One cell, and two that have half of the accounts each, ${CELL_CONNECTIONS} connections`,
      connections: CELL_CONNECTIONS,
      bodyKb: 0,
      stream: null,
      targets: ["ours", "two-cells"],
    },
    {
      name: "hot",
      title: "All keys on one account, 256 connections",
      connections: 256,
      bodyKb: 0,
      stream: null,
      targets: ["ours"],
      keysOf: "one account",
    },
    {
      name: "grown",
      title: `${GROWN_RECORDS.toLocaleString("en")} usage records in the database, 256 connections`,
      connections: 256,
      bodyKb: 0,
      stream: null,
      targets: ["ours"],
    },
    {
      name: "audited",
      title: "The same with a full audit running beside",
      connections: 256,
      bodyKb: 0,
      stream: null,
      targets: ["ours"],
      beside: "audit",
    },
  ];
}
