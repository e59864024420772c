-- Ids of archived months are refused from now on, also where months were archived before.
SELECT refuse_ids_before(relation, before_id) FROM usage_archive_mark, unnest(ARRAY['hold'::regclass, 'usage_record_default'::regclass]) AS relation;
