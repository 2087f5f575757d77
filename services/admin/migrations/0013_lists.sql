-- Filters and orders of lists that had no index (docs/lists.md).

CREATE INDEX executions_cluster ON executions (execution_project, execution_domain, cluster, created_at, id);
CREATE INDEX executions_archived ON executions (execution_project, execution_domain, created_at, id) WHERE state <> 0;
CREATE INDEX executions_of_tasks ON executions (execution_project, execution_domain, created_at, id) WHERE launch_entity <> 'launch_plan';
DROP INDEX executions_error;
CREATE INDEX executions_error_kind ON executions (execution_project, execution_domain, error_kind, created_at, id) WHERE error_kind IS NOT NULL;
CREATE INDEX executions_error_code ON executions (execution_project, execution_domain, error_code, created_at, id) WHERE error_code IS NOT NULL;

-- A version is often that of many names.
CREATE INDEX tasks_version ON tasks (version);
CREATE INDEX workflows_version ON workflows (version);
CREATE INDEX launch_plans_version ON launch_plans (version);

-- Parts of names and tags.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE INDEX executions_name_parts ON executions USING gin (execution_name gin_trgm_ops);
CREATE INDEX execution_tags_parts ON execution_tags USING gin (key gin_trgm_ops, value gin_trgm_ops);
CREATE INDEX named_entities_name_parts ON named_entities USING gin (name gin_trgm_ops);

-- Executions that seem to have begun or changed long before they were accepted, as those do that events of other clocks tell of.
-- There are hardly any: where there are none, a bound on such a time is one on created_at, too (list/implied-bound.ts).
CREATE INDEX executions_clock_behind ON executions (execution_project, execution_domain)
  WHERE LEAST(started_at, execution_created_at, execution_updated_at, updated_at) AT TIME ZONE 'UTC'
    < created_at AT TIME ZONE 'UTC' - interval '1 hour';
