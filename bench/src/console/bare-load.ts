import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, CDPSession } from "playwright-core";
import { VIEWPORT } from "./browser.js";

/** Time for which nothing is attached to the page. */
const ALONE_MS = 2_000;
const TIMEOUT_MS = 60_000;

/**
 * Opens a page in a context of its own, without cache, as a person's browser does: nothing is
 * attached to it while it loads. A tool that records requests has the browser parse scripts again
 * for their positions, which takes a fifth of the time. Resolves to the times of marks that the
 * page sets, ms since the navigation.
 *
 * @throws Error when a mark is not set in a minute.
 */
export async function marksOfBareLoad(browser: Browser, address: string, marks: readonly string[]): Promise<readonly number[]> {
  const session = await browser.newBrowserCDPSession();
  const { browserContextId } = await session.send("Target.createBrowserContext");
  try {
    const { targetId } = await session.send("Target.createTarget", { url: address, browserContextId, ...VIEWPORT });
    await sleep(ALONE_MS);
    const times = await evaluateIn(session, targetId, awaitMarks(marks));
    if (!Array.isArray(times)) throw new Error(`the page did not set its marks in a minute: ${marks.join(", ")}`);
    return times.map(Number);
  } finally {
    await session.send("Target.disposeBrowserContext", { browserContextId });
    await session.detach();
  }
}

/** Expression of a promise for the times of marks; of `undefined` after the timeout. */
const awaitMarks = (names: readonly string[]): string => `Promise.race([
  new Promise((resolve) => setTimeout(resolve, ${TIMEOUT_MS})),
  Promise.all(${JSON.stringify(names)}.map((name) => new Promise((resolve) => {
    new PerformanceObserver((list) => {
      const [mark] = list.getEntriesByName(name);
      if (mark !== undefined) resolve(mark.startTime);
    }).observe({ type: "mark", buffered: true });
  }))),
])`;

/** Evaluates an expression in a page that Playwright does not know. */
async function evaluateIn(session: CDPSession, targetId: string, expression: string): Promise<unknown> {
  const { sessionId } = await session.send("Target.attachToTarget", { targetId, flatten: false });
  const answer = new Promise<string>((resolve) => {
    session.on("Target.receivedMessageFromTarget", (received) => {
      if (received.sessionId === sessionId) resolve(received.message);
    });
  });
  const params = { expression, awaitPromise: true, returnByValue: true };
  await session.send("Target.sendMessageToTarget", { sessionId, message: JSON.stringify({ id: 1, method: "Runtime.evaluate", params }) });
  const { result } = JSON.parse(await answer) as { readonly result?: { readonly result?: { readonly value?: unknown } } };
  return result?.result?.value;
}
