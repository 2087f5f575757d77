-- What starts launch plans when something happens.
CREATE TABLE triggers (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project text NOT NULL,
  domain text NOT NULL,
  name text COLLATE "C" NOT NULL,
  -- flytets.admin.v1.Trigger, without what is in the other columns.
  trigger bytea NOT NULL,
  active boolean NOT NULL DEFAULT true,
  -- Where what it starts is.
  target_project text NOT NULL,
  target_domain text NOT NULL,
  -- Which ends of executions it waits for: an empty name is any; all NULL where it waits for webhooks.
  source_project text,
  source_domain text,
  source_launch_plan text,
  source_workflow text,
  source_phases text[],
  -- As whom it fires.
  owner text NOT NULL DEFAULT '',
  owner_issuer text NOT NULL DEFAULT '',
  owner_groups text[] NOT NULL DEFAULT '{}',
  -- Secrets of webhooks are derived from this number; the one before counts until that time.
  secret_generation integer NOT NULL DEFAULT 1,
  previous_secret_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT triggers_key UNIQUE (project, domain, name)
);
CREATE INDEX triggers_source ON triggers (source_project, source_domain) WHERE active AND source_project IS NOT NULL;

-- Each time that a trigger fired: once for each cause.
CREATE TABLE trigger_firings (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  trigger_id bigint NOT NULL REFERENCES triggers (id) ON DELETE CASCADE,
  cause text NOT NULL,
  -- The execution that ended, or the webhook that arrived.
  source_execution_id bigint,
  source_project text NOT NULL DEFAULT '',
  source_domain text NOT NULL DEFAULT '',
  source_name text NOT NULL DEFAULT '',
  delivery_id text NOT NULL DEFAULT '',
  body bytea,
  happened_at timestamptz NOT NULL,
  -- What is started.
  execution_project text NOT NULL,
  execution_domain text NOT NULL,
  execution_name text NOT NULL,
  depth integer NOT NULL,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'started', 'refused')),
  reason text NOT NULL DEFAULT '',
  attempts integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  available_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  CONSTRAINT trigger_firings_cause UNIQUE (trigger_id, cause)
);
CREATE INDEX trigger_firings_available ON trigger_firings (available_at, id) WHERE state = 'waiting';
CREATE INDEX trigger_firings_started ON trigger_firings (execution_project, execution_domain, execution_name);
CREATE INDEX trigger_firings_recent ON trigger_firings (trigger_id, created_at);
CREATE INDEX trigger_firings_ended ON trigger_firings (ended_at) WHERE state <> 'waiting';

-- What secrets of webhooks are derived from, where the configuration names no key.
CREATE TABLE trigger_keys (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  key bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
