import { Migration } from "@mikro-orm/migrations";

export class Migration0003Catalog extends Migration {
  override up(): void {
    this.addSql(`
      CREATE TABLE catalog_upstream (
        id                    text        NOT NULL PRIMARY KEY,
        kind                  text        NOT NULL,
        base_url              text        NOT NULL,
        api_key_env           text,
        allow_private_address boolean     NOT NULL,
        connect_timeout_ms    int         NOT NULL,
        first_byte_timeout_ms int         NOT NULL,
        idle_timeout_ms       int         NOT NULL,
        state                 text        NOT NULL CHECK (state IN ('active', 'retired')),
        updated_at            timestamptz NOT NULL DEFAULT clock_timestamp()
      )`);
    // Prices are micro-rupiah per 1M tokens. The order of routes is the order in which they are tried. Media tokens are those held for one part by kind. A retired model keeps its row: old usage records name it.
    this.addSql(`
      CREATE TABLE catalog_model (
        id                text        NOT NULL PRIMARY KEY,
        name              text        NOT NULL,
        description       text        NOT NULL,
        badge             text,
        input_modalities  text[]      NOT NULL,
        context_length    int         NOT NULL CHECK (context_length > 0),
        max_output_tokens int         NOT NULL CHECK (max_output_tokens > 0),
        input_price       bigint      NOT NULL CHECK (input_price BETWEEN 0 AND 1000000000000000),
        output_price      bigint      NOT NULL CHECK (output_price BETWEEN 0 AND 1000000000000000),
        cache_hit_price   bigint      CHECK (cache_hit_price BETWEEN 0 AND 1000000000000000),
        routes            jsonb       NOT NULL,
        media_tokens      jsonb       NOT NULL,
        state             text        NOT NULL CHECK (state IN ('active', 'retired')),
        created_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
        updated_at        timestamptz NOT NULL DEFAULT clock_timestamp()
      )`);
    // What every apply changed, for ever: a subject such as `model:acme/large`, and how the file put it before and after.
    this.addSql(`
      CREATE TABLE catalog_change (
        id         uuid        NOT NULL PRIMARY KEY,
        subject    text        NOT NULL,
        change     text        NOT NULL CHECK (change IN ('added', 'changed', 'retired')),
        before     jsonb,
        after      jsonb,
        changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
      )`);
    this.addSql(`GRANT SELECT, INSERT, UPDATE ON catalog_upstream, catalog_model TO saldo_serve`);
    this.addSql(`GRANT SELECT, INSERT ON catalog_change TO saldo_serve`);
  }
}
