import type { Session } from "./session.js";
import type { Store } from "./store.js";

/** Code of gRPC for a caller without a valid sign-in. */
const UNAUTHENTICATED = 16;

/** Stream of a worker, which has no part in the sign-in. */
interface WorkerStream {
  readonly live: Store<{ readonly kind: string } | undefined>;
  /** Error that ended the stream for good; `code` is a code of gRPC. */
  readonly failure: Store<{ readonly code: number } | undefined>;
}

/**
 * Renews the session and opens the stream again when it was refused for the sign-in; once, until
 * it has been live again, or the user has signed in. Returns a function that ends this.
 */
export function renewStream(
  { live, failure }: WorkerStream,
  session: Pick<Session, "renew" | "state" | "subscribe">,
  open: () => void,
): () => void {
  let mayRenew = true;
  const ignoreLive = live.subscribe(() => {
    mayRenew ||= live.get()?.kind === "live";
  });
  const ignoreFailures = failure.subscribe(() => {
    if (failure.get()?.code !== UNAUTHENTICATED || !mayRenew) return;
    mayRenew = false;
    void session.renew().then(open);
  });
  const ignoreSession = session.subscribe(() => {
    if (session.state() !== "active" || failure.get()?.code !== UNAUTHENTICATED) return;
    mayRenew = true;
    open();
  });
  return () => {
    ignoreLive();
    ignoreFailures();
    ignoreSession();
  };
}
