-- The schema of a fresh database, as PostgreSQL knows it. Written by `npm run schema`, compared by
-- test/database/schema.test.ts. It is for reading: changes are in migrations/, the sources of functions in functions/.

CREATE TABLE account (
  id uuid NOT NULL,
  posted bigint NOT NULL DEFAULT 0,
  held bigint NOT NULL DEFAULT 0,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  frozen_at timestamp with time zone,
  open_holds integer NOT NULL DEFAULT 0,
  max_open_holds integer NOT NULL DEFAULT 0,
  owed bigint NOT NULL DEFAULT 0,
  keeps_answers boolean NOT NULL DEFAULT false,
  member_budgets integer NOT NULL DEFAULT 0,
  cell text,
  budget_zone text,
  CONSTRAINT account_elsewhere_empty CHECK (((cell IS NULL) OR ((posted = 0) AND (held = 0) AND (owed = 0) AND (open_holds = 0)))),
  CONSTRAINT account_max_open_holds_check CHECK ((max_open_holds >= 0)),
  CONSTRAINT account_never_negative CHECK (((held >= 0) AND (posted >= held))),
  CONSTRAINT account_owed_not_negative CHECK ((owed >= 0)),
  CONSTRAINT account_pkey PRIMARY KEY (id)
) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=200, autovacuum_vacuum_cost_delay=0, autovacuum_analyze_scale_factor=0.5);
CREATE INDEX account_elsewhere ON public.account USING btree (cell) WHERE (cell IS NOT NULL);
CREATE INDEX account_owed ON public.account USING btree (id) WHERE (owed > 0);
GRANT SELECT, UPDATE (posted, held, open_holds, owed) ON account TO saldo_ledger;
GRANT SELECT ON account TO saldo_request;
GRANT SELECT, UPDATE (posted) ON account TO saldo_seed;
GRANT INSERT (id, cell), SELECT, UPDATE ON account TO saldo_serve;

CREATE TABLE account_activity (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  done_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  person_id uuid,
  actor text NOT NULL,
  action text NOT NULL,
  subject text,
  facts jsonb NOT NULL DEFAULT '{}'::jsonb,
  CONSTRAINT account_activity_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  CONSTRAINT account_activity_pkey PRIMARY KEY (account_id, id)
);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.account_activity FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.account_activity FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT INSERT, SELECT ON account_activity TO saldo_serve;

CREATE TABLE account_invite (
  id uuid NOT NULL,
  account_id uuid NOT NULL,
  digest bytea NOT NULL,
  email text NOT NULL,
  role text NOT NULL,
  invited_by uuid NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamp with time zone NOT NULL,
  accepted_at timestamp with time zone,
  revoked_at timestamp with time zone,
  CONSTRAINT account_invite_digest_check CHECK ((length(digest) = 32)),
  CONSTRAINT account_invite_email_check CHECK ((email = lower(email))),
  CONSTRAINT account_invite_one_end CHECK ((num_nonnulls(accepted_at, revoked_at) <= 1)),
  CONSTRAINT account_invite_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'developer'::text, 'billing'::text, 'viewer'::text]))),
  CONSTRAINT account_invite_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  CONSTRAINT account_invite_pkey PRIMARY KEY (id),
  CONSTRAINT account_invite_digest_key UNIQUE (digest)
);
CREATE INDEX account_invite_account ON public.account_invite USING btree (account_id, id);
CREATE INDEX account_invite_received ON public.account_invite USING btree (email, id) WHERE ((accepted_at IS NULL) AND (revoked_at IS NULL));
GRANT INSERT, SELECT, UPDATE (accepted_at, revoked_at) ON account_invite TO saldo_serve;

CREATE TABLE account_member (
  account_id uuid NOT NULL,
  person_id uuid NOT NULL,
  role text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT account_member_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'developer'::text, 'billing'::text, 'viewer'::text]))),
  CONSTRAINT account_member_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  CONSTRAINT account_member_person_id_fkey FOREIGN KEY (person_id) REFERENCES auth.person(id) ON DELETE CASCADE,
  CONSTRAINT account_member_pkey PRIMARY KEY (account_id, person_id)
);
CREATE INDEX account_member_person ON public.account_member USING btree (person_id);
GRANT DELETE, INSERT, SELECT, UPDATE (role) ON account_member TO saldo_serve;

CREATE TABLE account_seal (
  account_id uuid NOT NULL,
  seal integer NOT NULL,
  lines bigint NOT NULL,
  balance numeric(38,0) NOT NULL,
  digest bytea NOT NULL,
  marks bytea NOT NULL,
  sealed_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT account_seal_digest_check CHECK ((octet_length(digest) = 32)),
  CONSTRAINT account_seal_lines_check CHECK ((lines > 0)),
  CONSTRAINT account_seal_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  CONSTRAINT account_seal_pkey PRIMARY KEY (account_id, seal)
);
CREATE INDEX account_seal_window ON public.account_seal USING btree (seal, account_id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.account_seal FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.account_seal FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT INSERT, SELECT ON account_seal TO saldo_serve;

CREATE TABLE admission_switch (
  the_row boolean NOT NULL DEFAULT true,
  stopped_at timestamp with time zone,
  reason text,
  CONSTRAINT admission_switch_check CHECK (((stopped_at IS NULL) = (reason IS NULL))),
  CONSTRAINT admission_switch_the_row_check CHECK (the_row),
  CONSTRAINT admission_switch_pkey PRIMARY KEY (the_row)
);
GRANT SELECT ON admission_switch TO saldo_request;
GRANT SELECT, UPDATE ON admission_switch TO saldo_serve;

CREATE TABLE alert_event (
  id uuid NOT NULL,
  account_id uuid NOT NULL,
  type text NOT NULL,
  crossing text NOT NULL,
  percent integer NOT NULL DEFAULT 0,
  data jsonb NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  mail_at timestamp with time zone,
  mail_attempts integer NOT NULL DEFAULT 0,
  mailed_at timestamp with time zone,
  mailed_people uuid[] NOT NULL DEFAULT '{}'::uuid[],
  CONSTRAINT alert_event_type_check CHECK ((type = ANY (ARRAY['balance.low'::text, 'key.budget_reached'::text, 'member.budget_reached'::text, 'usage.daily'::text, 'top_up.succeeded'::text]))) NOT VALID,
  CONSTRAINT alert_event_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  CONSTRAINT alert_event_pkey PRIMARY KEY (id),
  CONSTRAINT alert_event_once UNIQUE (account_id, crossing, percent)
) WITH (fillfactor=70);
CREATE INDEX alert_event_mail ON public.alert_event USING btree (mail_at) WHERE (mail_at IS NOT NULL);
GRANT INSERT, SELECT, UPDATE ON alert_event TO saldo_serve;

CREATE TABLE alert_settings (
  account_id uuid NOT NULL,
  daily_spend bigint,
  percents integer[] NOT NULL,
  mail_types text[] NOT NULL,
  webhook_types text[] NOT NULL,
  since timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT alert_settings_daily_spend_check CHECK ((daily_spend > 0)),
  CONSTRAINT alert_settings_percents_check CHECK ((percents <@ ARRAY[50, 80, 100])),
  CONSTRAINT alert_settings_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  CONSTRAINT alert_settings_pkey PRIMARY KEY (account_id)
) WITH (fillfactor=70);
GRANT INSERT, SELECT, UPDATE ON alert_settings TO saldo_serve;

CREATE TABLE api_key (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  digest bytea NOT NULL,
  name text NOT NULL,
  prefix text NOT NULL,
  last_four text NOT NULL,
  rate_limit integer NOT NULL DEFAULT 60,
  slots timestamp with time zone[] NOT NULL DEFAULT '{}'::timestamp with time zone[] STORAGE m,
  slot_counts integer[] NOT NULL DEFAULT '{}'::integer[],
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  revoked_at timestamp with time zone,
  is_playground boolean NOT NULL DEFAULT false,
  expires_at timestamp with time zone,
  allowed_models text[],
  budget bigint,
  budget_period text,
  budget_start timestamp with time zone,
  budget_spent bigint NOT NULL DEFAULT 0,
  budget_held bigint NOT NULL DEFAULT 0,
  person_id uuid,
  is_member_playground boolean NOT NULL DEFAULT false,
  allowed_networks text[],
  rate_limit_bound integer,
  token_limit integer NOT NULL DEFAULT 0,
  tokens_held bigint NOT NULL DEFAULT 0,
  token_times timestamp with time zone[] NOT NULL DEFAULT '{}'::timestamp with time zone[],
  token_counts bigint[] NOT NULL DEFAULT '{}'::bigint[],
  budget_used_up_at timestamp with time zone,
  budget_zone text,
  budget_until timestamp with time zone,
  budget_began_in text,
  CONSTRAINT api_key_budget CHECK (((num_nonnulls(budget, budget_period, budget_start) = ANY (ARRAY[0, 3])) AND ((budget IS NULL) OR (budget >= 0)) AND ((budget_period IS NULL) OR (budget_period = ANY (ARRAY['total'::text, 'day'::text, 'month'::text]))) AND ((budget IS NOT NULL) OR (budget_spent = 0)))) NOT VALID,
  CONSTRAINT api_key_budget_counts CHECK (((budget_spent >= 0) AND (budget_held >= 0))) NOT VALID,
  CONSTRAINT api_key_rate_limit_bound CHECK (((rate_limit_bound >= 0) AND (rate_limit_bound <= 1000000))) NOT VALID,
  CONSTRAINT api_key_rate_limit_check CHECK (((rate_limit >= 0) AND (rate_limit <= 1000000))),
  CONSTRAINT api_key_tokens CHECK (((token_limit >= 0) AND (tokens_held >= 0))) NOT VALID,
  CONSTRAINT api_key_pkey PRIMARY KEY (account_id, id)
) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=200, autovacuum_vacuum_cost_delay=0, autovacuum_analyze_scale_factor=0.5);
CREATE UNIQUE INDEX api_key_digest ON public.api_key USING btree (digest);
CREATE UNIQUE INDEX api_key_id ON public.api_key USING btree (id);
CREATE UNIQUE INDEX api_key_playground ON public.api_key USING btree (account_id) WHERE is_playground;
GRANT SELECT, UPDATE (slots, slot_counts, budget_start, budget_spent, budget_held, tokens_held, token_times, token_counts, budget_used_up_at) ON api_key TO saldo_ledger;
GRANT SELECT, UPDATE (slots, slot_counts) ON api_key TO saldo_request;
GRANT SELECT, UPDATE (slots, slot_counts) ON api_key TO saldo_seed;
GRANT INSERT, SELECT, UPDATE ON api_key TO saldo_serve;

CREATE TABLE audit_checkpoint (
  account_id uuid NOT NULL,
  posted numeric(38,0) NOT NULL,
  usage_through uuid NOT NULL,
  looked_through uuid NOT NULL,
  postings_before uuid NOT NULL,
  open_since bigint DEFAULT 0,
  CONSTRAINT audit_checkpoint_pkey PRIMARY KEY (account_id)
) WITH (fillfactor=70);
CREATE INDEX audit_checkpoint_open ON public.audit_checkpoint USING btree (account_id) WHERE (open_since IS NOT NULL);
GRANT INSERT, SELECT, UPDATE ON audit_checkpoint TO saldo_serve;

CREATE TABLE audit_run (
  kind text NOT NULL,
  started_at timestamp with time zone,
  covered_at timestamp with time zone,
  finished_at timestamp with time zone,
  violations integer NOT NULL DEFAULT 0,
  postings_before uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'::uuid,
  found jsonb NOT NULL DEFAULT '[]'::jsonb,
  trace text,
  CONSTRAINT audit_run_kind_check CHECK ((kind = ANY (ARRAY['incremental'::text, 'full'::text]))),
  CONSTRAINT audit_run_pkey PRIMARY KEY (kind)
) WITH (fillfactor=50);
GRANT SELECT, UPDATE ON audit_run TO saldo_serve;

CREATE TABLE auto_top_up (
  account_id uuid NOT NULL,
  is_on boolean NOT NULL,
  threshold bigint NOT NULL,
  amount bigint NOT NULL,
  monthly_cap bigint NOT NULL,
  resumed_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  paused_at timestamp with time zone,
  updated_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  not_before timestamp with time zone,
  CONSTRAINT auto_top_up_amount_check CHECK ((amount > 0)),
  CONSTRAINT auto_top_up_monthly_cap_check CHECK ((monthly_cap > 0)),
  CONSTRAINT auto_top_up_threshold_check CHECK ((threshold > 0)),
  CONSTRAINT auto_top_up_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  CONSTRAINT auto_top_up_pkey PRIMARY KEY (account_id)
) WITH (fillfactor=70);
CREATE INDEX auto_top_up_on ON public.auto_top_up USING btree (account_id) WHERE (is_on AND (paused_at IS NULL));
GRANT INSERT, SELECT, UPDATE ON auto_top_up TO saldo_serve;

CREATE TABLE auto_top_up_notice (
  id uuid NOT NULL,
  account_id uuid NOT NULL,
  kind text NOT NULL,
  about text NOT NULL,
  amount bigint NOT NULL,
  mail_at timestamp with time zone DEFAULT clock_timestamp(),
  mail_attempts integer NOT NULL DEFAULT 0,
  mailed_at timestamp with time zone,
  mailed_people uuid[] NOT NULL DEFAULT '{}'::uuid[],
  CONSTRAINT auto_top_up_notice_kind_check CHECK ((kind = ANY (ARRAY['succeeded'::text, 'failed'::text, 'paused'::text, 'capped'::text]))),
  CONSTRAINT auto_top_up_notice_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  CONSTRAINT auto_top_up_notice_pkey PRIMARY KEY (id),
  CONSTRAINT auto_top_up_notice_once UNIQUE (account_id, about)
) WITH (fillfactor=70);
CREATE INDEX auto_top_up_notice_due ON public.auto_top_up_notice USING btree (mail_at) WHERE (mail_at IS NOT NULL);
GRANT INSERT, SELECT, UPDATE ON auto_top_up_notice TO saldo_serve;

CREATE TABLE callback_attempt (
  id uuid NOT NULL,
  event_id uuid NOT NULL,
  url text NOT NULL,
  started_at timestamp with time zone NOT NULL,
  duration_ms integer NOT NULL,
  http_status integer,
  problem text,
  CONSTRAINT callback_attempt_duration_ms_check CHECK ((duration_ms >= 0)),
  CONSTRAINT callback_attempt_event_id_fkey FOREIGN KEY (event_id) REFERENCES callback_delivery(event_id),
  CONSTRAINT callback_attempt_pkey PRIMARY KEY (id)
);
CREATE INDEX callback_attempt_of ON public.callback_attempt USING btree (event_id, id);
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.callback_attempt FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER keep BEFORE DELETE OR UPDATE ON public.callback_attempt FOR EACH ROW EXECUTE FUNCTION keep_callback(); -- enabled always
GRANT INSERT, SELECT ON callback_attempt TO saldo_serve;

CREATE TABLE callback_delivery (
  event_id uuid NOT NULL,
  event_at timestamp with time zone NOT NULL,
  transfer_id uuid NOT NULL,
  merchant_id uuid NOT NULL,
  state text NOT NULL DEFAULT 'pending'::text,
  attempts integer NOT NULL DEFAULT 0,
  is_leased boolean NOT NULL DEFAULT false,
  is_passable boolean NOT NULL DEFAULT false,
  next_attempt_at timestamp with time zone,
  give_up_at timestamp with time zone NOT NULL,
  note text,
  CONSTRAINT callback_delivery_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text]))),
  CONSTRAINT callback_due CHECK (((state = 'pending'::text) = (next_attempt_at IS NOT NULL))),
  CONSTRAINT callback_lease CHECK (((NOT is_leased) OR (state = 'pending'::text))),
  CONSTRAINT callback_delivery_event_id_fkey FOREIGN KEY (event_id) REFERENCES transfer_event(id),
  CONSTRAINT callback_delivery_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES callback_settings(merchant_id),
  CONSTRAINT callback_delivery_transfer_id_fkey FOREIGN KEY (transfer_id) REFERENCES transfer(id),
  CONSTRAINT callback_delivery_pkey PRIMARY KEY (event_id)
) WITH (fillfactor=70);
CREATE INDEX callback_delivery_due ON public.callback_delivery USING btree (merchant_id, next_attempt_at) WHERE (state = 'pending'::text);
CREATE INDEX callback_delivery_leased ON public.callback_delivery USING btree (merchant_id) WHERE is_leased;
CREATE INDEX callback_delivery_of_merchant ON public.callback_delivery USING btree (merchant_id, event_id DESC);
CREATE INDEX callback_delivery_of_transfer ON public.callback_delivery USING btree (transfer_id, event_at);
CREATE TRIGGER keep BEFORE DELETE ON public.callback_delivery FOR EACH ROW EXECUTE FUNCTION keep_callback(); -- enabled always
CREATE TRIGGER keep_all BEFORE TRUNCATE ON public.callback_delivery FOR EACH STATEMENT EXECUTE FUNCTION keep_callback(); -- enabled always
GRANT INSERT, SELECT, UPDATE ON callback_delivery TO saldo_serve;

CREATE TABLE callback_settings (
  merchant_id uuid NOT NULL,
  url text,
  token text NOT NULL,
  secret text NOT NULL,
  failing_since timestamp with time zone,
  stopped_at timestamp with time zone,
  updated_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT callback_settings_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchant(id),
  CONSTRAINT callback_settings_pkey PRIMARY KEY (merchant_id)
) WITH (fillfactor=70);
GRANT INSERT, SELECT, UPDATE ON callback_settings TO saldo_serve;

CREATE UNLOGGED TABLE caller_window (
  caller uuid NOT NULL,
  slots timestamp with time zone[] NOT NULL DEFAULT '{}'::timestamp with time zone[],
  slot_counts integer[] NOT NULL DEFAULT '{}'::integer[],
  CONSTRAINT caller_window_pkey PRIMARY KEY (caller)
) WITH (fillfactor=50);
GRANT DELETE, INSERT, SELECT, UPDATE ON caller_window TO saldo_serve;

CREATE TABLE catalog_change (
  id uuid NOT NULL,
  subject text NOT NULL,
  change text NOT NULL,
  before jsonb,
  after jsonb,
  changed_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  version integer,
  price_difference jsonb,
  CONSTRAINT catalog_change_change_check CHECK ((change = ANY (ARRAY['added'::text, 'changed'::text, 'retired'::text]))),
  CONSTRAINT catalog_change_pkey PRIMARY KEY (id)
);
CREATE INDEX catalog_change_version ON public.catalog_change USING btree (version, id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.catalog_change FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.catalog_change FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT INSERT, SELECT ON catalog_change TO saldo_serve;

CREATE TABLE catalog_model (
  id text NOT NULL,
  name text NOT NULL,
  description text NOT NULL,
  badge text,
  input_modalities text[] NOT NULL,
  context_length integer NOT NULL,
  max_output_tokens integer NOT NULL,
  input_price bigint NOT NULL,
  output_price bigint NOT NULL,
  cache_hit_price bigint,
  routes jsonb NOT NULL,
  media_tokens jsonb NOT NULL,
  state text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  hidden_output boolean NOT NULL DEFAULT false,
  other_prices jsonb,
  kind text NOT NULL DEFAULT 'chat'::text,
  accepts jsonb,
  CONSTRAINT catalog_model_cache_hit_price_check CHECK (((cache_hit_price >= 0) AND (cache_hit_price <= '1000000000000000'::bigint))),
  CONSTRAINT catalog_model_context_length_check CHECK ((context_length > 0)),
  CONSTRAINT catalog_model_input_price_check CHECK (((input_price >= 0) AND (input_price <= '1000000000000000'::bigint))),
  CONSTRAINT catalog_model_kind_check CHECK ((kind = ANY (ARRAY['chat'::text, 'embeddings'::text]))),
  CONSTRAINT catalog_model_max_output_tokens_check CHECK (((max_output_tokens > 0) OR (kind = 'embeddings'::text))),
  CONSTRAINT catalog_model_output_price_check CHECK (((output_price >= 0) AND (output_price <= '1000000000000000'::bigint))),
  CONSTRAINT catalog_model_state_check CHECK ((state = ANY (ARRAY['active'::text, 'retired'::text]))),
  CONSTRAINT catalog_model_pkey PRIMARY KEY (id)
);
GRANT SELECT ON catalog_model TO saldo_request;
GRANT INSERT, SELECT, UPDATE ON catalog_model TO saldo_serve;

CREATE TABLE catalog_upstream (
  id text NOT NULL,
  kind text NOT NULL,
  base_url text NOT NULL,
  api_key_env text,
  allow_private_address boolean NOT NULL,
  connect_timeout_ms integer NOT NULL,
  first_byte_timeout_ms integer NOT NULL,
  idle_timeout_ms integer NOT NULL,
  state text NOT NULL,
  updated_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  charges_cache_writes boolean NOT NULL DEFAULT false,
  output_cap_field text NOT NULL DEFAULT 'max_tokens'::text,
  takes_service_tier boolean,
  CONSTRAINT catalog_upstream_output_cap_field_check CHECK ((output_cap_field = ANY (ARRAY['max_tokens'::text, 'max_completion_tokens'::text]))),
  CONSTRAINT catalog_upstream_state_check CHECK ((state = ANY (ARRAY['active'::text, 'retired'::text]))),
  CONSTRAINT catalog_upstream_pkey PRIMARY KEY (id)
);
GRANT SELECT ON catalog_upstream TO saldo_request;
GRANT INSERT, SELECT, UPDATE ON catalog_upstream TO saldo_serve;

CREATE TABLE catalog_version (
  number integer NOT NULL,
  operator text NOT NULL,
  reason text,
  yaml text NOT NULL,
  published_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT catalog_version_number_check CHECK ((number > 0)),
  CONSTRAINT catalog_version_pkey PRIMARY KEY (number)
);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.catalog_version FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.catalog_version FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT INSERT, SELECT ON catalog_version TO saldo_serve;

CREATE TABLE customer (
  account_id uuid NOT NULL,
  email text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  language text NOT NULL DEFAULT 'id'::text,
  time_zone text NOT NULL DEFAULT 'Asia/Jakarta'::text,
  name text,
  CONSTRAINT customer_language_check CHECK ((language = ANY (ARRAY['id'::text, 'en'::text]))),
  CONSTRAINT customer_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  CONSTRAINT customer_pkey PRIMARY KEY (account_id)
);
CREATE UNIQUE INDEX customer_email ON public.customer USING btree (lower(email));
GRANT INSERT, SELECT, UPDATE (language, time_zone, name) ON customer TO saldo_serve;

CREATE TABLE database_purpose (
  the_row boolean NOT NULL DEFAULT true,
  purpose text NOT NULL,
  since timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  demo_credentials text,
  deployment uuid,
  cell text,
  CONSTRAINT database_purpose_purpose_check CHECK ((purpose = ANY (ARRAY['demo'::text, 'production'::text]))),
  CONSTRAINT database_purpose_the_row_check CHECK (the_row),
  CONSTRAINT demo_credentials_in_demo CHECK (((purpose = 'demo'::text) OR (demo_credentials IS NULL))),
  CONSTRAINT database_purpose_pkey PRIMARY KEY (the_row)
);
GRANT INSERT, SELECT, UPDATE ON database_purpose TO saldo_serve;

CREATE TABLE default_limit (
  currency_code text NOT NULL,
  per_transfer numeric(38,18),
  daily numeric(38,18),
  approval_above numeric(38,18),
  CONSTRAINT default_limit_approval_above_check CHECK ((approval_above >= (0)::numeric)),
  CONSTRAINT default_limit_daily_check CHECK ((daily > (0)::numeric)),
  CONSTRAINT default_limit_per_transfer_check CHECK ((per_transfer > (0)::numeric)),
  CONSTRAINT default_limit_pkey PRIMARY KEY (currency_code)
);
GRANT INSERT, SELECT, UPDATE ON default_limit TO saldo_serve;

CREATE TABLE fee_schedule (
  id uuid NOT NULL,
  merchant_id uuid,
  currency_code text,
  version integer NOT NULL,
  flat text NOT NULL,
  rate text NOT NULL,
  min text,
  max text,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT fee_schedule_version_check CHECK ((version > 0)),
  CONSTRAINT fee_schedule_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchant(id),
  CONSTRAINT fee_schedule_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX fee_schedule_version ON public.fee_schedule USING btree (COALESCE(merchant_id, '00000000-0000-0000-0000-000000000000'::uuid), COALESCE(currency_code, ''::text), version);
GRANT INSERT (id, merchant_id, currency_code, version, flat, rate, min, max), SELECT ON fee_schedule TO saldo_serve;

CREATE TABLE fund_checkpoint (
  fund_id uuid NOT NULL,
  posted numeric(38,0) NOT NULL,
  folded_through uuid NOT NULL,
  CONSTRAINT fund_checkpoint_pkey PRIMARY KEY (fund_id)
) WITH (fillfactor=70);
GRANT INSERT, SELECT, UPDATE ON fund_checkpoint TO saldo_serve;

CREATE TABLE hold (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  owner uuid NOT NULL,
  amount bigint NOT NULL,
  key_id uuid NOT NULL,
  model text NOT NULL,
  input_price bigint NOT NULL,
  output_price bigint NOT NULL,
  cache_hit_price bigint,
  progress_input_tokens integer NOT NULL DEFAULT 0,
  progress_output_tokens integer NOT NULL DEFAULT 0,
  placed_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  other_prices jsonb,
  progress_cached_tokens integer NOT NULL DEFAULT 0,
  in_budget boolean NOT NULL DEFAULT false,
  tokens integer NOT NULL DEFAULT 0,
  member_id uuid,
  CONSTRAINT hold_amount_check CHECK ((amount >= 0)),
  CONSTRAINT hold_id_has_begun CHECK (id_has_begun(id, placed_at)) NOT VALID,
  CONSTRAINT hold_pkey PRIMARY KEY (account_id, id)
) WITH (fillfactor=70, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_insert_threshold=-1, autovacuum_analyze_scale_factor=0, autovacuum_analyze_threshold=100000);
GRANT DELETE, INSERT, SELECT, UPDATE (amount, progress_input_tokens, progress_output_tokens, progress_cached_tokens) ON hold TO saldo_ledger;
GRANT SELECT ON hold TO saldo_request;
GRANT DELETE, INSERT, SELECT, UPDATE ON hold TO saldo_serve;

CREATE TABLE house_seal (
  seal integer NOT NULL,
  lines bigint NOT NULL,
  digest bytea NOT NULL,
  marks bytea NOT NULL,
  sealed_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT house_seal_digest_check CHECK ((octet_length(digest) = 32)),
  CONSTRAINT house_seal_lines_check CHECK ((lines >= 0)),
  CONSTRAINT house_seal_pkey PRIMARY KEY (seal)
);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.house_seal FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.house_seal FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT INSERT, SELECT ON house_seal TO saldo_serve;

CREATE TABLE idempotency_key (
  account_id uuid NOT NULL,
  key_id uuid NOT NULL,
  name text NOT NULL,
  request_id uuid NOT NULL,
  body_digest bytea NOT NULL,
  taken_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT idempotency_key_name_check CHECK (((length(name) >= 1) AND (length(name) <= 255))),
  CONSTRAINT idempotency_key_pkey PRIMARY KEY (account_id, key_id, name)
);
CREATE INDEX idempotency_key_taken ON public.idempotency_key USING btree (taken_at);
GRANT INSERT, SELECT, UPDATE (request_id, body_digest, taken_at) ON idempotency_key TO saldo_ledger;
GRANT DELETE, SELECT ON idempotency_key TO saldo_request;
GRANT DELETE, INSERT, SELECT, UPDATE ON idempotency_key TO saldo_serve;

CREATE TABLE kept_answer (
  account_id uuid NOT NULL,
  request_id uuid NOT NULL,
  sealed bytea NOT NULL,
  kept_until timestamp with time zone NOT NULL,
  CONSTRAINT kept_answer_sealed_check CHECK ((octet_length(sealed) <= 1100000)),
  CONSTRAINT kept_answer_pkey PRIMARY KEY (account_id, request_id)
);
CREATE INDEX kept_answer_until ON public.kept_answer USING btree (kept_until);
GRANT INSERT, SELECT ON kept_answer TO saldo_request;
GRANT DELETE, INSERT, SELECT, UPDATE ON kept_answer TO saldo_serve;

CREATE TABLE late_usage (
  account_id uuid NOT NULL,
  request_id uuid NOT NULL,
  cost bigint NOT NULL,
  charge bigint NOT NULL,
  input_tokens_uncached integer NOT NULL,
  input_tokens_cached integer NOT NULL,
  output_tokens integer NOT NULL,
  other_tokens jsonb,
  metering jsonb,
  unbilled_cost bigint NOT NULL,
  basis text NOT NULL,
  upstream text,
  upstream_model text,
  upstream_request_id text,
  upstream_cost bigint,
  streamed boolean NOT NULL,
  duration_ms integer NOT NULL,
  first_byte_ms integer,
  clamped boolean NOT NULL,
  settled_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT late_usage_check CHECK (((charge >= 0) AND (charge <= cost))),
  CONSTRAINT late_usage_cost_check CHECK ((cost >= 0)),
  CONSTRAINT late_usage_input_tokens_cached_check CHECK ((input_tokens_cached >= 0)),
  CONSTRAINT late_usage_input_tokens_uncached_check CHECK ((input_tokens_uncached >= 0)),
  CONSTRAINT late_usage_output_tokens_check CHECK ((output_tokens >= 0)),
  CONSTRAINT late_usage_unbilled_cost_check CHECK ((unbilled_cost >= 0)),
  CONSTRAINT late_usage_pkey PRIMARY KEY (account_id, request_id)
);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.late_usage FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.late_usage FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT INSERT, SELECT ON late_usage TO saldo_ledger;
GRANT INSERT, SELECT ON late_usage TO saldo_serve;

CREATE TABLE learned_model (
  model text NOT NULL,
  upstream text NOT NULL,
  request_id uuid NOT NULL,
  hidden_output_since timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT learned_model_pkey PRIMARY KEY (model)
);
GRANT INSERT, SELECT ON learned_model TO saldo_serve;

CREATE VIEW ledger_entries AS
 SELECT posting.debit AS account_id,
    posting.id AS posting_id,
    posting.group_id,
    posting.asset,
    - posting.amount AS amount,
    posting.reason,
    posting.posted_at
   FROM posting
UNION ALL
 SELECT posting.credit AS account_id,
    posting.id AS posting_id,
    posting.group_id,
    posting.asset,
    posting.amount,
    posting.reason,
    posting.posted_at
   FROM posting
UNION ALL
 SELECT usage_record.account_id,
    usage_record.request_id AS posting_id,
    usage_record.request_id AS group_id,
    'IDR/6'::text AS asset,
    - usage_record.charge::numeric(38,0) AS amount,
    'usage'::text AS reason,
    settled_time(usage_record.request_id, usage_record.settled_at) AS posted_at
   FROM usage_record
  WHERE usage_record.charge > 0
UNION ALL
 SELECT '00000000-0000-7000-8000-000000000001'::uuid AS account_id,
    usage_record.request_id AS posting_id,
    usage_record.request_id AS group_id,
    'IDR/6'::text AS asset,
    usage_record.charge::numeric(38,0) AS amount,
    'usage'::text AS reason,
    settled_time(usage_record.request_id, usage_record.settled_at) AS posted_at
   FROM usage_record
  WHERE usage_record.charge > 0;
GRANT SELECT ON ledger_entries TO saldo_serve;

CREATE TABLE low_balance_alert (
  account_id uuid NOT NULL,
  threshold bigint NOT NULL,
  is_below boolean NOT NULL,
  next_attempt_at timestamp with time zone,
  attempts integer NOT NULL DEFAULT 0,
  notified_at timestamp with time zone,
  mailed_people uuid[] NOT NULL DEFAULT '{}'::uuid[],
  CONSTRAINT low_balance_alert_threshold_check CHECK ((threshold > 0)),
  CONSTRAINT low_balance_alert_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  CONSTRAINT low_balance_alert_pkey PRIMARY KEY (account_id)
);
CREATE INDEX low_balance_alert_due ON public.low_balance_alert USING btree (next_attempt_at) WHERE (next_attempt_at IS NOT NULL);
GRANT DELETE, INSERT, SELECT, UPDATE ON low_balance_alert TO saldo_serve;

CREATE TABLE member_budget (
  account_id uuid NOT NULL,
  person_id uuid NOT NULL,
  budget bigint NOT NULL,
  budget_period text NOT NULL,
  budget_start timestamp with time zone NOT NULL,
  budget_spent bigint NOT NULL DEFAULT 0,
  budget_held bigint NOT NULL DEFAULT 0,
  budget_used_up_at timestamp with time zone,
  budget_zone text,
  budget_until timestamp with time zone,
  budget_began_in text,
  CONSTRAINT member_budget_budget_check CHECK ((budget >= 0)),
  CONSTRAINT member_budget_budget_period_check CHECK ((budget_period = ANY (ARRAY['total'::text, 'day'::text, 'month'::text]))),
  CONSTRAINT member_budget_counts CHECK (((budget_spent >= 0) AND (budget_held >= 0))),
  CONSTRAINT member_budget_pkey PRIMARY KEY (account_id, person_id)
) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=200, autovacuum_vacuum_cost_delay=0, autovacuum_analyze_scale_factor=0.5);
GRANT SELECT, UPDATE (budget_start, budget_spent, budget_held, budget_used_up_at) ON member_budget TO saldo_ledger;
GRANT DELETE, INSERT, SELECT, UPDATE ON member_budget TO saldo_serve;

CREATE TABLE merchant (
  id uuid NOT NULL,
  account_id uuid NOT NULL,
  environment text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT merchant_environment_check CHECK ((environment = ANY (ARRAY['sandbox'::text, 'production'::text]))),
  CONSTRAINT merchant_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  CONSTRAINT merchant_pkey PRIMARY KEY (id)
);
CREATE INDEX merchant_account ON public.merchant USING btree (account_id);
GRANT INSERT, SELECT ON merchant TO saldo_serve;

CREATE TABLE merchant_credential (
  id uuid NOT NULL,
  merchant_id uuid NOT NULL,
  key_digest bytea NOT NULL,
  secret_digest bytea NOT NULL,
  key_prefix text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  revoked_at timestamp with time zone,
  person_id uuid,
  CONSTRAINT merchant_credential_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchant(id),
  CONSTRAINT merchant_credential_pkey PRIMARY KEY (id),
  CONSTRAINT merchant_credential_key_digest_key UNIQUE (key_digest)
);
GRANT INSERT, SELECT, UPDATE ON merchant_credential TO saldo_serve;

CREATE TABLE merchant_fund (
  merchant_id uuid NOT NULL,
  asset text NOT NULL,
  id uuid NOT NULL,
  posted numeric(38,0) NOT NULL DEFAULT 0,
  held numeric(38,0) NOT NULL DEFAULT 0,
  account_id uuid NOT NULL,
  CONSTRAINT merchant_fund_never_negative CHECK (((held >= (0)::numeric) AND (posted >= held))),
  CONSTRAINT merchant_fund_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  CONSTRAINT merchant_fund_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchant(id),
  CONSTRAINT merchant_fund_pkey PRIMARY KEY (merchant_id, asset),
  CONSTRAINT merchant_fund_id_key UNIQUE (id)
) WITH (fillfactor=50);
CREATE TRIGGER fill_account BEFORE INSERT ON public.merchant_fund FOR EACH ROW WHEN ((new.account_id IS NULL)) EXECUTE FUNCTION fill_fund_account(); -- enabled: O
GRANT INSERT (merchant_id, asset, id, account_id), SELECT, UPDATE (posted, held) ON merchant_fund TO saldo_serve;

CREATE TABLE merchant_limit (
  merchant_id uuid NOT NULL,
  currency_code text NOT NULL,
  per_transfer numeric(38,18),
  daily numeric(38,18),
  approval_above numeric(38,18),
  used_day date,
  used numeric(38,18) NOT NULL DEFAULT 0,
  CONSTRAINT merchant_limit_approval_above_check CHECK ((approval_above >= (0)::numeric)),
  CONSTRAINT merchant_limit_daily_check CHECK ((daily > (0)::numeric)),
  CONSTRAINT merchant_limit_per_transfer_check CHECK ((per_transfer > (0)::numeric)),
  CONSTRAINT merchant_limit_used_check CHECK ((used >= (0)::numeric)),
  CONSTRAINT merchant_limit_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchant(id),
  CONSTRAINT merchant_limit_pkey PRIMARY KEY (merchant_id, currency_code)
) WITH (fillfactor=50);
GRANT INSERT, SELECT, UPDATE ON merchant_limit TO saldo_serve;

CREATE TABLE operator_action (
  id uuid NOT NULL,
  operator text NOT NULL,
  action text NOT NULL,
  subject text,
  reason text,
  facts jsonb NOT NULL DEFAULT '{}'::jsonb,
  done_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT operator_action_pkey PRIMARY KEY (id)
);
CREATE INDEX operator_action_operator ON public.operator_action USING btree (operator, id);
CREATE INDEX operator_action_subject ON public.operator_action USING btree (subject, id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.operator_action FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.operator_action FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT INSERT (id, operator, action, subject, reason, facts), SELECT ON operator_action TO saldo_serve;

CREATE TABLE operator_order (
  id uuid NOT NULL,
  kind text NOT NULL,
  reference text NOT NULL,
  subject text NOT NULL,
  facts jsonb NOT NULL,
  payload jsonb NOT NULL,
  reason text,
  ordered_by text NOT NULL,
  ordered_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamp with time zone NOT NULL,
  state text NOT NULL DEFAULT 'pending'::text,
  decided_by text,
  decided_at timestamp with time zone,
  decision_reason text,
  CONSTRAINT operator_order_decision CHECK ((((state = 'pending'::text) = (decided_by IS NULL)) AND ((decided_by IS NULL) = (decided_at IS NULL)))),
  CONSTRAINT operator_order_second CHECK (((state <> 'approved'::text) OR (lower(decided_by) <> lower(ordered_by)))),
  CONSTRAINT operator_order_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'approved'::text, 'refused'::text]))),
  CONSTRAINT operator_order_pkey PRIMARY KEY (id),
  CONSTRAINT operator_order_reference UNIQUE (kind, reference)
);
CREATE INDEX operator_order_pending ON public.operator_order USING btree (id) WHERE (state = 'pending'::text);
CREATE TRIGGER append_only BEFORE DELETE ON public.operator_order FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.operator_order FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER same_order BEFORE UPDATE ON public.operator_order FOR EACH ROW EXECUTE FUNCTION refuse_other_order(); -- enabled always
GRANT INSERT, SELECT, UPDATE (state, decided_by, decided_at, decision_reason) ON operator_order TO saldo_serve;

CREATE TABLE operator_setting (
  name text NOT NULL,
  version integer NOT NULL,
  value text NOT NULL,
  set_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT operator_setting_version_check CHECK ((version > 0)),
  CONSTRAINT operator_setting_pkey PRIMARY KEY (name, version)
);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.operator_setting FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.operator_setting FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT INSERT (name, version, value), SELECT ON operator_setting TO saldo_serve;

CREATE TABLE ordered_alone (
  operator text NOT NULL,
  currency_code text NOT NULL,
  minutes timestamp with time zone[] NOT NULL DEFAULT '{}'::timestamp with time zone[],
  amounts numeric(38,18)[] NOT NULL DEFAULT '{}'::numeric[],
  CONSTRAINT ordered_alone_pairs CHECK ((cardinality(minutes) = cardinality(amounts))),
  CONSTRAINT ordered_alone_pkey PRIMARY KEY (operator, currency_code)
);
GRANT INSERT, SELECT, UPDATE ON ordered_alone TO saldo_serve;

CREATE TABLE payment_dispute (
  provider text NOT NULL,
  dispute_id text NOT NULL,
  top_up_id uuid NOT NULL,
  state text NOT NULL,
  told_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT payment_dispute_state_check CHECK ((state = ANY (ARRAY['open'::text, 'won'::text, 'lost'::text, 'settled'::text]))),
  CONSTRAINT payment_dispute_top_up_id_fkey FOREIGN KEY (top_up_id) REFERENCES top_up(id),
  CONSTRAINT payment_dispute_pkey PRIMARY KEY (provider, dispute_id)
);
CREATE INDEX payment_dispute_top_up ON public.payment_dispute USING btree (top_up_id);
GRANT INSERT, SELECT, UPDATE ON payment_dispute TO saldo_serve;

CREATE TABLE payment_event (
  id uuid NOT NULL,
  provider text NOT NULL,
  event_key text NOT NULL,
  order_id text NOT NULL,
  top_up_id uuid,
  status text NOT NULL,
  amount text NOT NULL,
  finding text NOT NULL,
  received_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT payment_event_finding_check CHECK ((finding = ANY (ARRAY['as_ordered'::text, 'unknown_order'::text, 'other_provider'::text, 'other_amount'::text]))),
  CONSTRAINT payment_event_top_up_id_fkey FOREIGN KEY (top_up_id) REFERENCES top_up(id),
  CONSTRAINT payment_event_pkey PRIMARY KEY (id),
  CONSTRAINT payment_event_once UNIQUE (provider, event_key)
);
CREATE INDEX payment_event_top_up ON public.payment_event USING btree (top_up_id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.payment_event FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.payment_event FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT INSERT, SELECT ON payment_event TO saldo_serve;

CREATE TABLE payment_method (
  id uuid NOT NULL,
  account_id uuid NOT NULL,
  provider text NOT NULL,
  token text,
  label text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  removed_at timestamp with time zone,
  CONSTRAINT payment_method_token CHECK (((token IS NULL) = (removed_at IS NOT NULL))),
  CONSTRAINT payment_method_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  CONSTRAINT payment_method_pkey PRIMARY KEY (id)
) WITH (fillfactor=70);
CREATE UNIQUE INDEX payment_method_one ON public.payment_method USING btree (account_id) WHERE (removed_at IS NULL);
GRANT INSERT, SELECT, UPDATE ON payment_method TO saldo_serve;

CREATE TABLE payout (
  id uuid NOT NULL,
  wallet_id uuid NOT NULL,
  nonce integer NOT NULL,
  transfer_id uuid,
  state text NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  filling_reason text,
  final_hash text,
  chosen_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamp with time zone,
  recheck_at timestamp with time zone,
  reopened_at timestamp with time zone,
  short_accepted_at timestamp with time zone,
  CONSTRAINT payout_attempts_check CHECK ((attempts >= 0)),
  CONSTRAINT payout_end CHECK ((((ended_at IS NULL) = (state = ANY (ARRAY['chosen'::text, 'signed'::text, 'broadcast'::text]))) AND ((ended_at IS NULL) = (final_hash IS NULL)))),
  CONSTRAINT payout_state_check CHECK ((state = ANY (ARRAY['chosen'::text, 'signed'::text, 'broadcast'::text, 'confirmed'::text, 'reverted'::text, 'filled'::text, 'displaced'::text, 'foreign'::text]))),
  CONSTRAINT payout_transfer CHECK (((transfer_id IS NULL) = (state = 'foreign'::text))),
  CONSTRAINT payout_transfer_id_fkey FOREIGN KEY (transfer_id) REFERENCES transfer(id),
  CONSTRAINT payout_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallet(id),
  CONSTRAINT payout_pkey PRIMARY KEY (id),
  CONSTRAINT payout_nonce UNIQUE (wallet_id, nonce)
) WITH (fillfactor=70);
CREATE UNIQUE INDEX payout_living ON public.payout USING btree (transfer_id) WHERE (state <> 'displaced'::text);
CREATE INDEX payout_lost ON public.payout USING btree (wallet_id, nonce) WHERE (state = ANY (ARRAY['displaced'::text, 'foreign'::text]));
CREATE INDEX payout_of_transfer ON public.payout USING btree (transfer_id, id);
CREATE INDEX payout_open ON public.payout USING btree (wallet_id, nonce) WHERE (state = ANY (ARRAY['chosen'::text, 'signed'::text, 'broadcast'::text]));
CREATE INDEX payout_recheck ON public.payout USING btree (wallet_id, recheck_at) WHERE (recheck_at IS NOT NULL);
CREATE TRIGGER append_only BEFORE DELETE ON public.payout FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.payout FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT INSERT, SELECT, UPDATE (state, attempts, filling_reason, final_hash, ended_at, recheck_at, reopened_at, short_accepted_at) ON payout TO saldo_serve;

CREATE TABLE payout_attempt (
  payout_id uuid NOT NULL,
  number integer NOT NULL,
  kind text NOT NULL,
  raw text NOT NULL,
  hash text NOT NULL,
  fee_most numeric(38,0) NOT NULL,
  fee_priority numeric(38,0) NOT NULL,
  signed_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  broadcast_at timestamp with time zone,
  seen_at timestamp with time zone,
  state text NOT NULL DEFAULT 'signed'::text,
  block_number bigint,
  block_hash text,
  CONSTRAINT payout_attempt_block CHECK ((((state = ANY (ARRAY['mined'::text, 'final'::text])) = (block_hash IS NOT NULL)) AND ((block_hash IS NULL) = (block_number IS NULL)))),
  CONSTRAINT payout_attempt_kind_check CHECK ((kind = ANY (ARRAY['payment'::text, 'filler'::text]))),
  CONSTRAINT payout_attempt_number_check CHECK ((number > 0)),
  CONSTRAINT payout_attempt_state_check CHECK ((state = ANY (ARRAY['signed'::text, 'seen'::text, 'mined'::text, 'final'::text]))),
  CONSTRAINT payout_attempt_payout_id_fkey FOREIGN KEY (payout_id) REFERENCES payout(id),
  CONSTRAINT payout_attempt_pkey PRIMARY KEY (payout_id, number),
  CONSTRAINT payout_attempt_hash UNIQUE (hash)
) WITH (fillfactor=70);
CREATE UNIQUE INDEX payout_attempt_final ON public.payout_attempt USING btree (payout_id) WHERE (state = 'final'::text);
CREATE TRIGGER append_only BEFORE DELETE ON public.payout_attempt FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.payout_attempt FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER same_bytes BEFORE UPDATE ON public.payout_attempt FOR EACH ROW EXECUTE FUNCTION refuse_other_bytes(); -- enabled always
GRANT INSERT, SELECT, UPDATE (broadcast_at, seen_at, state, block_number, block_hash) ON payout_attempt TO saldo_serve;

CREATE TABLE payout_foreign_payment (
  hash text NOT NULL,
  wallet_id uuid NOT NULL,
  nonce integer NOT NULL,
  network text NOT NULL,
  currency_code text NOT NULL,
  address text NOT NULL,
  units numeric(38,0) NOT NULL,
  found_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT payout_foreign_payment_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallet(id),
  CONSTRAINT payout_foreign_payment_pkey PRIMARY KEY (hash)
);
CREATE INDEX payout_foreign_payment_units ON public.payout_foreign_payment USING btree (units, address);
GRANT INSERT, SELECT ON payout_foreign_payment TO saldo_serve;

CREATE TABLE payout_journal (
  wallet_id uuid NOT NULL,
  id uuid NOT NULL,
  host text NOT NULL,
  final_nonce integer,
  system_identifier text NOT NULL,
  timeline integer NOT NULL,
  compared_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  books text,
  owner uuid,
  owned_at timestamp with time zone,
  CONSTRAINT payout_journal_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallet(id),
  CONSTRAINT payout_journal_pkey PRIMARY KEY (wallet_id, id)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON payout_journal TO saldo_serve;

CREATE TABLE payout_lost_attempt (
  hash text NOT NULL,
  wallet_id uuid NOT NULL,
  journal_id uuid NOT NULL,
  nonce integer NOT NULL,
  transfer_id uuid NOT NULL,
  number integer NOT NULL,
  kind text NOT NULL,
  raw text NOT NULL,
  fee_most numeric(38,0) NOT NULL,
  fee_priority numeric(38,0) NOT NULL,
  found_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  resolved_at timestamp with time zone,
  transfer jsonb,
  CONSTRAINT payout_lost_attempt_kind_check CHECK ((kind = ANY (ARRAY['payment'::text, 'filler'::text]))),
  CONSTRAINT payout_lost_attempt_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallet(id),
  CONSTRAINT payout_lost_attempt_pkey PRIMARY KEY (hash)
);
GRANT INSERT, SELECT, UPDATE (resolved_at) ON payout_lost_attempt TO saldo_serve;

CREATE TABLE payout_stop (
  scope text NOT NULL,
  operator text NOT NULL,
  reason text NOT NULL,
  stopped_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT payout_stop_pkey PRIMARY KEY (scope)
);
GRANT DELETE, INSERT, SELECT ON payout_stop TO saldo_serve;

CREATE TABLE posting (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  group_id uuid NOT NULL,
  asset text NOT NULL,
  debit uuid NOT NULL,
  credit uuid NOT NULL,
  amount numeric(38,0) NOT NULL,
  reason text NOT NULL,
  reference text,
  note text,
  posted_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT posting_amount_check CHECK ((amount > (0)::numeric)),
  CONSTRAINT posting_check CHECK ((debit <> credit)),
  CONSTRAINT posting_id_has_begun CHECK (id_has_begun(id, posted_at)) NOT VALID,
  CONSTRAINT posting_pkey PRIMARY KEY (account_id, id)
);
CREATE INDEX posting_credit ON public.posting USING btree (credit, id) WHERE ((credit < '00000000-0000-7000-8000-000000000100'::uuid) AND (debit <> '00000000-0000-7000-8000-000000000002'::uuid));
CREATE INDEX posting_debit ON public.posting USING btree (debit, id) WHERE (debit < '00000000-0000-7000-8000-000000000100'::uuid);
CREATE INDEX posting_group ON public.posting USING btree (group_id, id);
CREATE INDEX posting_house_late ON public.posting USING btree (posted_at) WHERE (settled_late(id, posted_at) AND (account_id <> debit) AND (account_id <> credit));
CREATE INDEX posting_id ON public.posting USING btree (id);
CREATE INDEX posting_late ON public.posting USING btree (account_id, posted_at) WHERE settled_late(id, posted_at);
CREATE UNIQUE INDEX posting_reference ON public.posting USING btree (reference, account_id) WHERE (reference IS NOT NULL);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.posting FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.posting FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT INSERT, SELECT ON posting TO saldo_ledger;
GRANT INSERT ON posting TO saldo_seed;
GRANT INSERT, SELECT ON posting TO saldo_serve;

CREATE TABLE process (
  id uuid NOT NULL,
  started_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  renewed_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamp with time zone NOT NULL,
  gapless_since timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  dead_at timestamp with time zone,
  schema_code integer,
  CONSTRAINT process_pkey PRIMARY KEY (id)
) WITH (fillfactor=50);
CREATE TRIGGER check_code BEFORE INSERT ON public.process FOR EACH ROW EXECUTE FUNCTION check_process_code(); -- enabled: O
GRANT DELETE, INSERT, SELECT, UPDATE ON process TO saldo_serve;

CREATE TABLE proof_node (
  level integer NOT NULL,
  "position" integer NOT NULL,
  seal integer NOT NULL,
  hash bytea NOT NULL,
  CONSTRAINT proof_node_hash_check CHECK ((octet_length(hash) = 32)),
  CONSTRAINT proof_node_level_check CHECK ((level > 0)),
  CONSTRAINT proof_node_position_check CHECK (("position" >= 0)),
  CONSTRAINT proof_node_pkey PRIMARY KEY (level, "position", seal)
);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.proof_node FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.proof_node FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT INSERT, SELECT ON proof_node TO saldo_serve;

CREATE TABLE proof_place (
  "position" integer NOT NULL,
  account_id uuid NOT NULL,
  CONSTRAINT proof_place_position_check CHECK (("position" >= 0)),
  CONSTRAINT proof_place_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  CONSTRAINT proof_place_pkey PRIMARY KEY ("position"),
  CONSTRAINT proof_place_account_id_key UNIQUE (account_id)
);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.proof_place FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.proof_place FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT INSERT, SELECT ON proof_place TO saldo_serve;

CREATE TABLE proof_root (
  seal integer NOT NULL,
  text text NOT NULL,
  signatures jsonb NOT NULL,
  signed_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT proof_root_pkey PRIMARY KEY (seal)
);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.proof_root FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.proof_root FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT INSERT, SELECT ON proof_root TO saldo_serve;

CREATE TABLE proof_sent (
  seal integer NOT NULL,
  place text NOT NULL,
  sent_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT proof_sent_place_check CHECK ((place = ANY (ARRAY['file'::text, 'mail'::text, 'webhook'::text]))),
  CONSTRAINT proof_sent_pkey PRIMARY KEY (seal, place)
);
GRANT INSERT, SELECT ON proof_sent TO saldo_serve;

CREATE TABLE proof_window (
  seal integer NOT NULL,
  from_time timestamp with time zone NOT NULL,
  until_time timestamp with time zone NOT NULL,
  day date NOT NULL,
  opened_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  trace text,
  CONSTRAINT proof_window_check CHECK ((from_time < until_time)),
  CONSTRAINT proof_window_seal_check CHECK ((seal > 0)),
  CONSTRAINT proof_window_pkey PRIMARY KEY (seal)
);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.proof_window FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.proof_window FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT INSERT, SELECT ON proof_window TO saldo_serve;

CREATE TABLE receipt (
  id uuid NOT NULL,
  kind text NOT NULL,
  series text NOT NULL,
  year integer NOT NULL,
  number integer NOT NULL,
  account_id uuid NOT NULL,
  top_up_id uuid NOT NULL,
  net bigint NOT NULL,
  tax bigint NOT NULL,
  tax_rate integer NOT NULL,
  tax_included boolean NOT NULL,
  given_back bigint NOT NULL,
  provider text NOT NULL,
  seller jsonb NOT NULL,
  buyer jsonb NOT NULL,
  dated_at timestamp with time zone NOT NULL,
  issued_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT receipt_amount CHECK ((((net + tax) > 0) AND ((kind = 'receipt'::text) = (given_back = 0)))),
  CONSTRAINT receipt_kind_check CHECK ((kind = ANY (ARRAY['receipt'::text, 'credit_note'::text]))),
  CONSTRAINT receipt_net_check CHECK ((net >= 0)),
  CONSTRAINT receipt_number_check CHECK ((number > 0)),
  CONSTRAINT receipt_tax_check CHECK ((tax >= 0)),
  CONSTRAINT receipt_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  CONSTRAINT receipt_top_up_id_fkey FOREIGN KEY (top_up_id) REFERENCES top_up(id),
  CONSTRAINT receipt_pkey PRIMARY KEY (id),
  CONSTRAINT receipt_number UNIQUE (series, year, number),
  CONSTRAINT receipt_once UNIQUE (top_up_id, kind, given_back)
);
CREATE INDEX receipt_account ON public.receipt USING btree (account_id, id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.receipt FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.receipt FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT INSERT, SELECT ON receipt TO saldo_serve;

CREATE TABLE receipt_buyer (
  account_id uuid NOT NULL,
  name text NOT NULL,
  address text NOT NULL,
  npwp text NOT NULL,
  changed_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT receipt_buyer_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  CONSTRAINT receipt_buyer_pkey PRIMARY KEY (account_id)
);
GRANT INSERT, SELECT, UPDATE ON receipt_buyer TO saldo_serve;

CREATE TABLE receipt_series (
  series text NOT NULL,
  year integer NOT NULL,
  last_number integer NOT NULL DEFAULT 0,
  CONSTRAINT receipt_series_last_number_check CHECK ((last_number >= 0)),
  CONSTRAINT receipt_series_pkey PRIMARY KEY (series, year)
);
GRANT INSERT, SELECT, UPDATE ON receipt_series TO saldo_serve;

CREATE TABLE receivable (
  id uuid NOT NULL,
  account_id uuid NOT NULL,
  top_up_id uuid NOT NULL,
  amount bigint NOT NULL,
  collected bigint NOT NULL DEFAULT 0,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT receivable_amount_check CHECK ((amount > 0)),
  CONSTRAINT receivable_check CHECK (((collected >= 0) AND (collected <= amount))),
  CONSTRAINT receivable_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  CONSTRAINT receivable_top_up_id_fkey FOREIGN KEY (top_up_id) REFERENCES top_up(id),
  CONSTRAINT receivable_pkey PRIMARY KEY (id)
) WITH (fillfactor=70);
CREATE INDEX receivable_open ON public.receivable USING btree (account_id, id) WHERE (collected < amount);
CREATE INDEX receivable_owed ON public.receivable USING btree (top_up_id) WHERE (collected < amount);
CREATE INDEX receivable_top_up ON public.receivable USING btree (top_up_id);
GRANT SELECT, UPDATE (collected) ON receivable TO saldo_ledger;
GRANT INSERT, SELECT, UPDATE ON receivable TO saldo_serve;

CREATE TABLE sandbox_payment (
  order_id text NOT NULL,
  token text NOT NULL,
  amount bigint NOT NULL,
  paid bigint NOT NULL DEFAULT 0,
  given_back bigint NOT NULL DEFAULT 0,
  status text NOT NULL DEFAULT 'pending'::text,
  return_url text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  saved_card text,
  CONSTRAINT sandbox_payment_pkey PRIMARY KEY (order_id),
  CONSTRAINT sandbox_payment_token_key UNIQUE (token)
);
GRANT INSERT ON sandbox_payment TO saldo_seed;
GRANT INSERT, SELECT, UPDATE ON sandbox_payment TO saldo_serve;

CREATE TABLE sandbox_provider (
  the_row boolean NOT NULL DEFAULT true,
  webhook_secret text NOT NULL,
  CONSTRAINT sandbox_provider_the_row_check CHECK (the_row),
  CONSTRAINT sandbox_provider_pkey PRIMARY KEY (the_row)
);
GRANT SELECT, UPDATE (webhook_secret) ON sandbox_provider TO saldo_serve;

CREATE TABLE sandbox_transaction (
  hash text NOT NULL,
  nonce integer NOT NULL,
  fee numeric(38,0) NOT NULL,
  outcome text NOT NULL,
  ready_at_ms bigint,
  mined_at_ms bigint,
  CONSTRAINT sandbox_transaction_pkey PRIMARY KEY (hash)
) WITH (fillfactor=70);
CREATE UNIQUE INDEX sandbox_transaction_holder ON public.sandbox_transaction USING btree (nonce) WHERE (mined_at_ms IS NOT NULL);
CREATE INDEX sandbox_transaction_mempool ON public.sandbox_transaction USING btree (nonce) WHERE (mined_at_ms IS NULL);
GRANT INSERT, SELECT, UPDATE (ready_at_ms, mined_at_ms) ON sandbox_transaction TO saldo_serve;

CREATE TABLE sandbox_wallet (
  the_row boolean NOT NULL DEFAULT true,
  mined integer NOT NULL DEFAULT 0,
  last_mined_at_ms bigint NOT NULL DEFAULT 0,
  CONSTRAINT sandbox_wallet_the_row_check CHECK (the_row),
  CONSTRAINT sandbox_wallet_pkey PRIMARY KEY (the_row)
) WITH (fillfactor=50);
GRANT SELECT, UPDATE ON sandbox_wallet TO saldo_serve;

CREATE TABLE schema_change (
  number integer NOT NULL,
  name text NOT NULL,
  oldest_code integer NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT schema_change_check CHECK ((oldest_code <= number)),
  CONSTRAINT schema_change_pkey PRIMARY KEY (number)
);
GRANT SELECT ON schema_change TO saldo_serve;

CREATE TABLE schema_function (
  name text NOT NULL,
  hash text NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT schema_function_pkey PRIMARY KEY (name)
);
GRANT SELECT ON schema_function TO saldo_serve;

CREATE TABLE secret_state (
  the_row boolean NOT NULL DEFAULT true,
  form text NOT NULL,
  key_check text,
  CONSTRAINT secret_state_form_check CHECK ((form = ANY (ARRAY['envelope'::text, 'former'::text]))),
  CONSTRAINT secret_state_the_row_check CHECK (the_row),
  CONSTRAINT secret_state_pkey PRIMARY KEY (the_row)
);
GRANT SELECT, UPDATE ON secret_state TO saldo_serve;

CREATE TABLE service_token (
  id uuid NOT NULL,
  digest bytea NOT NULL,
  account_id uuid,
  name text NOT NULL,
  prefix text NOT NULL,
  last_four text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  revoked_at timestamp with time zone,
  expires_at timestamp with time zone NOT NULL DEFAULT (clock_timestamp() + '90 days'::interval),
  last_used_at timestamp with time zone,
  scopes text[] NOT NULL DEFAULT '{read}'::text[],
  CONSTRAINT service_token_digest_check CHECK ((length(digest) = 32)),
  CONSTRAINT service_token_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  CONSTRAINT service_token_pkey PRIMARY KEY (id),
  CONSTRAINT service_token_digest_key UNIQUE (digest)
);
GRANT INSERT, SELECT, UPDATE (revoked_at, last_used_at) ON service_token TO saldo_serve;

CREATE TABLE top_up (
  id uuid NOT NULL,
  account_id uuid NOT NULL,
  idempotency_key text NOT NULL,
  amount bigint NOT NULL,
  provider text NOT NULL,
  state text NOT NULL DEFAULT 'created'::text,
  provider_reference text,
  payment_url text,
  given_back bigint NOT NULL DEFAULT 0,
  problem text,
  revision integer NOT NULL DEFAULT 1,
  failures integer NOT NULL DEFAULT 0,
  next_check_at timestamp with time zone,
  opening_until timestamp with time zone,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamp with time zone NOT NULL,
  paid_at timestamp with time zone,
  changed_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  dispute text,
  tax bigint,
  tax_rate integer,
  tax_included boolean,
  tax_given_back bigint,
  receipted_at timestamp with time zone,
  noted_back bigint,
  method_id uuid,
  charge_called_at timestamp with time zone,
  saves_method boolean,
  method_due_at timestamp with time zone,
  CONSTRAINT top_up_amount_check CHECK ((amount > 0)),
  CONSTRAINT top_up_check CHECK (((given_back >= 0) AND (given_back <= amount))),
  CONSTRAINT top_up_credited CHECK (((paid_at IS NOT NULL) = (state = ANY (ARRAY['paid'::text, 'partially_refunded'::text, 'refunded'::text, 'charged_back'::text])))),
  CONSTRAINT top_up_dispute_check CHECK ((dispute = ANY (ARRAY['open'::text, 'lost'::text]))),
  CONSTRAINT top_up_given_back CHECK (((given_back = 0) OR (paid_at IS NOT NULL))),
  CONSTRAINT top_up_state_check CHECK ((state = ANY (ARRAY['created'::text, 'pending'::text, 'review'::text, 'expired'::text, 'failed'::text, 'canceled'::text, 'paid'::text, 'partially_refunded'::text, 'refunded'::text, 'charged_back'::text]))),
  CONSTRAINT top_up_tax CHECK ((((tax IS NULL) OR (tax >= 0)) AND ((tax_rate IS NULL) OR ((tax_rate >= 0) AND (tax_rate <= 10000))) AND ((COALESCE(tax_given_back, (0)::bigint) >= 0) AND (COALESCE(tax_given_back, (0)::bigint) <= COALESCE(tax, (0)::bigint))))) NOT VALID,
  CONSTRAINT top_up_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  CONSTRAINT top_up_method_id_fkey FOREIGN KEY (method_id) REFERENCES payment_method(id) NOT VALID,
  CONSTRAINT top_up_pkey PRIMARY KEY (id),
  CONSTRAINT top_up_account_id_idempotency_key_key UNIQUE (account_id, idempotency_key)
) WITH (fillfactor=70);
CREATE INDEX top_up_account ON public.top_up USING btree (account_id, id);
CREATE INDEX top_up_attention ON public.top_up USING btree (id) WHERE ((state = 'review'::text) OR (problem IS NOT NULL) OR (dispute IS NOT NULL));
CREATE INDEX top_up_by_state ON public.top_up USING btree (provider, state, id);
CREATE INDEX top_up_changed ON public.top_up USING btree (changed_at);
CREATE INDEX top_up_due ON public.top_up USING btree (next_check_at) WHERE (next_check_at IS NOT NULL);
CREATE UNIQUE INDEX top_up_one_automatic_open ON public.top_up USING btree (account_id) WHERE ((method_id IS NOT NULL) AND (state = ANY (ARRAY['created'::text, 'pending'::text])));
CREATE INDEX top_up_reference ON public.top_up USING btree (provider, provider_reference);
CREATE INDEX top_up_unreceipted ON public.top_up USING btree (id) WHERE ((paid_at IS NOT NULL) AND ((receipted_at IS NULL) OR (COALESCE(noted_back, (0)::bigint) < (given_back + COALESCE(tax_given_back, (0)::bigint)))));
GRANT INSERT ON top_up TO saldo_seed;
GRANT INSERT, SELECT, UPDATE ON top_up TO saldo_serve;

CREATE TABLE transfer (
  id uuid NOT NULL,
  merchant_id uuid NOT NULL,
  environment text NOT NULL,
  external_id text NOT NULL,
  slug text NOT NULL,
  currency_code text NOT NULL,
  network text NOT NULL,
  implied_network boolean NOT NULL,
  asset text NOT NULL,
  address text NOT NULL,
  ordered_address text NOT NULL,
  received numeric(38,0) NOT NULL,
  fee numeric(38,0) NOT NULL,
  total numeric(38,0) NOT NULL,
  fee_id uuid NOT NULL,
  status text NOT NULL,
  awaits_approval boolean NOT NULL,
  transaction_hash text,
  confirmations integer NOT NULL DEFAULT 0,
  reason text,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  confirmed_at timestamp with time zone,
  CONSTRAINT transfer_approval CHECK (((NOT awaits_approval) OR (status = ANY (ARRAY['WAITING'::text, 'REJECTED'::text, 'CANCELED'::text])))),
  CONSTRAINT transfer_confirmations_check CHECK ((confirmations >= 0)),
  CONSTRAINT transfer_confirmed CHECK ((((confirmed_at IS NOT NULL) = (status = 'CONFIRMED'::text)) AND ((status <> 'CONFIRMED'::text) OR (transaction_hash IS NOT NULL)))),
  CONSTRAINT transfer_environment_check CHECK ((environment = ANY (ARRAY['sandbox'::text, 'production'::text]))),
  CONSTRAINT transfer_fee_check CHECK ((fee >= (0)::numeric)),
  CONSTRAINT transfer_received_check CHECK ((received > (0)::numeric)),
  CONSTRAINT transfer_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'WAITING'::text, 'SUBMITTED'::text, 'CONFIRMED'::text, 'REJECTED'::text, 'CANCELED'::text]))),
  CONSTRAINT transfer_total CHECK ((total = (received + fee))),
  CONSTRAINT transfer_fee_id_fkey FOREIGN KEY (fee_id) REFERENCES fee_schedule(id),
  CONSTRAINT transfer_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchant(id),
  CONSTRAINT transfer_pkey PRIMARY KEY (id),
  CONSTRAINT transfer_external_id UNIQUE (merchant_id, environment, external_id),
  CONSTRAINT transfer_slug UNIQUE (slug)
) WITH (fillfactor=70);
CREATE INDEX transfer_by_external_id ON public.transfer USING btree (external_id);
CREATE INDEX transfer_by_merchant ON public.transfer USING btree (merchant_id, status, id);
CREATE INDEX transfer_by_status ON public.transfer USING btree (environment, status, id);
CREATE INDEX transfer_of_merchant ON public.transfer USING btree (merchant_id, created_at DESC, id DESC);
CREATE INDEX transfer_open ON public.transfer USING btree (status, id) WHERE (status = ANY (ARRAY['PENDING'::text, 'WAITING'::text, 'SUBMITTED'::text]));
CREATE TRIGGER append_only BEFORE DELETE ON public.transfer FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.transfer FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT INSERT, SELECT, UPDATE (status, awaits_approval, transaction_hash, confirmations, reason, updated_at, confirmed_at) ON transfer TO saldo_serve;

CREATE TABLE transfer_event (
  id uuid NOT NULL,
  transfer_id uuid NOT NULL,
  status text NOT NULL,
  transaction_hash text,
  confirmations integer NOT NULL,
  reason text,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT transfer_event_transfer_id_fkey FOREIGN KEY (transfer_id) REFERENCES transfer(id),
  CONSTRAINT transfer_event_pkey PRIMARY KEY (id)
);
CREATE INDEX transfer_event_of ON public.transfer_event USING btree (transfer_id, id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.transfer_event FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.transfer_event FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT INSERT, SELECT ON transfer_event TO saldo_serve;

CREATE TABLE upstream_mark (
  upstream text NOT NULL,
  mixed_up_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT upstream_mark_pkey PRIMARY KEY (upstream)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON upstream_mark TO saldo_serve;

CREATE TABLE upstream_minute (
  upstream text NOT NULL,
  minute timestamp with time zone NOT NULL,
  answered bigint NOT NULL,
  failed bigint NOT NULL,
  first_byte bigint[] NOT NULL,
  last_failed_at timestamp with time zone,
  last_failure text,
  CONSTRAINT upstream_minute_pkey PRIMARY KEY (upstream, minute)
) WITH (fillfactor=70);
CREATE INDEX upstream_minute_minute ON public.upstream_minute USING btree (minute);
GRANT DELETE, INSERT, SELECT, UPDATE ON upstream_minute TO saldo_serve;

CREATE TABLE usage_archive (
  month date NOT NULL,
  text text NOT NULL,
  signatures jsonb NOT NULL,
  sealed_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT usage_archive_month_check CHECK ((EXTRACT(day FROM month) = (1)::numeric)),
  CONSTRAINT usage_archive_pkey PRIMARY KEY (month)
);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.usage_archive FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.usage_archive FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT SELECT ON usage_archive TO saldo_serve;

CREATE TABLE usage_archive_account (
  account_id uuid NOT NULL,
  month date NOT NULL,
  requests bigint NOT NULL,
  input_tokens_uncached bigint NOT NULL,
  input_tokens_cached bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cost numeric(38,0) NOT NULL,
  charge numeric(38,0) NOT NULL,
  loss numeric(38,0) NOT NULL,
  first_id uuid NOT NULL,
  last_id uuid NOT NULL,
  CONSTRAINT usage_archive_account_requests_check CHECK ((requests > 0)),
  CONSTRAINT usage_archive_account_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  CONSTRAINT usage_archive_account_pkey PRIMARY KEY (account_id, month)
);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.usage_archive_account FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.usage_archive_account FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT SELECT ON usage_archive_account TO saldo_serve;

CREATE TABLE usage_archive_file (
  month date NOT NULL,
  sha256 bytea NOT NULL,
  text text NOT NULL,
  signatures jsonb NOT NULL,
  written_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT usage_archive_file_sha256_check CHECK ((octet_length(sha256) = 32)),
  CONSTRAINT usage_archive_file_month_fkey FOREIGN KEY (month) REFERENCES usage_archive(month),
  CONSTRAINT usage_archive_file_pkey PRIMARY KEY (month, sha256)
);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.usage_archive_file FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.usage_archive_file FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT SELECT ON usage_archive_file TO saldo_serve;

CREATE TABLE usage_archive_mark (
  one boolean NOT NULL DEFAULT true,
  before_month date NOT NULL,
  before_id uuid NOT NULL,
  CONSTRAINT usage_archive_mark_one_check CHECK (one),
  CONSTRAINT usage_archive_mark_pkey PRIMARY KEY (one)
);
GRANT SELECT ON usage_archive_mark TO saldo_serve;

CREATE TABLE usage_archive_step (
  month date NOT NULL,
  done_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  step text NOT NULL,
  CONSTRAINT usage_archive_step_step_check CHECK ((step = ANY (ARRAY['detached'::text, 'dropped'::text, 'restored'::text]))),
  CONSTRAINT usage_archive_step_month_fkey FOREIGN KEY (month) REFERENCES usage_archive(month),
  CONSTRAINT usage_archive_step_pkey PRIMARY KEY (month, done_at)
);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.usage_archive_step FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.usage_archive_step FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT SELECT ON usage_archive_step TO saldo_serve;

CREATE TABLE usage_kept (
  account_id uuid NOT NULL,
  request_id uuid NOT NULL,
  key_id uuid NOT NULL,
  model text NOT NULL,
  input_tokens_uncached integer NOT NULL,
  input_tokens_cached integer NOT NULL,
  output_tokens integer NOT NULL,
  input_price bigint NOT NULL,
  output_price bigint NOT NULL,
  cache_hit_price bigint,
  cost bigint NOT NULL,
  charge bigint NOT NULL,
  basis text NOT NULL,
  billing_day date NOT NULL,
  upstream text,
  upstream_model text,
  upstream_request_id text,
  upstream_cost bigint,
  streamed boolean NOT NULL,
  duration_ms integer NOT NULL,
  first_byte_ms integer,
  clamped boolean NOT NULL DEFAULT false,
  other_tokens jsonb,
  other_prices jsonb,
  metering jsonb,
  unbilled_cost bigint NOT NULL DEFAULT 0,
  settled_at timestamp with time zone,
  CONSTRAINT usage_kept_pkey PRIMARY KEY (account_id, request_id)
);
CREATE INDEX usage_kept_request ON public.usage_kept USING btree (request_id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.usage_kept FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.usage_kept FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT SELECT ON usage_kept TO saldo_ledger;
GRANT SELECT ON usage_kept TO saldo_request;
GRANT SELECT ON usage_kept TO saldo_serve;

CREATE TABLE usage_record (
  account_id uuid NOT NULL,
  request_id uuid NOT NULL,
  key_id uuid NOT NULL,
  model text NOT NULL,
  input_tokens_uncached integer NOT NULL,
  input_tokens_cached integer NOT NULL,
  output_tokens integer NOT NULL,
  input_price bigint NOT NULL,
  output_price bigint NOT NULL,
  cache_hit_price bigint,
  cost bigint NOT NULL,
  charge bigint NOT NULL,
  basis text NOT NULL,
  billing_day date NOT NULL,
  upstream text,
  upstream_model text,
  upstream_request_id text,
  upstream_cost bigint,
  streamed boolean NOT NULL,
  duration_ms integer NOT NULL,
  first_byte_ms integer,
  clamped boolean NOT NULL DEFAULT false,
  other_tokens jsonb,
  other_prices jsonb,
  metering jsonb,
  unbilled_cost bigint NOT NULL DEFAULT 0,
  settled_at timestamp with time zone DEFAULT clock_timestamp(),
  CONSTRAINT usage_record_check CHECK (((charge >= 0) AND (charge <= cost))),
  CONSTRAINT usage_record_id_has_begun CHECK (id_has_begun(request_id, settled_at)) NOT VALID,
  CONSTRAINT usage_record_tokens_check CHECK ((LEAST(input_tokens_uncached, input_tokens_cached, output_tokens) >= 0)),
  CONSTRAINT usage_record_unbilled_cost_check CHECK ((unbilled_cost >= 0)),
  CONSTRAINT usage_record_pkey PRIMARY KEY (account_id, request_id)
) PARTITION BY RANGE (request_id);
CREATE INDEX usage_record_late ON ONLY public.usage_record USING btree (account_id, settled_at) WHERE settled_late(request_id, settled_at);
CREATE INDEX usage_record_request ON ONLY public.usage_record USING brin (request_id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.usage_record FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.usage_record FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT INSERT, SELECT ON usage_record TO saldo_ledger;
GRANT SELECT ON usage_record TO saldo_request;
GRANT INSERT ON usage_record TO saldo_seed;
GRANT INSERT, SELECT ON usage_record TO saldo_serve;

CREATE TABLE usage_record_default PARTITION OF usage_record DEFAULT (
  account_id uuid NOT NULL,
  request_id uuid NOT NULL,
  key_id uuid NOT NULL,
  model text NOT NULL,
  input_tokens_uncached integer NOT NULL,
  input_tokens_cached integer NOT NULL,
  output_tokens integer NOT NULL,
  input_price bigint NOT NULL,
  output_price bigint NOT NULL,
  cache_hit_price bigint,
  cost bigint NOT NULL,
  charge bigint NOT NULL,
  basis text NOT NULL,
  billing_day date NOT NULL,
  upstream text,
  upstream_model text,
  upstream_request_id text,
  upstream_cost bigint,
  streamed boolean NOT NULL,
  duration_ms integer NOT NULL,
  first_byte_ms integer,
  clamped boolean NOT NULL DEFAULT false,
  other_tokens jsonb,
  other_prices jsonb,
  metering jsonb,
  unbilled_cost bigint NOT NULL DEFAULT 0,
  settled_at timestamp with time zone DEFAULT clock_timestamp(),
  CONSTRAINT usage_record_check CHECK (((charge >= 0) AND (charge <= cost))),
  CONSTRAINT usage_record_id_has_begun CHECK (id_has_begun(request_id, settled_at)) NOT VALID,
  CONSTRAINT usage_record_tokens_check CHECK ((LEAST(input_tokens_uncached, input_tokens_cached, output_tokens) >= 0)),
  CONSTRAINT usage_record_unbilled_cost_check CHECK ((unbilled_cost >= 0)),
  CONSTRAINT usage_record_default_pkey PRIMARY KEY (account_id, request_id)
);
CREATE INDEX usage_record_default_account_id_settled_at_idx ON public.usage_record_default USING btree (account_id, settled_at) WHERE settled_late(request_id, settled_at);
CREATE INDEX usage_record_default_request_id_idx ON public.usage_record_default USING brin (request_id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.usage_record_default FOR EACH ROW EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.usage_record_default FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
GRANT SELECT ON usage_record_default TO saldo_serve;

CREATE TABLE usage_roll_up (
  account_id uuid NOT NULL,
  quarter integer NOT NULL,
  model text NOT NULL,
  key_id uuid NOT NULL,
  basis text NOT NULL,
  requests integer NOT NULL,
  input_tokens_uncached bigint NOT NULL,
  input_tokens_cached bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cost bigint NOT NULL,
  charge bigint NOT NULL,
  saved_by_cache bigint NOT NULL,
  cache_write bigint NOT NULL DEFAULT 0,
  cache_write_1h bigint NOT NULL DEFAULT 0,
  audio_input bigint NOT NULL DEFAULT 0,
  image_input bigint NOT NULL DEFAULT 0,
  image_output bigint NOT NULL DEFAULT 0,
  CONSTRAINT usage_roll_up_pkey PRIMARY KEY (account_id, quarter, model, key_id, basis)
);
GRANT DELETE, INSERT, SELECT ON usage_roll_up TO saldo_serve;

CREATE TABLE usage_rolled_up (
  account_id uuid NOT NULL,
  before_quarter integer NOT NULL DEFAULT 0,
  charge numeric(38,0) NOT NULL DEFAULT 0,
  rolled_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  recounted_at timestamp with time zone,
  CONSTRAINT usage_rolled_up_pkey PRIMARY KEY (account_id)
) WITH (fillfactor=70);
GRANT INSERT, SELECT, UPDATE ON usage_rolled_up TO saldo_serve;

CREATE TABLE wallet (
  id uuid NOT NULL,
  chain text NOT NULL,
  address text NOT NULL,
  first_nonce integer NOT NULL,
  next_nonce integer NOT NULL,
  leased_by uuid,
  leased_until timestamp with time zone,
  halted_at timestamp with time zone,
  halt_reason text,
  head_number bigint,
  head_at timestamp with time zone,
  system_identifier text,
  timeline integer,
  books text,
  awaits_journals_at timestamp with time zone,
  CONSTRAINT wallet_check CHECK ((next_nonce >= first_nonce)),
  CONSTRAINT wallet_check1 CHECK (((leased_by IS NULL) = (leased_until IS NULL))),
  CONSTRAINT wallet_check2 CHECK (((halted_at IS NULL) = (halt_reason IS NULL))),
  CONSTRAINT wallet_first_nonce_check CHECK ((first_nonce >= 0)),
  CONSTRAINT wallet_pkey PRIMARY KEY (id),
  CONSTRAINT wallet_address UNIQUE (chain, address)
) WITH (fillfactor=50);
GRANT INSERT, SELECT, UPDATE (first_nonce, next_nonce, leased_by, leased_until, halted_at, halt_reason, head_number, head_at, system_identifier, timeline, books, awaits_journals_at) ON wallet TO saldo_serve;

CREATE TABLE wallet_day (
  wallet_id uuid NOT NULL,
  asset text NOT NULL,
  day date NOT NULL,
  units numeric(38,0) NOT NULL,
  CONSTRAINT wallet_day_units_check CHECK ((units >= (0)::numeric)),
  CONSTRAINT wallet_day_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallet(id),
  CONSTRAINT wallet_day_pkey PRIMARY KEY (wallet_id, asset)
) WITH (fillfactor=50);
GRANT INSERT, SELECT, UPDATE ON wallet_day TO saldo_serve;

CREATE TABLE webhook_attempt (
  id uuid NOT NULL,
  event_id uuid NOT NULL,
  url text NOT NULL,
  started_at timestamp with time zone NOT NULL,
  duration_ms integer NOT NULL,
  http_status integer,
  problem text,
  CONSTRAINT webhook_attempt_duration_ms_check CHECK ((duration_ms >= 0)),
  CONSTRAINT webhook_attempt_event_id_fkey FOREIGN KEY (event_id) REFERENCES webhook_delivery(event_id),
  CONSTRAINT webhook_attempt_pkey PRIMARY KEY (id)
);
CREATE INDEX webhook_attempt_of ON public.webhook_attempt USING btree (event_id, id);
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.webhook_attempt FOR EACH STATEMENT EXECUTE FUNCTION refuse_change(); -- enabled always
CREATE TRIGGER keep BEFORE DELETE OR UPDATE ON public.webhook_attempt FOR EACH ROW EXECUTE FUNCTION keep_webhook(); -- enabled always
GRANT INSERT, SELECT ON webhook_attempt TO saldo_serve;

CREATE TABLE webhook_delivery (
  event_id uuid NOT NULL,
  event_at timestamp with time zone NOT NULL,
  account_id uuid NOT NULL,
  state text NOT NULL DEFAULT 'pending'::text,
  attempts integer NOT NULL DEFAULT 0,
  is_leased boolean NOT NULL DEFAULT false,
  is_passable boolean NOT NULL DEFAULT false,
  next_attempt_at timestamp with time zone,
  give_up_at timestamp with time zone NOT NULL,
  note text,
  CONSTRAINT webhook_delivery_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text]))),
  CONSTRAINT webhook_due CHECK (((state = 'pending'::text) = (next_attempt_at IS NOT NULL))),
  CONSTRAINT webhook_lease CHECK (((NOT is_leased) OR (state = 'pending'::text))),
  CONSTRAINT webhook_delivery_account_id_fkey FOREIGN KEY (account_id) REFERENCES webhook_settings(account_id),
  CONSTRAINT webhook_delivery_event_id_fkey FOREIGN KEY (event_id) REFERENCES alert_event(id),
  CONSTRAINT webhook_delivery_pkey PRIMARY KEY (event_id)
) WITH (fillfactor=70);
CREATE INDEX webhook_delivery_due ON public.webhook_delivery USING btree (account_id, next_attempt_at) WHERE (state = 'pending'::text);
CREATE INDEX webhook_delivery_leased ON public.webhook_delivery USING btree (account_id) WHERE is_leased;
CREATE INDEX webhook_delivery_of_account ON public.webhook_delivery USING btree (account_id, event_id DESC);
CREATE TRIGGER keep BEFORE DELETE ON public.webhook_delivery FOR EACH ROW EXECUTE FUNCTION keep_webhook(); -- enabled always
CREATE TRIGGER keep_all BEFORE TRUNCATE ON public.webhook_delivery FOR EACH STATEMENT EXECUTE FUNCTION keep_webhook(); -- enabled always
GRANT INSERT, SELECT, UPDATE ON webhook_delivery TO saldo_serve;

CREATE TABLE webhook_settings (
  account_id uuid NOT NULL,
  url text,
  secret text NOT NULL,
  failing_since timestamp with time zone,
  stopped_at timestamp with time zone,
  updated_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT webhook_settings_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  CONSTRAINT webhook_settings_pkey PRIMARY KEY (account_id)
) WITH (fillfactor=70);
GRANT INSERT, SELECT, UPDATE ON webhook_settings TO saldo_serve;

CREATE TABLE auth.credential (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  account_id text NOT NULL,
  provider_id text NOT NULL,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamp with time zone,
  refresh_token_expires_at timestamp with time zone,
  scope text,
  password text,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT credential_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.person(id) ON DELETE CASCADE,
  CONSTRAINT credential_pkey PRIMARY KEY (id),
  CONSTRAINT credential_user_id_provider_id_key UNIQUE (user_id, provider_id)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON auth.credential TO saldo_serve;

CREATE TABLE auth.operator_invite (
  id uuid NOT NULL,
  digest bytea NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  used_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT operator_invite_digest_check CHECK ((length(digest) = 32)),
  CONSTRAINT operator_invite_pkey PRIMARY KEY (id),
  CONSTRAINT operator_invite_digest_key UNIQUE (digest)
);
GRANT INSERT, SELECT, UPDATE (used_at) ON auth.operator_invite TO saldo_serve;

CREATE TABLE auth.passkey (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  name text,
  public_key text NOT NULL,
  credential_id text NOT NULL,
  counter double precision NOT NULL,
  device_type text NOT NULL,
  backed_up boolean NOT NULL,
  transports text,
  aaguid text,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT passkey_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.person(id) ON DELETE CASCADE,
  CONSTRAINT passkey_pkey PRIMARY KEY (id),
  CONSTRAINT passkey_credential_id_key UNIQUE (credential_id)
);
CREATE INDEX passkey_user ON auth.passkey USING btree (user_id);
GRANT DELETE, INSERT, SELECT, UPDATE ON auth.passkey TO saldo_serve;

CREATE TABLE auth.person (
  id uuid NOT NULL,
  email text NOT NULL,
  email_verified boolean NOT NULL DEFAULT false,
  name text NOT NULL,
  image text,
  account_id uuid,
  is_operator boolean NOT NULL DEFAULT false,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  two_factor_enabled boolean NOT NULL DEFAULT false,
  CONSTRAINT person_account_verified CHECK (((account_id IS NULL) OR email_verified)),
  CONSTRAINT person_email_check CHECK ((email = lower(email))),
  CONSTRAINT person_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  CONSTRAINT person_pkey PRIMARY KEY (id),
  CONSTRAINT person_account_id_key UNIQUE (account_id),
  CONSTRAINT person_email_key UNIQUE (email)
);
CREATE INDEX person_unverified ON auth.person USING btree (updated_at) WHERE (NOT email_verified);
GRANT DELETE, INSERT, SELECT, UPDATE ON auth.person TO saldo_serve;

CREATE TABLE auth.security_event (
  id uuid NOT NULL,
  kind text NOT NULL,
  outcome text NOT NULL,
  person_id uuid,
  email_hash text,
  network text NOT NULL DEFAULT ''::text,
  subject text NOT NULL DEFAULT ''::text,
  detail text NOT NULL DEFAULT ''::text,
  times integer NOT NULL DEFAULT 1,
  written_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT security_event_outcome_check CHECK ((outcome = ANY (ARRAY['succeeded'::text, 'refused'::text]))),
  CONSTRAINT security_event_times_check CHECK ((times > 0)),
  CONSTRAINT security_event_pkey PRIMARY KEY (id)
);
CREATE INDEX security_event_email ON auth.security_event USING btree (email_hash, id) WHERE (email_hash IS NOT NULL);
CREATE INDEX security_event_person ON auth.security_event USING btree (person_id, id) WHERE (person_id IS NOT NULL);
CREATE TRIGGER keep BEFORE DELETE OR UPDATE ON auth.security_event FOR EACH ROW EXECUTE FUNCTION auth.keep_security_event(); -- enabled always
CREATE TRIGGER keep_all BEFORE TRUNCATE ON auth.security_event FOR EACH STATEMENT EXECUTE FUNCTION auth.keep_security_event(); -- enabled always
GRANT INSERT, SELECT ON auth.security_event TO saldo_serve;

CREATE TABLE auth.session (
  id uuid NOT NULL,
  token_digest bytea NOT NULL,
  user_id uuid NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  ip_address text,
  user_agent text,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  proved_at timestamp with time zone,
  factor_proved boolean NOT NULL DEFAULT false,
  by_demo boolean NOT NULL DEFAULT false,
  seen_at timestamp with time zone,
  acts_for uuid,
  CONSTRAINT session_token_digest_check CHECK ((length(token_digest) = 32)),
  CONSTRAINT session_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.person(id) ON DELETE CASCADE,
  CONSTRAINT session_pkey PRIMARY KEY (id),
  CONSTRAINT session_token_digest_key UNIQUE (token_digest)
);
CREATE INDEX session_expiry ON auth.session USING btree (expires_at);
CREATE INDEX session_of_user ON auth.session USING btree (user_id);
GRANT DELETE, INSERT, SELECT, UPDATE ON auth.session TO saldo_serve;

CREATE TABLE auth.signing_secret (
  the_row boolean NOT NULL DEFAULT true,
  secret text NOT NULL,
  CONSTRAINT signing_secret_the_row_check CHECK (the_row),
  CONSTRAINT signing_secret_pkey PRIMARY KEY (the_row)
);
GRANT INSERT, SELECT, UPDATE (secret) ON auth.signing_secret TO saldo_serve;

CREATE TABLE auth.throttle (
  bucket text NOT NULL,
  booked_until timestamp with time zone NOT NULL,
  CONSTRAINT throttle_pkey PRIMARY KEY (bucket)
) WITH (fillfactor=70);
CREATE INDEX throttle_booked ON auth.throttle USING btree (booked_until);
GRANT DELETE, INSERT, SELECT, UPDATE ON auth.throttle TO saldo_serve;

CREATE TABLE auth.two_factor (
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  secret text NOT NULL,
  backup_codes text NOT NULL,
  verified boolean NOT NULL DEFAULT false,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT two_factor_user_id_fkey FOREIGN KEY (user_id) REFERENCES auth.person(id) ON DELETE CASCADE,
  CONSTRAINT two_factor_pkey PRIMARY KEY (id),
  CONSTRAINT two_factor_user_id_key UNIQUE (user_id)
);
GRANT DELETE, INSERT, SELECT, UPDATE ON auth.two_factor TO saldo_serve;

CREATE TABLE auth.verification (
  id uuid NOT NULL,
  identifier text NOT NULL,
  value text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT verification_pkey PRIMARY KEY (id)
);
CREATE INDEX verification_expiry ON auth.verification USING btree (expires_at);
CREATE INDEX verification_identifier ON auth.verification USING btree (identifier);
GRANT DELETE, INSERT, SELECT, UPDATE ON auth.verification TO saldo_serve;

-- FUNCTION all_tokens(input_uncached integer, input_cached integer, output integer, other_tokens jsonb) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION auth.forget_security_events(days integer, most integer) RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path=pg_catalog
--   EXECUTE: saldo_serve
-- FUNCTION auth.keep_security_event() RETURNS trigger LANGUAGE plpgsql SET search_path=pg_catalog
-- FUNCTION auth.oldest_kept_security_event(days integer) RETURNS uuid LANGUAGE sql STABLE SET search_path=pg_catalog
-- FUNCTION bucket_counts_after(slots timestamp with time zone[], counts integer[], t timestamp with time zone, n integer) RETURNS integer[] LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION budget_end_at(period text, zone text, until timestamp with time zone, t timestamp with time zone) RETURNS timestamp with time zone LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION budget_end_ms(period text, zone text, until timestamp with time zone, t timestamp with time zone) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION budget_in_zone(period text, start timestamp with time zone, zone text, until timestamp with time zone, began_in text, spent bigint, new_zone text, t timestamp with time zone, OUT new_start timestamp with time zone, OUT new_until timestamp with time zone, OUT new_began_in text, OUT new_spent bigint) RETURNS record LANGUAGE plpgsql STABLE
-- FUNCTION budget_until_in(period text, began_in text, start timestamp with time zone, new_zone text) RETURNS timestamp with time zone LANGUAGE plpgsql STABLE
-- FUNCTION callbacks_are_over(asked_transfer uuid, days integer) RETURNS boolean LANGUAGE sql STABLE SET search_path=pg_catalog
-- FUNCTION charge_budget(account uuid, key uuid, held bigint, charge bigint) RETURNS void LANGUAGE plpgsql
-- FUNCTION charge_member_budget(account uuid, person uuid, held bigint, charge bigint) RETURNS void LANGUAGE plpgsql
-- FUNCTION check_process_code() RETURNS trigger LANGUAGE plpgsql SET search_path=pg_catalog
-- FUNCTION collect_owed(account uuid, source uuid) RETURNS bigint LANGUAGE plpgsql
-- FUNCTION count_tokens(account uuid, key uuid, held bigint, used bigint) RETURNS void LANGUAGE plpgsql
-- FUNCTION ensure_usage_partitions(first_month date, months integer) RETURNS TABLE(partition text, failure text) LANGUAGE plpgsql SECURITY DEFINER SET search_path=pg_catalog, public
--   EXECUTE: saldo_serve
-- FUNCTION file_stray_usage() RETURNS integer LANGUAGE plpgsql SET search_path=pg_catalog, public
--   EXECUTE: its owner
-- FUNCTION fill_fund_account() RETURNS trigger LANGUAGE plpgsql
-- FUNCTION forget_callbacks(days integer, most integer) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path=pg_catalog
--   EXECUTE: saldo_serve
-- FUNCTION forget_webhooks(days integer, most integer) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path=pg_catalog
--   EXECUTE: saldo_serve
-- FUNCTION id_has_begun(id uuid, at timestamp with time zone) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
-- FUNCTION is_budget_used_up(budget bigint, used bigint, needed bigint) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- FUNCTION is_model_allowed(allowed text[], model text) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION is_model_allowed_by_beginning(allowed text[], model text) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION keep_callback() RETURNS trigger LANGUAGE plpgsql SET search_path=pg_catalog
-- FUNCTION keep_webhook() RETURNS trigger LANGUAGE plpgsql SET search_path=pg_catalog
-- FUNCTION lock_accounts(ids uuid[]) RETURNS TABLE(id uuid, posted bigint, held bigint, owed bigint, open_holds integer, keeps_answers boolean) LANGUAGE plpgsql
-- FUNCTION lock_free_accounts(ids uuid[]) RETURNS TABLE(id uuid) LANGUAGE plpgsql SECURITY DEFINER SET search_path=pg_catalog, public, pg_temp
--   EXECUTE: saldo_request, saldo_serve
-- FUNCTION member_budget_left(account uuid, person uuid) RETURNS bigint LANGUAGE plpgsql
-- FUNCTION new_uuidv7() RETURNS uuid LANGUAGE sql
-- FUNCTION note_used_up_key(account uuid, key uuid, own_hold bigint, needed bigint) RETURNS void LANGUAGE plpgsql
-- FUNCTION note_used_up_member(account uuid, person uuid, own_hold bigint, needed bigint) RETURNS void LANGUAGE plpgsql
-- FUNCTION oldest_snapshot_seconds() RETURNS double precision LANGUAGE sql SECURITY DEFINER SET search_path=pg_catalog
--   EXECUTE: saldo_serve
-- FUNCTION per_million(total numeric) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- FUNCTION post_late_usage(account uuid, request uuid, cost bigint, input_tokens_uncached integer, input_tokens_cached integer, output_tokens integer, basis text, billing_day date, upstream text, upstream_model text, upstream_request_id text, upstream_cost bigint, streamed boolean, duration_ms integer, first_byte_ms integer, clamped boolean, other_tokens jsonb, metering jsonb, unbilled_cost bigint, settled_at timestamp with time zone, whole boolean, OUT outcome text, OUT charge bigint) RETURNS record LANGUAGE plpgsql SECURITY DEFINER SET search_path=pg_catalog, public, pg_temp
--   EXECUTE: saldo_request, saldo_serve
-- FUNCTION price_of(prices jsonb, kind text) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- FUNCTION public.admit_request(account uuid, key uuid, request uuid, owner uuid, wanted bigint, least_amount bigint, model text, input_price bigint, output_price bigint, cache_hit_price bigint, other_prices jsonb, OUT kind text, OUT ord integer, OUT outcome text, OUT amount bigint, OUT other bigint, OUT rate_limit integer, OUT remaining integer, OUT reset_seconds integer, OUT wait_ms integer) RETURNS record LANGUAGE plpgsql
-- FUNCTION public.admit_request(account uuid, key uuid, request uuid, owner uuid, wanted bigint, least_amount bigint, model text, input_price bigint, output_price bigint, cache_hit_price bigint, other_prices jsonb, tokens integer, OUT kind text, OUT ord integer, OUT outcome text, OUT amount bigint, OUT other bigint, OUT rate_limit integer, OUT remaining integer, OUT reset_seconds integer, OUT wait_ms integer, OUT token_limit integer, OUT tokens_left bigint) RETURNS record LANGUAGE plpgsql SECURITY DEFINER SET search_path=pg_catalog, public, pg_temp
--   EXECUTE: saldo_request, saldo_serve
-- FUNCTION public.admit_request_once(account uuid, key uuid, request uuid, owner uuid, wanted bigint, least_amount bigint, model text, input_price bigint, output_price bigint, cache_hit_price bigint, other_prices jsonb, once_name text, once_digest bytea, OUT kind text, OUT ord integer, OUT outcome text, OUT amount bigint, OUT other bigint, OUT rate_limit integer, OUT remaining integer, OUT reset_seconds integer, OUT wait_ms integer, OUT former uuid, OUT former_basis text, OUT keeps_answers boolean) RETURNS record LANGUAGE plpgsql
-- FUNCTION public.admit_request_once(account uuid, key uuid, request uuid, owner uuid, wanted bigint, least_amount bigint, model text, input_price bigint, output_price bigint, cache_hit_price bigint, other_prices jsonb, once_name text, once_digest bytea, tokens integer, OUT kind text, OUT ord integer, OUT outcome text, OUT amount bigint, OUT other bigint, OUT rate_limit integer, OUT remaining integer, OUT reset_seconds integer, OUT wait_ms integer, OUT token_limit integer, OUT tokens_left bigint, OUT former uuid, OUT former_basis text, OUT keeps_answers boolean) RETURNS record LANGUAGE plpgsql SECURITY DEFINER SET search_path=pg_catalog, public, pg_temp
--   EXECUTE: saldo_request, saldo_serve
-- FUNCTION public.budget_left(budget bigint, period text, start timestamp with time zone, spent bigint, held bigint, t timestamp with time zone) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION public.budget_left(budget bigint, period text, start timestamp with time zone, zone text, until timestamp with time zone, spent bigint, held bigint, t timestamp with time zone) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION public.budget_spent_at(period text, start timestamp with time zone, spent bigint, t timestamp with time zone) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION public.budget_spent_at(period text, start timestamp with time zone, zone text, until timestamp with time zone, spent bigint, t timestamp with time zone) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION public.budget_start_at(period text, start timestamp with time zone, t timestamp with time zone) RETURNS timestamp with time zone LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION public.budget_start_at(period text, start timestamp with time zone, zone text, until timestamp with time zone, t timestamp with time zone) RETURNS timestamp with time zone LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION public.commit_requests(s_account uuid[], s_request uuid[], s_cost bigint[], s_input_uncached integer[], s_input_cached integer[], s_output integer[], s_basis text[], s_day date[], s_upstream text[], s_upstream_model text[], s_upstream_request text[], s_upstream_cost bigint[], s_streamed boolean[], s_duration integer[], s_first_byte integer[], s_clamped boolean[], s_other_tokens jsonb[], s_metering jsonb[], s_unbilled bigint[], s_settled timestamp with time zone[], e_account uuid[], e_request uuid[], e_amount bigint[], e_least bigint[], e_input integer[], e_cached integer[], e_output integer[], a_account uuid[], a_key uuid[], a_request uuid[], a_owner uuid[], a_amount bigint[], a_least bigint[], a_model text[], a_input_price bigint[], a_output_price bigint[], a_cache_hit_price bigint[], a_other_prices jsonb[]) RETURNS TABLE(kind text, ord integer, outcome text, amount bigint, other bigint, rate_limit integer, remaining integer, reset_seconds integer, wait_ms integer) LANGUAGE plpgsql
-- FUNCTION public.commit_requests(s_account uuid[], s_request uuid[], s_cost bigint[], s_input_uncached integer[], s_input_cached integer[], s_output integer[], s_basis text[], s_day date[], s_upstream text[], s_upstream_model text[], s_upstream_request text[], s_upstream_cost bigint[], s_streamed boolean[], s_duration integer[], s_first_byte integer[], s_clamped boolean[], s_other_tokens jsonb[], s_metering jsonb[], s_unbilled bigint[], s_settled timestamp with time zone[], e_account uuid[], e_request uuid[], e_amount bigint[], e_least bigint[], e_input integer[], e_cached integer[], e_output integer[], a_account uuid[], a_key uuid[], a_request uuid[], a_owner uuid[], a_amount bigint[], a_least bigint[], a_model text[], a_input_price bigint[], a_output_price bigint[], a_cache_hit_price bigint[], a_other_prices jsonb[], a_tokens integer[]) RETURNS TABLE(kind text, ord integer, outcome text, amount bigint, other bigint, rate_limit integer, remaining integer, reset_seconds integer, wait_ms integer, token_limit integer, tokens_left bigint) LANGUAGE plpgsql SECURITY DEFINER SET search_path=pg_catalog, public, pg_temp
--   EXECUTE: saldo_request, saldo_serve
-- FUNCTION quarter_floor(quarter integer) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- FUNCTION quarter_of(id uuid) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- FUNCTION recount_key_budgets(account uuid) RETURNS integer LANGUAGE plpgsql
-- FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql
-- FUNCTION refuse_ids_before(relation regclass, first_id uuid) RETURNS void LANGUAGE plpgsql SET search_path=pg_catalog, public
--   EXECUTE: its owner
-- FUNCTION refuse_other_bytes() RETURNS trigger LANGUAGE plpgsql
-- FUNCTION refuse_other_order() RETURNS trigger LANGUAGE plpgsql
-- FUNCTION request_time(id uuid) RETURNS timestamp with time zone LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- FUNCTION require_code(change_name text) RETURNS SETOF uuid LANGUAGE plpgsql SECURITY DEFINER SET search_path=pg_catalog
--   EXECUTE: saldo_serve
-- FUNCTION saved_by_cache(uncached integer, cached integer, output integer, tokens jsonb, input_price bigint, output_price bigint, cache_hit_price bigint, prices jsonb, cost bigint) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- FUNCTION set_budget_zone(account uuid, new_zone text) RETURNS text LANGUAGE plpgsql
-- FUNCTION set_key_budget(account uuid, key uuid, new_budget bigint, new_period text) RETURNS boolean LANGUAGE plpgsql
-- FUNCTION set_member_budget(account uuid, person uuid, new_budget bigint, new_period text) RETURNS void LANGUAGE plpgsql
-- FUNCTION settle_request(account uuid, request uuid, cost bigint, input_tokens_uncached integer, input_tokens_cached integer, output_tokens integer, basis text, billing_day date, upstream text, upstream_model text, upstream_request_id text, upstream_cost bigint, streamed boolean, duration_ms integer, first_byte_ms integer, clamped boolean, other_tokens jsonb, metering jsonb, unbilled_cost bigint, settled_at timestamp with time zone, OUT kind text, OUT ord integer, OUT outcome text, OUT amount bigint, OUT other bigint, OUT rate_limit integer, OUT remaining integer, OUT reset_seconds integer, OUT wait_ms integer) RETURNS record LANGUAGE plpgsql SECURITY DEFINER SET search_path=pg_catalog, public, pg_temp
--   EXECUTE: saldo_request, saldo_serve
-- FUNCTION settled_late(id uuid, settled_at timestamp with time zone) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
-- FUNCTION settled_time(id uuid, settled_at timestamp with time zone) RETURNS timestamp with time zone LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- FUNCTION slot_counts_after(slots timestamp with time zone[], slot_counts integer[], rate_limit integer, t timestamp with time zone, n integer) RETURNS integer[] LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION slot_free_at(slots timestamp with time zone[], slot_counts integer[], rate_limit integer, nth integer) RETURNS timestamp with time zone LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION slot_free_at_in_buckets(slots timestamp with time zone[], slot_counts integer[], rate_limit integer, nth integer) RETURNS timestamp with time zone LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION slot_wait_ms(slots timestamp with time zone[], slot_counts integer[], rate_limit integer, t timestamp with time zone, nth integer) RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION slots_after(slots timestamp with time zone[], slot_counts integer[], rate_limit integer, t timestamp with time zone, n integer) RETURNS timestamp with time zone[] LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION slots_reset_seconds(slots timestamp with time zone[], slot_counts integer[], rate_limit integer, t timestamp with time zone) RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION slots_used(slots timestamp with time zone[], slot_counts integer[], rate_limit integer, t timestamp with time zone) RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION slots_used_in_buckets(slots timestamp with time zone[], slot_counts integer[], t timestamp with time zone) RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION standby_position(OUT system text, OUT timeline integer, OUT lsn pg_lsn) RETURNS record LANGUAGE sql SECURITY DEFINER SET search_path=pg_catalog
--   EXECUTE: saldo_serve
-- FUNCTION synchronous_standbys() RETURNS integer LANGUAGE sql SECURITY DEFINER SET search_path=pg_catalog
--   EXECUTE: saldo_request, saldo_serve
-- FUNCTION take_caller_slot(kind text, caller_id uuid, rate_limit integer, OUT outcome text, OUT wait_ms integer) RETURNS record LANGUAGE plpgsql
-- FUNCTION token_counts_after(times timestamp with time zone[], counts bigint[], t timestamp with time zone, n bigint) RETURNS bigint[] LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION token_times_after(times timestamp with time zone[], t timestamp with time zone) RETURNS timestamp with time zone[] LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION token_wait_ms(times timestamp with time zone[], counts bigint[], wanted bigint, t timestamp with time zone) RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION tokens_settled(times timestamp with time zone[], counts bigint[], t timestamp with time zone) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
-- FUNCTION usage_cost(uncached integer, cached integer, output integer, tokens jsonb, input_price bigint, output_price bigint, cache_hit_price bigint, prices jsonb) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- FUNCTION usage_cost_of_all_kinds(uncached integer, cached integer, output integer, tokens jsonb, input_price bigint, output_price bigint, cache_hit_price bigint, prices jsonb) RETURNS numeric LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
-- FUNCTION uuid_floor(at timestamp with time zone) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- FUNCTION uuid_time(id uuid) RETURNS timestamp with time zone LANGUAGE sql IMMUTABLE PARALLEL SAFE
-- FUNCTION webhook_is_over(asked_event uuid, days integer) RETURNS boolean LANGUAGE plpgsql STABLE SET search_path=pg_catalog
-- FUNCTION write_ahead_log_bytes() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path=pg_catalog
--   EXECUTE: saldo_serve
-- FUNCTION zone_period_start(period text, t timestamp with time zone, zone text) RETURNS timestamp with time zone LANGUAGE sql STABLE PARALLEL SAFE
