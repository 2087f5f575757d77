-- Executions whose rows were deleted a short time ago. An event that was read before may write nodes and attempts
-- afterwards: they are deleted once no such write can be left.
CREATE TABLE deleted_executions (
  execution_id bigint PRIMARY KEY,
  deleted_at timestamptz NOT NULL
);
CREATE INDEX deleted_executions_deleted_at ON deleted_executions (deleted_at);
