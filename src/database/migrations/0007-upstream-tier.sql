-- Whether an upstream knows service tiers, so that requests name the one that has a price. Null: as its kind and host do.

ALTER TABLE catalog_upstream ADD COLUMN takes_service_tier boolean;
