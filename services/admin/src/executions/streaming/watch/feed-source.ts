import type { Database } from "@flyte-ts/postgres";
import { readChanges, readWhole } from "../../store/watch/read.js";
import type { WatchedChanges } from "../../store/watch/row.js";
import type { FeedRegistry, FeedSource } from "../feed-registry.js";
import { Feed } from "./feed.js";

/** Feeds of WatchExecution. */
export type WatchFeeds = FeedRegistry<Feed, WatchedChanges>;

export function watchFeedSource(db: Database): FeedSource<Feed, WatchedChanges> {
  return {
    open: async (name) => {
      const { executionId, snapshot, changes } = await readWhole(db, name);
      return { feed: new Feed(executionId, snapshot, changes), loaded: Promise.resolve() };
    },
    readChanges: (known) => readChanges(db, known),
  };
}
