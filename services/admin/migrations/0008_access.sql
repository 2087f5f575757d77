-- Roles given while the system runs; those in the configuration stand beside them.
CREATE TABLE role_bindings (
  kind text NOT NULL CHECK (kind IN ('subject', 'group')),
  name text NOT NULL CHECK (name <> ''),
  role text NOT NULL CHECK (role IN ('viewer', 'runner', 'contributor', 'admin', 'engine')),
  -- '*' stands for all.
  project text NOT NULL CHECK (project <> ''),
  domain text NOT NULL CHECK (domain <> ''),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (kind, name, role, project, domain)
);

-- Every change that somebody asked for: a row before it is made, its end afterwards. Without an end nobody knows what became of it.
CREATE TABLE audit_log (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL,
  subject text NOT NULL,
  client_id text NOT NULL,
  method text NOT NULL,
  -- Those that the change is about; empty where it is about more than one, or none.
  project text NOT NULL,
  domain text NOT NULL,
  identifiers jsonb NOT NULL,
  request_id text NOT NULL,
  peer text NOT NULL,
  transport text NOT NULL,
  ended_at timestamptz,
  code text,
  message text NOT NULL DEFAULT ''
);
CREATE INDEX audit_log_scope ON audit_log (project, domain, id);
CREATE INDEX audit_log_subject ON audit_log (subject, id);
