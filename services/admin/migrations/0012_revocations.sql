-- Tokens that are good no more though they have not expired: those of a subject that were given out before a time.
CREATE TABLE token_revocations (
  -- Empty: of any issuer.
  issuer text NOT NULL,
  subject text NOT NULL CHECK (subject <> ''),
  not_before timestamptz NOT NULL,
  PRIMARY KEY (issuer, subject)
);
