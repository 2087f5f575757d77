-- Lists of the executions of one workflow or launch plan, newest first, read no more than a
-- page of them: the names stand beside what they are ordered by.

ALTER TABLE executions ADD COLUMN workflow_name text NOT NULL DEFAULT '';
UPDATE executions SET workflow_name = workflows.name FROM workflows WHERE workflows.id = executions.workflow_id;

CREATE INDEX executions_workflow_name ON executions (execution_project, execution_domain, workflow_name, created_at, id);
CREATE INDEX executions_launch_plan_name ON executions (execution_project, execution_domain, launch_plan_name, created_at, id);

DROP INDEX executions_error;
CREATE INDEX executions_error ON executions (execution_project, execution_domain, error_kind, error_code, created_at, id)
  WHERE error_kind IS NOT NULL;
