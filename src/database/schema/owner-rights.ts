// Which rights a login lacks for changes of the schema, and the statements that give them. It is read after a change was refused, because
// PostgreSQL names the right that failed first, and neither the others nor what to run.

import type { Client } from "pg";

/** A login that a change was refused to. */
export type OwnerRights = {
  /** As SQL writes it. */
  readonly login: string;
  /** Empty: PostgreSQL's own message has the reason. */
  readonly statements: readonly string[];
};

/**
 * Nothing is named where another login owns the tables: the change is that one's to make. Changes make roles, grant them to the login,
 * and let them use the schema public. From PostgreSQL 16 on, CREATEROLE has power over the roles alone that the login made.
 */
const RIGHTS = `
WITH it AS (
  SELECT format('%I', current_user) AS login, current_setting('server_version_num')::int >= 160000 AS strict,
    rolsuper AS super, rolcreaterole AS maker,
    coalesce((SELECT pg_has_role(relowner, 'USAGE') FROM pg_class
              WHERE oid = coalesce(to_regclass('public.schema_change'), to_regclass('public.mikro_orm_migrations'))), true) AS owns
  FROM pg_roles WHERE rolname = current_user
), lacking (place, statement) AS (
  SELECT 1, format('ALTER ROLE %s CREATEROLE;', login) FROM it
  WHERE NOT maker AND NOT (SELECT count(*) = cardinality($1::text[]) FROM pg_roles WHERE rolname = ANY ($1))
  UNION ALL
  SELECT 1 + place, format('GRANT %I TO %s WITH ADMIN OPTION;', role, login)
  FROM it, unnest($1::text[]) WITH ORDINALITY AS needed(role, place) JOIN pg_roles ON rolname = role
  WHERE (strict OR NOT maker) AND NOT pg_has_role(current_user, pg_roles.oid, 'MEMBER WITH ADMIN OPTION')
  UNION ALL
  SELECT 98, format('GRANT CREATE ON DATABASE %I TO %s;', current_database(), login) FROM it
  WHERE NOT has_database_privilege(current_database(), 'CREATE')
  UNION ALL
  SELECT 99, format('GRANT USAGE, CREATE ON SCHEMA public TO %s WITH GRANT OPTION;', login) FROM it
  WHERE NOT (has_schema_privilege('public', 'CREATE WITH GRANT OPTION') AND has_schema_privilege('public', 'USAGE WITH GRANT OPTION'))
)
SELECT login, coalesce((SELECT array_agg(statement ORDER BY place) FROM lacking WHERE NOT super AND owns), '{}') AS statements FROM it`;

/** The roles that changes make, and grant to the login that applies them. */
const ROLES = ["saldo_serve", "saldo_seed", "saldo_ledger", "saldo_request"];

/** What the login of a session lacks. */
export async function readOwnerRights(client: Client, roles: readonly string[] = ROLES): Promise<OwnerRights> {
  const { rows } = await client.query<OwnerRights>(RIGHTS, [roles]);
  return rows[0] ?? { login: "", statements: [] };
}
