-- The built-in issuer of tokens. Whoever can read these tables can sign tokens.
CREATE TABLE issuer_keys (
  kid text PRIMARY KEY,
  purpose text NOT NULL CHECK (purpose IN ('sign', 'cookie')),
  -- A private JSON Web Key, or a text to sign cookies with.
  secret jsonb NOT NULL,
  created_at timestamptz NOT NULL
);

CREATE TABLE issuer_users (
  name text PRIMARY KEY CHECK (name <> ''),
  -- scrypt, with its parameters and salt; empty: nobody can sign in so.
  password_hash text NOT NULL,
  display_name text NOT NULL DEFAULT '',
  email text NOT NULL DEFAULT '',
  groups text[] NOT NULL DEFAULT '{}',
  disabled boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL
);

CREATE TABLE issuer_clients (
  client_id text PRIMARY KEY CHECK (client_id <> ''),
  kind text NOT NULL CHECK (kind IN ('public', 'service')),
  -- SHA-256 of a secret of 256 random bits; empty for those that have none.
  secret_hash text NOT NULL DEFAULT '',
  redirect_uris text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL
);

-- Codes, refresh tokens, sessions and grants, as the issuer's library keeps them.
CREATE TABLE issuer_state (
  kind text NOT NULL,
  id text NOT NULL,
  payload jsonb NOT NULL,
  grant_id text,
  user_code text,
  uid text,
  expires_at timestamptz,
  PRIMARY KEY (kind, id)
);
CREATE INDEX issuer_state_grant ON issuer_state (grant_id) WHERE grant_id IS NOT NULL;
CREATE INDEX issuer_state_user_code ON issuer_state (kind, user_code) WHERE user_code IS NOT NULL;
CREATE INDEX issuer_state_uid ON issuer_state (kind, uid) WHERE uid IS NOT NULL;
CREATE INDEX issuer_state_expiry ON issuer_state (expires_at);

-- Browsers that have signed in. The id is in the cookie alone; here are its hash and what only the id opens.
CREATE TABLE browser_sessions (
  id_hash text PRIMARY KEY,
  sealed bytea NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX browser_sessions_expiry ON browser_sessions (expires_at);
