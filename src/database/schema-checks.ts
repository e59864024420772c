// Checks of the audit that look at the database's own catalog: whether what protects rows is in place. Each is a query of
// `subject` and `detail`, with a row for whatever is missing. Names come from code, never from a caller.

const listed = (names: readonly string[]): string => names.map((name) => `'${name}'::regclass`).join(", ");

/** Append-only tables, their partitions included, whose triggers are missing or not always on. */
export function unprotectedTables(tables: readonly string[]): string {
  return `
    SELECT c.oid::regclass::text AS subject, 'its append-only triggers are missing or not always on' AS detail
    FROM pg_class c
    WHERE (c.oid IN (${listed(tables)})
        OR c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent IN (${listed(tables)})))
      AND 2 <> (SELECT count(*) FROM pg_trigger t
                WHERE t.tgrelid = c.oid AND t.tgenabled = 'A' AND t.tgname IN ('append_only', 'append_only_truncate'))`;
}

/**
 * Constraints that are missing or not valid, each by its table and name. Where a change added one to rows that were there, it is not
 * validated, and checks the rows that are written since: then only a missing one is found.
 */
export function missingConstraints(
  constraints: readonly (readonly [table: string, constraint: string])[],
  { areValidated = true } = {},
): string {
  const wanted = constraints.map(([table, constraint]) => `('${table}', '${constraint}')`).join(", ");
  return `
    SELECT w.relation || '.' || w.name AS subject, 'the constraint is missing or not valid' AS detail
    FROM (VALUES ${wanted}) AS w(relation, name)
    WHERE NOT EXISTS (SELECT FROM pg_constraint c
                      WHERE c.conrelid = to_regclass(w.relation) AND c.conname = w.name ${areValidated ? "AND c.convalidated" : ""})`;
}
