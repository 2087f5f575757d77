-- Which missed runs are made up for; empty where the launch plan leaves that to the configuration.
ALTER TABLE schedules
  ADD COLUMN catch_up text COLLATE "C" NOT NULL DEFAULT '' CHECK (catch_up IN ('', 'all', 'last', 'none'));
