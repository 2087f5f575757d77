-- How many node instances a workflow comes to when its sub-workflows are expanded, and how deep they stand in one another: both are
-- checked when it is registered and when it is launched. NULL: registered by a build before; counted when it is launched next.

ALTER TABLE workflows ADD COLUMN expanded_instances double precision, ADD COLUMN expanded_depth integer;
