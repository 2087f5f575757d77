-- A dataset stands for a task at one cache version, an artifact for the outputs of one run, a tag for the inputs.

CREATE TABLE datasets (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project text NOT NULL,
  domain text NOT NULL,
  name text NOT NULL,
  version text NOT NULL,
  uuid uuid NOT NULL,
  metadata jsonb NOT NULL,
  partition_keys text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT datasets_key UNIQUE (project, domain, name, version)
);
CREATE INDEX datasets_name ON datasets (name);
CREATE INDEX datasets_version ON datasets (version);
CREATE INDEX datasets_created_at ON datasets (created_at, id);

CREATE TABLE artifacts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  dataset_id bigint NOT NULL REFERENCES datasets,
  artifact_id text NOT NULL,
  metadata jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT artifacts_key UNIQUE (dataset_id, artifact_id)
);
-- An artifact may be asked for without its dataset.
CREATE INDEX artifacts_artifact_id ON artifacts (artifact_id, created_at);
CREATE INDEX artifacts_list ON artifacts (dataset_id, created_at, id);

-- A small literal stands in `value`, a large one in the blob store at `location`.
CREATE TABLE artifact_data (
  artifact bigint NOT NULL REFERENCES artifacts ON DELETE CASCADE,
  position int NOT NULL,
  name text NOT NULL,
  value bytea,
  location text,
  PRIMARY KEY (artifact, name),
  CONSTRAINT artifact_data_one_place CHECK ((value IS NULL) <> (location IS NULL))
);

CREATE TABLE artifact_partitions (
  artifact bigint NOT NULL REFERENCES artifacts ON DELETE CASCADE,
  position int NOT NULL,
  key text NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (artifact, key)
);
CREATE INDEX artifact_partitions_value ON artifact_partitions (key, value, artifact);

CREATE TABLE tags (
  dataset_id bigint NOT NULL REFERENCES datasets,
  name text NOT NULL,
  artifact bigint NOT NULL REFERENCES artifacts ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (dataset_id, name)
);
CREATE INDEX tags_artifact ON tags (artifact);

-- Who may compute what belongs under a tag. The dataset need not exist yet. A holder rewrites its row at every heartbeat.
CREATE TABLE reservations (
  project text NOT NULL,
  domain text NOT NULL,
  name text NOT NULL,
  version text NOT NULL,
  tag_name text NOT NULL,
  owner_id text NOT NULL,
  asked_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (project, domain, name, version, tag_name)
) WITH (fillfactor = 70);
