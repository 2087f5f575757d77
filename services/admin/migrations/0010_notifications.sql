-- Executions that have ended, until those whom it concerns are told: written with the end itself, removed with what follows from it.
CREATE TABLE execution_ends (
  execution_id bigint PRIMARY KEY REFERENCES executions (id) ON DELETE CASCADE,
  ended_at timestamptz NOT NULL DEFAULT now()
);

-- Messages about ends, one for each receiver. What is sent is settled when the row is written, and the same each time.
CREATE TABLE notification_deliveries (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  message_id text NOT NULL CONSTRAINT notification_deliveries_message UNIQUE,
  project text NOT NULL,
  domain text NOT NULL,
  execution_name text NOT NULL,
  phase text NOT NULL,
  channel text NOT NULL CHECK (channel IN ('email', 'slack', 'webhook')),
  -- A mail address, `webhook:` and a name of the configuration, or a URL.
  target text NOT NULL,
  content text NOT NULL,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'sent', 'given_up')),
  attempts integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- When it may be taken (again), and since when it is tried: both begin anew when somebody asks for another try.
  available_at timestamptz NOT NULL DEFAULT now(),
  tried_since timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  last_error text NOT NULL DEFAULT ''
);
CREATE INDEX notification_deliveries_available ON notification_deliveries (available_at, id) WHERE state = 'waiting';
CREATE INDEX notification_deliveries_execution ON notification_deliveries (project, domain, execution_name, id);
CREATE INDEX notification_deliveries_scope ON notification_deliveries (project, domain, id);
CREATE INDEX notification_deliveries_ended ON notification_deliveries (ended_at) WHERE state <> 'waiting';
