-- Names of deleted executions whose raw outputs stay for the cache. Folders of raw outputs carry the name alone, so an
-- execution with the same name in another project or domain would delete them.
CREATE TABLE kept_raw_outputs (
  execution_name text PRIMARY KEY
);
