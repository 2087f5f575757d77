const PLAIN = /^[A-Za-z0-9_-]+$/;
const COMMON = "_INBOX";

/**
 * Subject prefix of the answers that a connection gets. Each user of a server has one of its own, so that the server can keep users from
 * hearing each other's answers.
 */
export function inboxPrefix(user: string | undefined): string {
  return user !== undefined && PLAIN.test(user) ? `${COMMON}.${user}` : COMMON;
}
