// How the serving role runs its statements, in one place: migration 0001 lays these on the role, and a serving
// connection that borrows another login gives them in its start-up packet.

/** The role that serves requests. It may read and add, and change only what the request path changes. */
export const SERVING_ROLE = "saldo_serve";

/**
 * Settings of every serving session. They force the planner onto the keys, because statements are planned while the
 * tables are small and must stay right when they are not.
 */
export const SERVING_SETTINGS = {
  enable_seqscan: "off",
  // Lists of a group are joined once over; looked up member by member they cost a tenth more.
  enable_nestloop: "off",
  plan_cache_mode: "force_generic_plan",
  default_transaction_isolation: "read committed",
  lock_timeout: "250ms",
  jit: "off",
} as const;

/** The settings and the role as the `options` of a start-up packet, for a login that is not the serving role itself. */
export function servingOptions(): string {
  const settings = Object.entries({ role: SERVING_ROLE, ...SERVING_SETTINGS });
  // A space inside a value is written with a backslash: the server splits options at spaces.
  return settings.map(([name, value]) => `-c ${name}=${value.replaceAll(" ", "\\ ")}`).join(" ");
}
