const PLAIN = /^[A-Za-z0-9_-]+$/;
const COMMON = "_INBOX";

/**
 * Subject prefix of the answers to a connection's requests. Each user has its own, so that the server can keep users
 * from reading each other's answers.
 */
export function inboxPrefix(user: string | undefined): string {
  return user !== undefined && PLAIN.test(user) ? `${COMMON}.${user}` : COMMON;
}
