-- Executions, their nodes and task attempts, and the work that admin owes the data planes.
--
-- Times that clients see come with events and keep their nanoseconds: `*_ns` columns. The
-- timestamptz columns beside them are what filters and orders use. A column `*_order` holds
-- the place, in the order of events of its row, of the event that the fact came from; a fact
-- of a later place replaces it, so that events may arrive in any order and any number of times.

CREATE TABLE executions (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  execution_project text NOT NULL,
  execution_domain text NOT NULL,
  execution_name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  revision integer NOT NULL DEFAULT 1,

  -- What was asked for.
  launch_plan_id bigint,
  launch_plan_name text NOT NULL DEFAULT '',
  workflow_id bigint NOT NULL,
  task_id bigint,
  launch_entity text NOT NULL,
  mode integer NOT NULL DEFAULT 0,
  principal text NOT NULL DEFAULT '',
  cluster text NOT NULL DEFAULT '',
  source_execution_id bigint,
  parent_node_execution_id bigint,
  spec bytea NOT NULL,
  inputs bytea NOT NULL DEFAULT '',
  user_inputs bytea NOT NULL DEFAULT '',
  inputs_uri text NOT NULL DEFAULT '',
  user_inputs_uri text NOT NULL DEFAULT '',
  -- admin.ExecutionClosure with what never changes: workflow id and notifications.
  closure bytea NOT NULL DEFAULT '',
  -- Settings merged at acceptance, for the resource in the data plane (execution/launch-settings.ts).
  launch jsonb NOT NULL,

  -- What users set.
  state integer NOT NULL DEFAULT 0,
  state_changed_ns bigint NOT NULL,
  state_changed_by text NOT NULL DEFAULT '',

  -- What events tell.
  phase text NOT NULL DEFAULT 'UNDEFINED',
  phase_order bigint NOT NULL DEFAULT -1,
  started_ns bigint,
  started_order bigint NOT NULL DEFAULT -1,
  accepted_ns bigint NOT NULL,
  updated_ns bigint NOT NULL,
  ended_ns bigint,
  duration bigint NOT NULL DEFAULT 0,
  -- 'outputs', 'error' or 'abort': which of the results below stands.
  result text,
  result_order bigint NOT NULL DEFAULT -1,
  output_uri text NOT NULL DEFAULT '',
  outputs bytea,
  error bytea,
  error_kind text,
  error_code text,
  abort_cause text NOT NULL DEFAULT '',
  abort_principal text NOT NULL DEFAULT '',

  started_at timestamptz GENERATED ALWAYS AS (to_timestamp(started_ns / 1e9)) STORED,
  execution_created_at timestamptz GENERATED ALWAYS AS (to_timestamp(accepted_ns / 1e9)) STORED,
  execution_updated_at timestamptz GENERATED ALWAYS AS (to_timestamp(updated_ns / 1e9)) STORED,

  -- When the row was last compared with its resource.
  checked_at timestamptz,

  CONSTRAINT executions_key UNIQUE (execution_project, execution_domain, execution_name)
);

CREATE INDEX executions_created_at ON executions (execution_project, execution_domain, created_at, id);
CREATE INDEX executions_started_at ON executions (execution_project, execution_domain, started_at, id);
CREATE INDEX executions_phase ON executions (execution_project, execution_domain, phase, created_at);
CREATE INDEX executions_duration ON executions (execution_project, execution_domain, duration, id);
CREATE INDEX executions_execution_created_at ON executions (execution_project, execution_domain, execution_created_at, id);
CREATE INDEX executions_execution_updated_at ON executions (execution_project, execution_domain, execution_updated_at, id);
CREATE INDEX executions_updated_at ON executions (execution_project, execution_domain, updated_at, id);
CREATE INDEX executions_launch_plan_id ON executions (launch_plan_id, created_at);
CREATE INDEX executions_workflow_id ON executions (workflow_id, created_at);
CREATE INDEX executions_task_id ON executions (task_id, created_at) WHERE task_id IS NOT NULL;
CREATE INDEX executions_parent_node ON executions (parent_node_execution_id) WHERE parent_node_execution_id IS NOT NULL;
CREATE INDEX executions_source ON executions (source_execution_id) WHERE source_execution_id IS NOT NULL;
CREATE INDEX executions_user ON executions (execution_project, execution_domain, principal, created_at);
CREATE INDEX executions_mode ON executions (execution_project, execution_domain, mode, created_at);
CREATE INDEX executions_error ON executions (execution_project, execution_domain, error_kind, error_code) WHERE error_kind IS NOT NULL;
CREATE INDEX executions_open ON executions (checked_at NULLS FIRST, id)
  WHERE phase NOT IN ('SUCCEEDED', 'FAILED', 'ABORTED', 'TIMED_OUT');
CREATE INDEX executions_open_launch_plan ON executions (execution_project, execution_domain, launch_plan_name)
  WHERE phase NOT IN ('SUCCEEDED', 'FAILED', 'ABORTED', 'TIMED_OUT');

-- Labels (key and value) and tags (key alone) of executions.
CREATE TABLE execution_tags (
  execution_id bigint NOT NULL REFERENCES executions (id) ON DELETE CASCADE,
  key text NOT NULL,
  value text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT execution_tags_pkey PRIMARY KEY (execution_id, key, value)
);
CREATE INDEX execution_tags_key ON execution_tags (key, value);

-- Work owed to a data plane. Written in the transaction that makes it due, removed when it is
-- done; `available_at` is when it may be taken (again).
CREATE TABLE execution_outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  execution_id bigint NOT NULL REFERENCES executions (id) ON DELETE CASCADE,
  action text NOT NULL CHECK (action IN ('launch', 'abort')),
  attempts integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  available_at timestamptz NOT NULL DEFAULT now(),
  last_error text NOT NULL DEFAULT '',
  CONSTRAINT execution_outbox_key UNIQUE (execution_id, action)
);
CREATE INDEX execution_outbox_available ON execution_outbox (available_at, id);

CREATE TABLE node_executions (
  id bigint GENERATED ALWAYS AS IDENTITY,
  execution_id bigint NOT NULL,
  node_id text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  revision integer NOT NULL,

  -- The node or the task attempt (task-execution/task-key.ts) that this node runs in.
  parent_node_id text,
  parent_task_key text,
  retry_group text NOT NULL DEFAULT '',
  spec_node_id text NOT NULL DEFAULT '',
  event_version integer NOT NULL DEFAULT 0,
  is_parent boolean NOT NULL DEFAULT false,
  is_dynamic boolean NOT NULL DEFAULT false,
  is_array boolean NOT NULL DEFAULT false,

  phase text NOT NULL,
  phase_order bigint NOT NULL,
  first_ns bigint NOT NULL,
  first_order bigint NOT NULL,
  started_ns bigint,
  started_order bigint NOT NULL,
  updated_ns bigint NOT NULL,
  ended_ns bigint,
  duration bigint NOT NULL DEFAULT 0,
  input_uri text NOT NULL DEFAULT '',
  output_uri text NOT NULL DEFAULT '',
  deck_uri text NOT NULL DEFAULT '',
  dynamic_job_spec_uri text NOT NULL DEFAULT '',
  error bytea,
  error_kind text,
  error_code text,
  cache_status text,
  -- admin.NodeExecutionClosure with its target_metadata alone.
  target bytea,
  target_order bigint NOT NULL,
  inputs bytea,
  outputs bytea,
  -- core.CompiledWorkflowClosure of a dynamic node.
  dynamic_workflow bytea,

  started_at timestamptz GENERATED ALWAYS AS (to_timestamp(started_ns / 1e9)) STORED,
  node_execution_created_at timestamptz GENERATED ALWAYS AS (to_timestamp(first_ns / 1e9)) STORED,
  node_execution_updated_at timestamptz GENERATED ALWAYS AS (to_timestamp(updated_ns / 1e9)) STORED,

  CONSTRAINT node_executions_pkey PRIMARY KEY (execution_id, node_id)
) WITH (fillfactor = 80);

CREATE UNIQUE INDEX node_executions_id ON node_executions (id);
CREATE INDEX node_executions_created_at ON node_executions (execution_id, created_at, id);
CREATE INDEX node_executions_parent_task ON node_executions (execution_id, parent_task_key) WHERE parent_task_key IS NOT NULL;

CREATE TABLE task_executions (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  execution_id bigint NOT NULL,
  node_id text NOT NULL,
  project text NOT NULL,
  domain text NOT NULL,
  name text NOT NULL,
  version text NOT NULL,
  retry_attempt bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  revision integer NOT NULL,

  phase text NOT NULL,
  phase_version bigint NOT NULL,
  phase_order bigint NOT NULL,
  first_ns bigint NOT NULL,
  first_order bigint NOT NULL,
  started_ns bigint,
  started_order bigint NOT NULL,
  updated_ns bigint NOT NULL,
  ended_ns bigint,
  duration bigint NOT NULL DEFAULT 0,
  input_uri text NOT NULL DEFAULT '',
  output_uri text NOT NULL DEFAULT '',
  inputs bytea,
  outputs bytea,

  started_at timestamptz GENERATED ALWAYS AS (to_timestamp(started_ns / 1e9)) STORED,
  task_execution_created_at timestamptz GENERATED ALWAYS AS (to_timestamp(first_ns / 1e9)) STORED,
  task_execution_updated_at timestamptz GENERATED ALWAYS AS (to_timestamp(updated_ns / 1e9)) STORED,

  CONSTRAINT task_executions_key UNIQUE (execution_id, node_id, retry_attempt, name, version, project, domain)
) WITH (fillfactor = 80);

-- The events of a task attempt, each as it came but for values, in their order. The closure
-- that clients see (logs, reasons, external resources …) is assembled from them.
CREATE TABLE task_execution_events (
  task_execution_id bigint NOT NULL,
  event_order bigint NOT NULL,
  -- event.TaskExecutionEvent
  event bytea NOT NULL,
  CONSTRAINT task_execution_events_pkey PRIMARY KEY (task_execution_id, event_order)
);

CREATE TABLE signals (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  execution_project text NOT NULL,
  execution_domain text NOT NULL,
  execution_name text NOT NULL,
  signal_id text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- core.LiteralType
  type bytea NOT NULL,
  -- core.Literal
  value bytea,
  CONSTRAINT signals_key UNIQUE (execution_project, execution_domain, execution_name, signal_id)
);
