-- What keeps an execution from going on, for people; empty while nothing does. It is told by the engine.
ALTER TABLE executions
  ADD COLUMN notice text NOT NULL DEFAULT '',
  ADD COLUMN notice_order bigint NOT NULL DEFAULT -1,
  ADD COLUMN notice_ns bigint;
