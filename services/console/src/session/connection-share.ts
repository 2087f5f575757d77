/** Streams that the tabs of this browser hold at once: it has six connections for an origin. */
export const MAX_STREAMS = 4;

/** Streams tell each other on this channel that they hold a connection. */
const CHANNEL = "flyte-ts.streams";

/** Parts of a BroadcastChannel that the share needs; it does not receive what it sends. */
export interface ShareChannel {
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  postMessage(message: ShareMessage): void;
  close(): void;
}

/** A stream says that it was opened or looked at, or that it has ended. */
interface ShareMessage {
  readonly stream: string;
  readonly isHeld: boolean;
}

/** Place of a stream among those of all tabs. */
export interface ConnectionShare {
  /** Puts the stream before all others, as when its tab is looked at. */
  claim(): void;
  /** Gives the place back, and says so to the others. */
  release(): void;
  /** True while the stream is one of the few that may hold a connection. */
  mayHold(): boolean;
  close(): void;
}

/**
 * Shares the connections of a browser among its tabs, without a leader: a stream that was claimed
 * before several others has to give its connection back. A tab that crashed is forgotten at the
 * next claim.
 *
 * @param changed is called when `mayHold` has changed
 */
export function shareConnections(channel: ShareChannel, id: string, changed: () => void): ConnectionShare {
  const newer = new Set<string>();
  let couldHold = true;
  const check = (): void => {
    const mayHold = newer.size < MAX_STREAMS;
    if (mayHold === couldHold) return;
    couldHold = mayHold;
    changed();
  };
  channel.addEventListener("message", ({ data }) => {
    const { stream, isHeld } = data as ShareMessage;
    if (isHeld) newer.add(stream);
    else newer.delete(stream);
    check();
  });
  return {
    claim() {
      newer.clear();
      channel.postMessage({ stream: id, isHeld: true });
      check();
    },
    release: () => channel.postMessage({ stream: id, isHeld: false }),
    mayHold: () => newer.size < MAX_STREAMS,
    close() {
      channel.postMessage({ stream: id, isHeld: false });
      channel.close();
    },
  };
}

/** Joins the tabs of this browser with a stream of this page. */
export function joinTabs(changed: () => void): ConnectionShare {
  return shareConnections(new BroadcastChannel(CHANNEL), crypto.getRandomValues(new Uint32Array(2)).join("-"), changed);
}
