-- Node tables of ended executions as columns. They may be older than the nodes: whoever reads one also reads what
-- was written after its snapshot.
CREATE TABLE execution_node_tables (
  execution_id bigint PRIMARY KEY REFERENCES executions (id) ON DELETE CASCADE,
  -- Layout of `pages`: a build reads its own only.
  format integer NOT NULL,
  -- The database server whose transactions `snapshot` names.
  system_identifier bigint NOT NULL,
  snapshot pg_snapshot NOT NULL,
  pages bytea NOT NULL
);
