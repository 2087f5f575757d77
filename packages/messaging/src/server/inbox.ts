const SUBJECT_TOKEN = /^[A-Za-z0-9_-]+$/;
const SHARED_PREFIX = "_INBOX";

/**
 * Subject prefix of the answers to a connection's requests. Each user has its own, so that the
 * server can keep users from reading each other's answers.
 */
export function inboxPrefix(user: string | undefined): string {
  return user !== undefined && SUBJECT_TOKEN.test(user) ? `${SHARED_PREFIX}.${user}` : SHARED_PREFIX;
}
