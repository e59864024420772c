-- What a model accepts at an upstream whose models differ in it, in the words of the catalog file. Null: what every model accepts.

ALTER TABLE catalog_model ADD COLUMN accepts jsonb;
