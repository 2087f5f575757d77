import type { Database } from "@flyte-ts/postgres";
import { type NodeTableChanges, readNodeTable, readTableChanges } from "../../store/node-table/read.js";
import type { FeedRegistry, FeedSource } from "../feed-registry.js";
import { TableFeed } from "./table-feed.js";

/** Feeds of WatchNodeTable. */
export type NodeTableFeeds = FeedRegistry<TableFeed, NodeTableChanges>;

export function nodeTableSource(db: Database): FeedSource<TableFeed, NodeTableChanges> {
  return {
    open: (name, onRows) => {
      const opened = Promise.withResolvers<{ readonly feed: TableFeed; readonly loaded: Promise<void> }>();
      let feed: TableFeed | undefined;
      const loaded = readNodeTable(db, name, {
        onOpen: (table) => {
          feed = new TableFeed(table);
          opened.resolve({ feed, loaded });
        },
        onPage: (page) => {
          feed?.add(page);
          onRows();
        },
      }).then(() => feed?.setLoaded());
      loaded.catch(opened.reject);
      return opened.promise;
    },
    readChanges: (known) => readTableChanges(db, known),
  };
}
