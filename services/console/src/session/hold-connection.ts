import type { ConnectionShare } from "./connection-share.js";
import type { Store } from "./store.js";

/** A hidden page gives its connection back after this time. */
export const HIDDEN_MS = 20_000;
/** A stream without a connection of its own reads what has changed this often. */
export const READ_MS = 5_000;

/** Stream of a worker, which continues where it was. */
export interface HeldStream {
  readonly live: Store<{ readonly kind: string } | undefined>;
  /** Reads what has changed, and follows it if that is allowed. */
  open(isFollowed: boolean): void;
  pause(): void;
}

export interface HeldConnection {
  /** Opens the stream again as far as it may hold a connection. */
  open(): void;
  /** Gives the connection back; the stream stays as it is. */
  end(): void;
}

interface HoldOptions {
  readonly stream: HeldStream;
  /** Joins the tabs of this browser. */
  readonly join: (changed: () => void) => ConnectionShare;
  /** The stream has been opened before. */
  readonly isOpen: boolean;
  /** Default: those of the browser. */
  readonly page?: Pick<Document, "hidden" | "addEventListener" | "removeEventListener">;
  readonly view?: Pick<Window, "addEventListener" | "removeEventListener">;
}

/**
 * Follows a stream while its page is looked at. Browsers have six connections for an origin, so a
 * page that is hidden gives its own back after a while, and a page opened in the background takes
 * none. One of many visible pages reads what has changed every few seconds.
 */
export function holdConnection({ stream, join, isOpen, page = document, view = window }: HoldOptions): HeldConnection {
  let hiding: ReturnType<typeof setTimeout> | undefined;
  let reading: ReturnType<typeof setInterval> | undefined;
  let isSeen = !page.hidden;
  let isFollowed = isSeen;
  const open = (): void => {
    clearInterval(reading);
    isFollowed = isSeen && share.mayHold();
    stream.open(isFollowed);
    if (isSeen && !isFollowed) reading = setInterval(read, READ_MS);
  };
  // A stream that is broken tries again by itself.
  const read = (): void => {
    if (stream.live.get()?.kind !== "reconnecting") stream.open(false);
  };
  const share = join(() => {
    if (isSeen) open();
  });
  const see = (): void => {
    clearTimeout(hiding);
    if (page.hidden) return;
    isSeen = true;
    share.claim();
    if (!isFollowed) open();
  };
  const hide = (): void => {
    [isSeen, isFollowed] = [false, false];
    clearInterval(reading);
    share.release();
    stream.pause();
  };
  const changed = (): void => {
    clearTimeout(hiding);
    if (page.hidden) hiding = setTimeout(hide, HIDDEN_MS);
    else see();
  };
  if (isSeen) share.claim();
  if (!isOpen) open();
  page.addEventListener("visibilitychange", changed);
  view.addEventListener("focus", see);
  return {
    open,
    end() {
      clearTimeout(hiding);
      clearInterval(reading);
      page.removeEventListener("visibilitychange", changed);
      view.removeEventListener("focus", see);
      share.close();
    },
  };
}
