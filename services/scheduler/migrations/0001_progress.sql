-- How far each schedule has been carried out. Rows of schedules that have ended go after some days.
CREATE TABLE progress (
    project text COLLATE "C" NOT NULL,
    domain text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL,
    -- The activation that this row is about.
    activated_at timestamptz NOT NULL,
    -- Every run that was due until here has its execution, or was left out for good. It never goes back.
    done_through timestamptz NOT NULL,
    -- The replica that is starting the next run, and until when it alone may; by the database's clock.
    claimed_by uuid,
    claimed_until timestamptz,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (project, domain, name, version)
);
