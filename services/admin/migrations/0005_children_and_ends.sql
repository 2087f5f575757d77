-- Executions that a node of another launched name this node by its id: its row may come later,
-- for events and requests go different ways.

ALTER TABLE executions ADD COLUMN parent_execution_id bigint, ADD COLUMN parent_node_id text;
UPDATE executions e SET parent_execution_id = n.execution_id, parent_node_id = n.node_id
  FROM node_executions n WHERE n.id = e.parent_node_execution_id;
ALTER TABLE executions DROP COLUMN parent_node_execution_id;
CREATE INDEX executions_parent ON executions (parent_execution_id, parent_node_id) WHERE parent_execution_id IS NOT NULL;

-- Since when an abort waits for the engine; whether admin ended the execution without it.
ALTER TABLE executions ADD COLUMN abort_requested_at timestamptz, ADD COLUMN abort_forced boolean NOT NULL DEFAULT false;
UPDATE executions SET abort_requested_at = now() WHERE phase = 'ABORTING';
CREATE INDEX executions_aborting ON executions (abort_requested_at) WHERE phase = 'ABORTING';

-- When it was last made sure that an execution which has ended has no node and no attempt that has not.
ALTER TABLE executions ADD COLUMN settled_at timestamptz;
CREATE INDEX executions_unsettled ON executions (updated_at)
  WHERE settled_at IS NULL AND phase IN ('SUCCEEDED', 'FAILED', 'ABORTED', 'TIMED_OUT');

-- Why admin itself ended a row whose end nobody reported. The true end, when it comes, takes its place.
ALTER TABLE node_executions ADD COLUMN settled text;
ALTER TABLE task_executions ADD COLUMN settled text;

-- Where the compiled workflow of a dynamic node stands that is too large for the row.
ALTER TABLE node_executions ADD COLUMN dynamic_workflow_uri text NOT NULL DEFAULT '';
