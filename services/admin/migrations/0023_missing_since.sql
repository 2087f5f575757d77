-- Time since which every check of an open execution has missed its resource, or the outputs of its ended resource. It
-- counts only when it is later than the last event.
ALTER TABLE executions ADD COLUMN missing_since timestamptz;
