import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MAX_STREAMS, type ShareChannel, shareConnections } from "./connection-share.js";
import { HIDDEN_MS, holdConnection, READ_MS } from "./hold-connection.js";
import { createStore } from "./store.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Tabs of one browser. */
function openTabs() {
  type Listener = Parameters<ShareChannel["addEventListener"]>[1];
  const listeners = new Map<string, Listener>();
  let count = 0;
  return (isHidden = false) => {
    const page = Object.assign(new EventTarget(), { hidden: isHidden });
    const view = new EventTarget();
    const acts: string[] = [];
    const live = createStore<{ kind: string } | undefined>({ kind: "live" });
    const id = String(count++);
    const channel: ShareChannel = {
      addEventListener: (_, listener) => void listeners.set(id, listener),
      postMessage: (data) => {
        for (const [other, listener] of listeners) if (other !== id) listener({ data });
      },
      close: () => void listeners.delete(id),
    };
    const stream = {
      live,
      open: (isFollowed: boolean) => void acts.push(isFollowed ? "follow" : "read"),
      pause: () => void acts.push("pause"),
    };
    const connection = holdConnection({ stream, join: (changed) => shareConnections(channel, id, changed), isOpen: false, page, view });
    const show = (isShown: boolean): void => {
      page.hidden = !isShown;
      page.dispatchEvent(new Event("visibilitychange"));
    };
    return { acts, live, connection, show, focus: () => void view.dispatchEvent(new Event("focus")) };
  };
}

test("a page that is hidden gives its connection back after a while, and takes it again when it is seen", () => {
  const tab = openTabs()();
  tab.show(false);
  vi.advanceTimersByTime(HIDDEN_MS - 1);
  tab.show(true);
  tab.show(false);
  vi.advanceTimersByTime(HIDDEN_MS);
  expect(tab.acts).toEqual(["follow", "pause"]);
  vi.advanceTimersByTime(HIDDEN_MS + READ_MS);
  tab.show(true);
  expect(tab.acts).toEqual(["follow", "pause", "follow"]);
});

test("a page that was opened in the background reads once and follows when it is seen", () => {
  const open = openTabs();
  const seen = open();
  const hidden = Array.from({ length: 8 }, () => open(true));
  vi.advanceTimersByTime(READ_MS);
  expect(hidden.map(({ acts }) => acts)).toEqual(Array(8).fill(["read"]));
  expect(seen.acts).toEqual(["follow"]);
  hidden[0]?.show(true);
  expect(hidden[0]?.acts).toEqual(["read", "follow"]);
});

test("the streams that were looked at last hold connections, others read from time to time", () => {
  const open = openTabs();
  const tabs = Array.from({ length: MAX_STREAMS + 1 }, () => open());
  const [first, second, ...rest] = tabs;
  expect(first?.acts).toEqual(["follow", "read"]);
  vi.advanceTimersByTime(READ_MS);
  expect(first?.acts).toEqual(["follow", "read", "read"]);
  first?.focus();
  expect([first?.acts.at(-1), second?.acts]).toEqual(["follow", ["follow", "read"]]);
  expect(rest.map(({ acts }) => acts)).toEqual(Array(MAX_STREAMS - 1).fill(["follow"]));
  rest[0]?.connection.end();
  expect(second?.acts.at(-1)).toBe("follow");
  vi.advanceTimersByTime(READ_MS);
  expect(second?.acts).toHaveLength(3);
});

test("a broken stream is not opened again by its turn to read", () => {
  const open = openTabs();
  const [first] = Array.from({ length: MAX_STREAMS + 1 }, () => open());
  first?.live.set({ kind: "reconnecting" });
  vi.advanceTimersByTime(READ_MS * 3);
  expect(first?.acts).toEqual(["follow", "read"]);
});
