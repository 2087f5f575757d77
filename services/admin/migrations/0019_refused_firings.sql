-- Refused firings of a trigger, which are rare among its started ones.

CREATE INDEX trigger_firings_refused ON trigger_firings (trigger_id, ended_at) WHERE state = 'refused';
