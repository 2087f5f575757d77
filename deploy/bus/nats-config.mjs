// Writes parts of the configuration of NATS. Its format accepts JSON values.

/** The block `authorization`, with the users of `users.json` and their passwords. */
export function authorizationBlock(users, passwords) {
  const withPasswords = Object.entries(users).map(([user, permissions]) => ({ user, password: passwords[user], permissions }));
  return `authorization: ${JSON.stringify({ users: withPasswords })}`;
}
