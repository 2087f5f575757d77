import { choiceField, searchCodec, textField } from "./search.js";

/** State of the home page that is in its address. */
export const homeSearch = searchCodec({ period: choiceField("in", ["24h", "6h", "7d"]) });

export type HomeSearch = ReturnType<typeof homeSearch.read>;

/** Periods of the home page, hours. */
export const PERIOD_HOURS: Readonly<Record<HomeSearch["period"], number>> = { "6h": 6, "24h": 24, "7d": 168 };

/** State of the lists of workflows, launch plans and tasks that is in their address. */
export const listSearch = searchCodec({
  /** Part of the name. */
  text: textField("q"),
  /** Launch plans: only those with a schedule. */
  scheduled: choiceField("sched", ["no", "yes"]),
});

export type ListSearch = ReturnType<typeof listSearch.read>;

/** State of the page of a workflow, launch plan or task that is in its address. */
export const entitySearch = searchCodec({
  tab: choiceField("tab", ["runs", "versions", "plans", "graph"]),
  version: textField("v"),
});

export type EntitySearch = ReturnType<typeof entitySearch.read>;
