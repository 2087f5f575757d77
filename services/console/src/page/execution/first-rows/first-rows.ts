import { classes } from "../../../control/classes.js";
import tabs from "../../../control/tabs.module.css";
import { executionPhaseLook } from "../../../format/phase.js";
import type { EarlyTable } from "../../../node-table/early-table.js";
import type { NodeTableClient } from "../../../node-table/node-table-client.js";
import { executionSearch, type ExecutionTab } from "../../../route/execution-search.js";
import { parseSearch } from "../../../route/search.js";
import { afterFrame } from "../../../timeline/canvas/after-frame.js";
import { clockTimeMs } from "../../../format/time.js";
import { createPreferences } from "../../../session/preferences.js";
import { followTheme } from "../../../theme/theme.js";
import counts from "../counts/node-counts.module.css";
import header from "../execution-header.module.css";
import styles from "../execution-page.module.css";
import { shownTab, TAB_TITLES } from "../shown-tab.js";
import { PHASE_NAMES } from "../timeline/newer-state.js";
import { markFirstRows } from "../timeline/page-marks.js";
import { element, named } from "./element.js";
import cover from "./first-rows.module.css";
import { frameElement } from "./frame-elements.js";
import { type FirstRows, timelineElement } from "./timeline-element.js";

/** A narrower page arranges its parts in another way, which only the app knows. */
const MIN_WIDTH_PX = 760;
/** The app starts after this time without rows. */
const PATIENCE_MS = 150;
/** Frames in which the page draws its canvases over those of the first rows. */
const HANDOVER_FRAMES = 3;

export interface FirstRowsOptions {
  readonly table: EarlyTable;
  readonly location: Pick<Location, "pathname" | "search">;
  /** Resolves when the styles are there. */
  readonly styled: Promise<void>;
}

/**
 * Draws the first rows of an execution before the app is loaded, where its page will draw them:
 * the app's scripts take longer to run than the rows to arrive. Resolves when the app should start:
 * when they are drawn, or after some time; rows that arrive later are drawn until the page is.
 */
export function drawFirstRows(options: FirstRowsOptions): Promise<void> {
  const search = executionSearch.read(parseSearch(options.location.search));
  const isDrawn = innerWidth >= MIN_WIDTH_PX && search.node === "" && search.groups.length === 0;
  if (!isDrawn || (search.tab !== "auto" && search.tab !== "timeline")) {
    options.table.client.drawn();
    return Promise.resolve();
  }
  return Promise.race([draw(options, search.tab), waitFor(PATIENCE_MS)]);
}

async function draw({ table: { client, key }, location, styled }: FirstRowsOptions, tab: ExecutionTab): Promise<void> {
  const rows = rowsOf(client);
  await styled;
  // Other rows are read when these are drawn.
  await drawOver({ client, tab, page: coverPage({ client, key }, location), rows }).finally(() => client.drawn());
}

interface Drawing {
  readonly client: NodeTableClient;
  readonly tab: ExecutionTab;
  readonly page: PageElements;
  readonly rows: ReturnType<typeof rowsOf>;
}

async function drawOver({ client, tab, page, rows }: Drawing): Promise<void> {
  const preferences = createPreferences(globalThis.localStorage);
  followTheme(preferences, document.documentElement);
  const first = await rows;
  const look = executionPhaseLook(PHASE_NAMES[client.execution.get()?.phase ?? 0]);
  if (isPageDrawn() || shownTab(tab, look) !== "timeline") return;
  const alignMs = clockTimeMs(first.createdAtMs, preferences.get().zone);
  const timeline = timelineElement({ ...first, alignMs });
  page.tabs.replaceChildren(...tabElements(look.kind === "bad" || look.kind === "stop"));
  page.content.append(timeline.element);
  timeline.drawBars();
  markFirstRows();
  await nextFrame();
  await new Promise<void>(afterFrame);
}

/**
 * Lays the frame of the page over it until the app has drawn it: the browser draws the frame while
 * the rows are on their way.
 */
function coverPage({ client, key }: EarlyTable, { pathname }: FirstRowsOptions["location"]): PageElements {
  const page = pageElements(key.name);
  if (isPageDrawn() || client.failure.get() !== undefined) return page;
  const made = element(cover["cover"], frameElement(pathname, key, page.element));
  // The page that follows says the same to assistive technology.
  [made.ariaHidden, made.inert] = ["true", true];
  document.body.append(made);
  void Promise.race([pageDrawn(), failureOf(client)]).then(() => made.remove());
  return page;
}

/** Resolves when there are no rows: the page says why. */
function failureOf({ failure }: NodeTableClient): Promise<void> {
  return new Promise((resolve) => failure.subscribe(() => failure.get() !== undefined && resolve()));
}

/** Resolves to the first rows once the worker has sent them. */
function rowsOf(client: NodeTableClient): Promise<Omit<FirstRows, "alignMs"> & { readonly createdAtMs: number }> {
  return new Promise((resolve) => {
    const look = (): void => {
      const [shown, summary, execution] = [client.shown.get(), client.summary.get(), client.execution.get()];
      if (shown === undefined || summary === undefined || execution === undefined || shown.rows.length === 0) return;
      stop();
      const { createdAtMs } = execution;
      const nowMs = summary.hasEnded ? summary.lastMs : Math.max(Date.now() - createdAtMs, summary.lastMs);
      resolve({ shown, summary, overview: client.overview.get(), createdAtMs, nowMs });
    };
    // All messages of a step of the worker are one: what it sends is there together.
    const stops = [client.shown, client.summary, client.execution].map((store) => store.subscribe(look));
    const stop = (): void => stops.forEach((each) => each());
    look();
  });
}

/** Page of an execution, and its parts that depend on the rows. */
interface PageElements {
  readonly element: HTMLElement;
  readonly tabs: HTMLElement;
  readonly content: HTMLElement;
}

function pageElements(name: string): PageElements {
  const [tabsElement, content] = [element(tabs.tabs, ...tabElements(false)), element(styles.content)];
  const facts = element(header.facts, named("span", undefined, "\u00A0"));
  const made = element(
    styles.page,
    element(header.header, element(header.title, named("b", header.name, name)), facts),
    element(counts.counts),
    tabsElement,
    content,
  );
  return { element: made, tabs: tabsElement, content };
}

function tabElements(hasErrors: boolean): readonly HTMLElement[] {
  const titles = TAB_TITLES.filter(({ id }) => id !== "errors" || hasErrors);
  return titles.map(({ id, title }) => named("span", classes(tabs.tab, id === "timeline" && tabs.current), title));
}

/** Reports whether the app has drawn a page: each has a heading. */
function isPageDrawn(): boolean {
  return document.querySelector("#root h1") !== null;
}

/** Resolves when the app has drawn a page. */
function pageDrawn(): Promise<void> {
  return new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      if (!isPageDrawn()) return;
      observer.disconnect();
      void afterFrames(HANDOVER_FRAMES).then(resolve);
    });
    observer.observe(document.body, { childList: true, subtree: true });
  });
}

async function afterFrames(count: number): Promise<void> {
  for (let frame = 0; frame < count; frame++) await nextFrame();
}

function nextFrame(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => resolve()));
}

function waitFor(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}
