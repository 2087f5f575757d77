import { expect, test } from "vitest";
import { awaitStyles } from "./await-styles.js";

class Link extends EventTarget {
  constructor(readonly sheet: object | null) {
    super();
  }
}

class Page extends EventTarget {
  constructor(
    readonly readyState: DocumentReadyState,
    readonly links: readonly Link[],
  ) {
    super();
  }

  querySelectorAll(): readonly Link[] {
    return this.links;
  }
}

/** Waits for the styles of a page; `wait.isOver` tells whether they are there. */
async function waitFor(page: Page, view = new EventTarget()) {
  const wait = { isOver: false };
  void awaitStyles(page as unknown as Parameters<typeof awaitStyles>[0], view).then(() => (wait.isOver = true));
  const isOver = async (): Promise<boolean> => {
    await new Promise((resolve) => setImmediate(resolve));
    return wait.isOver;
  };
  return { view, isOver };
}

test("a page waits until it is parsed and each of its sheets has loaded or failed", async () => {
  const [first, second] = [new Link(null), new Link(null)];
  const page = new Page("loading", [first, new Link({}), second]);
  const { isOver } = await waitFor(page);
  for (const [target, event] of [
    [page, "DOMContentLoaded"],
    [first, "load"],
  ] as const) {
    target.dispatchEvent(new Event(event));
    expect(await isOver()).toBe(false);
  }
  second.dispatchEvent(new Event("error"));
  expect(await isOver()).toBe(true);
});

test("a page with its sheets waits for nothing, nor does one that is complete", async () => {
  expect(await (await waitFor(new Page("interactive", [new Link({})]))).isOver()).toBe(true);
  expect(await (await waitFor(new Page("complete", [new Link(null)]))).isOver()).toBe(true);
});

test("the load of the page ends the wait for a sheet that failed before", async () => {
  const { view, isOver } = await waitFor(new Page("interactive", [new Link(null)]));
  expect(await isOver()).toBe(false);
  view.dispatchEvent(new Event("load"));
  expect(await isOver()).toBe(true);
});
