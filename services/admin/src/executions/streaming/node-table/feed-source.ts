import type { Database } from "@flyte-ts/postgres";
import { type NodeTableChanges, readNodeTable, readTableChanges } from "../../store/node-table/read.js";
import type { ExecutionName } from "../../model/identifier.js";
import type { FeedRegistry, FeedSource, OpenedFeed } from "../feed-registry.js";
import type { TableStore } from "./table-store.js";
import { TableFeed } from "./table-feed.js";

/** Feeds of WatchNodeTable. */
export type NodeTableFeeds = FeedRegistry<TableFeed, NodeTableChanges>;

export function nodeTableSource(db: Database, store: TableStore): FeedSource<TableFeed, NodeTableChanges> {
  return {
    open: (name, onRows) => {
      const opened = Promise.withResolvers<OpenedFeed<TableFeed>>();
      const loaded = load({ db, store, onRows }, name, (feed, isOld) => opened.resolve({ feed, loaded, isOld }));
      loaded.catch(opened.reject);
      return opened.promise;
    },
    readChanges: (known) => readTableChanges(db, known),
    onEnded: (feed) => store.store(feed),
  };
}

interface Loading {
  readonly db: Database;
  readonly store: TableStore;
  readonly onRows: () => void;
}

/** Reads the first state of a feed: its stored pages, or else its nodes. */
async function load({ db, store, onRows }: Loading, name: ExecutionName, onOpen: (feed: TableFeed, isOld: boolean) => void): Promise<void> {
  let opened: { readonly feed: TableFeed; readonly storedPages: Uint8Array | undefined } | undefined;
  await readNodeTable(db, name, {
    onOpen: (table) => {
      const { storedPages } = table;
      opened = { feed: new TableFeed(table), storedPages };
      onOpen(opened.feed, storedPages !== undefined);
    },
    onPage: (page) => {
      opened?.feed.add(page);
      onRows();
    },
  });
  if (opened === undefined) return;
  const { feed, storedPages } = opened;
  if (storedPages !== undefined) await store.load(feed, storedPages, onRows);
  feed.setLoaded();
}
