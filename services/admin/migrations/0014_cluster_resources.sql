-- What is made of the templates of cluster resources, by project, domain and data plane.
CREATE TABLE cluster_resource_syncs (
  project text NOT NULL,
  domain text NOT NULL,
  cluster text NOT NULL,
  -- When it is looked at (again); in the future while a replica does.
  due_at timestamptz NOT NULL DEFAULT now(),
  -- Counts the reasons to look at it: one that comes while somebody does is not lost.
  revision bigint NOT NULL DEFAULT 0,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'synced', 'failed')),
  -- Why it failed as a whole.
  reason text NOT NULL DEFAULT '',
  -- Looks that failed, in a row.
  failures integer NOT NULL DEFAULT 0,
  -- Of the last look: template, kind, name, outcome, error.
  resources jsonb NOT NULL DEFAULT '[]',
  synced_at timestamptz,
  checked_at timestamptz,
  CONSTRAINT cluster_resource_syncs_pkey PRIMARY KEY (project, domain, cluster)
);
CREATE INDEX cluster_resource_syncs_due ON cluster_resource_syncs (due_at);
