// A database's schema as text, from PostgreSQL's catalog: the same schema always gives the same text. Left out are the months of
// usage_record, which depend on the day, and the sources of functions, which are files of their own.

import type { Client } from "pg";

const RELATIONS = `
SELECT c.oid, c.oid::regclass::text AS name, c.relkind AS kind, c.relpersistence AS persistence,
       array_to_string(c.reloptions, ', ') AS options, pg_get_partkeydef(c.oid) AS "partitionedBy",
       (SELECT inhparent::regclass::text FROM pg_inherits WHERE inhrelid = c.oid) AS parent,
       pg_get_expr(c.relpartbound, c.oid) AS bound
FROM pg_class c
WHERE c.relnamespace IN ('public'::regnamespace, 'auth'::regnamespace) AND c.relkind IN ('r', 'p', 'v', 'S')
  AND c.relname !~ '^usage_record_[0-9]{4}_[0-9]{2}$'
ORDER BY c.relnamespace::regnamespace::text DESC, c.relname COLLATE "C"`;

// Each gives lines for one relation, $1.
const DETAILS = {
  columns: `
SELECT format('%I %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END,
         ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid),
         CASE WHEN a.attstorage <> t.typstorage THEN ' STORAGE ' || a.attstorage::text END) AS line
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
  constraints: `
SELECT format('CONSTRAINT %I %s', conname, pg_get_constraintdef(oid)) AS line FROM pg_constraint
WHERE conrelid = $1 AND contype IN ('c', 'f', 'p', 'u') ORDER BY contype, conname COLLATE "C"`,
  indexes: `
SELECT pg_get_indexdef(indexrelid) || CASE WHEN indisvalid THEN ';' ELSE '; -- invalid' END AS line
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE indrelid = $1 AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u'))
ORDER BY c.relname COLLATE "C"`,
  triggers: `
SELECT pg_get_triggerdef(oid) || '; -- ' || CASE tgenabled WHEN 'A' THEN 'enabled always' ELSE 'enabled: ' || tgenabled::text END AS line
FROM pg_trigger WHERE tgrelid = $1 AND NOT tgisinternal ORDER BY tgname COLLATE "C"`,
  rights: `
SELECT format('GRANT %s ON %s TO %s;', string_agg(privilege || coalesce(columns, ''), ', ' ORDER BY privilege), $1::regclass, grantee::regrole)
  AS line
FROM (
  SELECT privilege_type AS privilege, grantee, NULL AS columns FROM pg_class c, aclexplode(c.relacl)
  WHERE c.oid = $1 AND grantee <> c.relowner
  UNION ALL
  SELECT privilege_type, grantee, format(' (%s)', string_agg(quote_ident(attname), ', ' ORDER BY attnum))
  FROM pg_attribute a, aclexplode(a.attacl) WHERE a.attrelid = $1 AND NOT attisdropped GROUP BY 1, 2
) granted GROUP BY grantee ORDER BY grantee::regrole::text`,
} as const;

const VIEW = `SELECT pg_get_viewdef($1::oid, true) AS line`;
const FUNCTIONS = `
SELECT format('-- FUNCTION %s(%s) RETURNS %s LANGUAGE %s%s%s%s%s', p.oid::regproc, pg_get_function_arguments(p.oid),
         coalesce(pg_get_function_result(p.oid), 'its OUT parameters'), l.lanname,
         CASE p.provolatile WHEN 'i' THEN ' IMMUTABLE' WHEN 's' THEN ' STABLE' ELSE '' END,
         CASE p.proparallel WHEN 's' THEN ' PARALLEL SAFE' ELSE '' END, CASE WHEN p.prosecdef THEN ' SECURITY DEFINER' ELSE '' END,
         ' SET ' || array_to_string(p.proconfig, ' SET '))
       || coalesce((SELECT E'\\n--   EXECUTE: ' || string_agg(CASE grantee WHEN 0 THEN 'public' ELSE grantee::regrole::text END, ', '
                      ORDER BY grantee::regrole::text)
                    FROM aclexplode(p.proacl) WHERE grantee <> p.proowner), CASE WHEN p.proacl IS NULL THEN '' ELSE E'\\n--   EXECUTE: its owner' END)
       AS line
FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
WHERE p.pronamespace IN ('public'::regnamespace, 'auth'::regnamespace) ORDER BY p.oid::regproc::text COLLATE "C",
  pg_get_function_identity_arguments(p.oid) COLLATE "C"`;

type Relation = {
  oid: number;
  name: string;
  kind: "r" | "p" | "v" | "S";
  persistence: string;
  options: string | null;
  partitionedBy: string | null;
  parent: string | null;
  bound: string | null;
};

const HEAD = `-- The schema of a fresh database, as PostgreSQL knows it. Written by \`npm run schema\`, compared by
-- test/database/schema.test.ts. It is for reading: changes are in migrations/, the sources of functions in functions/.`;

/** Reads the schema of a database. */
export async function schemaText(client: Client): Promise<string> {
  const lines = async (text: string, values: unknown[] = []): Promise<string[]> =>
    (await client.query<{ line: string }>(text, values)).rows.map(({ line }) => line);
  const parts = [HEAD];
  for (const relation of (await client.query<Relation>(RELATIONS)).rows) {
    const details = (which: keyof typeof DETAILS): Promise<string[]> => lines(DETAILS[which], [relation.oid]);
    const rights = await details("rights");
    if (relation.kind === "v") {
      const [query = ""] = await lines(VIEW, [relation.oid]);
      parts.push([`CREATE VIEW ${relation.name} AS`, query, ...rights].join("\n"));
      continue;
    }
    const inside = [...(await details("columns")), ...(await details("constraints"))].map((line) => `  ${line}`);
    const body = `${titleOf(relation)} (\n${inside.join(",\n")}\n)${endOf(relation)};`;
    parts.push([body, ...(await details("indexes")), ...(await details("triggers")), ...rights].join("\n"));
  }
  parts.push((await lines(FUNCTIONS)).join("\n"));
  return `${parts.join("\n\n")}\n`;
}

function titleOf({ kind, name, persistence, parent, bound }: Relation): string {
  if (kind === "S") return `CREATE SEQUENCE ${name}`;
  const title = `CREATE ${persistence === "u" ? "UNLOGGED " : ""}TABLE ${name}`;
  return parent === null ? title : `${title} PARTITION OF ${parent} ${bound}`;
}

function endOf({ options, partitionedBy }: Relation): string {
  return (
    (partitionedBy === null ? "" : ` PARTITION BY ${partitionedBy}`) + (options === null ? "" : ` WITH (${options})`)
  );
}
