-- Definitions: projects, tasks, workflows, launch plans, their names, descriptions, attributes and schedules.
-- Names compare byte by byte (collation "C"), so that order and ranges are the same on every server.
-- Messages are stored in protobuf's binary form (bytea); what lists filter and sort by has columns of its own.

CREATE TABLE projects (
    id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    identifier text COLLATE "C" PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    description text NOT NULL DEFAULT '',
    labels bytea, -- flyteidl.admin.Labels; NULL: none were given
    state integer NOT NULL DEFAULT 0, -- flyteidl.admin.Project.ProjectState
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX projects_state ON projects (state, identifier);
CREATE INDEX projects_created_at ON projects (created_at, id);

CREATE TABLE tasks (
    id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    project text COLLATE "C" NOT NULL,
    domain text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    short_description text NOT NULL DEFAULT '',
    closure bytea NOT NULL, -- flyteidl.core.CompiledTask
    digest bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project, domain, name, version)
);
CREATE INDEX tasks_by_time ON tasks (project, domain, created_at, id);
CREATE INDEX tasks_name_by_time ON tasks (project, domain, name, created_at, id);
CREATE INDEX tasks_by_type ON tasks (project, domain, type, id);
CREATE INDEX tasks_by_id ON tasks (project, domain, id);

CREATE TABLE workflows (
    id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    project text COLLATE "C" NOT NULL,
    domain text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL,
    short_description text NOT NULL DEFAULT '',
    typed_interface bytea NOT NULL, -- flyteidl.core.TypedInterface
    closure bytea NOT NULL, -- flyteidl.core.CompiledWorkflowClosure
    digest bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project, domain, name, version)
);
CREATE INDEX workflows_by_time ON workflows (project, domain, created_at, id);
CREATE INDEX workflows_name_by_time ON workflows (project, domain, name, created_at, id);
CREATE INDEX workflows_by_id ON workflows (project, domain, id);

CREATE TABLE launch_plans (
    id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    project text COLLATE "C" NOT NULL,
    domain text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL,
    workflow_id bigint NOT NULL REFERENCES workflows (id),
    spec bytea NOT NULL, -- flyteidl.admin.LaunchPlanSpec
    closure bytea NOT NULL, -- flyteidl.admin.LaunchPlanClosure without state and times
    digest bytea NOT NULL,
    state integer NOT NULL DEFAULT 0, -- flyteidl.admin.LaunchPlanState
    schedule_type text COLLATE "C" NOT NULL DEFAULT 'NONE' CHECK (schedule_type IN ('NONE', 'CRON', 'RATE')),
    launch_condition_type text COLLATE "C",
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project, domain, name, version)
);
-- At most one version of a launch plan is active.
CREATE UNIQUE INDEX launch_plans_active ON launch_plans (project, domain, name) WHERE state = 1;
CREATE INDEX launch_plans_by_time ON launch_plans (project, domain, created_at, id);
CREATE INDEX launch_plans_name_by_time ON launch_plans (project, domain, name, created_at, id);
CREATE INDEX launch_plans_by_id ON launch_plans (project, domain, id);
CREATE INDEX launch_plans_by_state ON launch_plans (project, domain, state, id);
CREATE INDEX launch_plans_by_schedule ON launch_plans (project, domain, schedule_type, id);
CREATE INDEX launch_plans_by_workflow ON launch_plans (workflow_id, id);

-- The schedule of each active launch plan that has one.
CREATE TABLE schedules (
    launch_plan_id bigint PRIMARY KEY REFERENCES launch_plans (id),
    cron_expression text NOT NULL DEFAULT '',
    cron_offset text NOT NULL DEFAULT '',
    rate_value bigint NOT NULL DEFAULT 0,
    rate_unit integer NOT NULL DEFAULT 0, -- flyteidl.admin.FixedRateUnit
    kickoff_time_input_arg text NOT NULL DEFAULT '',
    activated_at timestamptz NOT NULL DEFAULT now()
);

-- One row for each name that has versions. It exists from the first version on, so that lists of names
-- need no grouping of versions.
CREATE TABLE named_entities (
    id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    resource_type integer NOT NULL, -- flyteidl.core.ResourceType
    project text COLLATE "C" NOT NULL,
    domain text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    description text NOT NULL DEFAULT '',
    state integer NOT NULL DEFAULT 0, -- flyteidl.admin.NamedEntityState
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (resource_type, project, domain, name)
);
CREATE INDEX named_entities_by_id ON named_entities (resource_type, project, domain, id);
CREATE INDEX named_entities_by_state ON named_entities (resource_type, project, domain, state, name);
CREATE INDEX named_entities_by_time ON named_entities (resource_type, project, domain, created_at, id);

CREATE TABLE description_entities (
    id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    resource_type integer NOT NULL, -- flyteidl.core.ResourceType
    project text COLLATE "C" NOT NULL,
    domain text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL,
    short_description text NOT NULL DEFAULT '',
    entity bytea NOT NULL, -- flyteidl.admin.DescriptionEntity
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (resource_type, project, domain, name, version)
);
CREATE INDEX description_entities_by_id ON description_entities (resource_type, project, domain, name, id);
CREATE INDEX description_entities_by_time ON description_entities (resource_type, project, domain, name, created_at, id);

-- Settings for a project, a domain of it, a workflow or a launch plan; empty text means: any.
CREATE TABLE matchable_attributes (
    id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    kind integer NOT NULL, -- flyteidl.admin.MatchableResource
    project text COLLATE "C" NOT NULL,
    domain text COLLATE "C" NOT NULL DEFAULT '',
    workflow text COLLATE "C" NOT NULL DEFAULT '',
    launch_plan text COLLATE "C" NOT NULL DEFAULT '',
    priority integer NOT NULL, -- the highest of the rows that match wins
    attributes bytea NOT NULL, -- flyteidl.admin.MatchingAttributes
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (kind, project, domain, workflow, launch_plan)
);
