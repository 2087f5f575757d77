-- Whether the cluster of an execution may still be another one: until the first request for its resource goes out.
ALTER TABLE execution_outbox ADD COLUMN movable boolean NOT NULL DEFAULT false;
