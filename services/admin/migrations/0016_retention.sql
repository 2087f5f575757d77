-- How long executions are kept after they have last changed; empty text means: any.
CREATE TABLE retention_policies (
  project text NOT NULL DEFAULT '',
  domain text NOT NULL DEFAULT '',
  workflow text NOT NULL DEFAULT '',
  -- NULL: for ever.
  keep_seconds bigint CHECK (keep_seconds > 0),
  updated_at timestamptz NOT NULL,
  updated_by text NOT NULL DEFAULT '',
  PRIMARY KEY (project, domain, workflow)
);

-- Executions that are being deleted. Their blobs go first and their rows last, so that whatever is left can be found.
CREATE TABLE execution_deletions (
  execution_id bigint PRIMARY KEY REFERENCES executions (id) ON DELETE CASCADE,
  -- The execution with which it goes: itself, or the one that launched it, directly or not.
  root_id bigint NOT NULL,
  by_policy boolean NOT NULL,
  requested_by text NOT NULL DEFAULT '',
  marked_at timestamptz NOT NULL,
  -- When somebody may take it (again).
  available_at timestamptz NOT NULL,
  -- That it may go was looked at again after everybody had seen the mark.
  confirmed boolean NOT NULL DEFAULT false,
  -- What it wrote stays, for the cache.
  keeps_raw_outputs boolean NOT NULL DEFAULT false,
  attempts integer NOT NULL DEFAULT 0,
  last_error text NOT NULL DEFAULT ''
);
CREATE INDEX execution_deletions_available ON execution_deletions (available_at, execution_id);
CREATE INDEX execution_deletions_root ON execution_deletions (root_id);

-- For the trimming of the audit log.
CREATE INDEX audit_log_at ON audit_log (at);

-- What triggers have started after an execution.
CREATE INDEX trigger_firings_source ON trigger_firings (source_execution_id) WHERE source_execution_id IS NOT NULL;
