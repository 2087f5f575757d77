-- Orders of versions that no index had (docs/lists.md). Versions are written once: what these cost is paid by those who register.

CREATE INDEX tasks_by_description ON tasks (project, domain, short_description, id);
CREATE INDEX workflows_by_description ON workflows (project, domain, short_description, id);
CREATE INDEX launch_plans_by_update ON launch_plans (project, domain, updated_at, id);
CREATE INDEX launch_plans_by_condition ON launch_plans (project, domain, launch_condition_type, id);
