-- What a model answers with: a conversation, or the vectors of texts. A model of vectors writes no output, so it has no bound on
-- it. A catalog has at most a few thousand rows, so the checks are made at once.

ALTER TABLE catalog_model
  ADD COLUMN kind text NOT NULL DEFAULT 'chat' CHECK (kind IN ('chat', 'embeddings')),
  DROP CONSTRAINT catalog_model_max_output_tokens_check,
  ADD CONSTRAINT catalog_model_max_output_tokens_check CHECK (max_output_tokens > 0 OR kind = 'embeddings');
