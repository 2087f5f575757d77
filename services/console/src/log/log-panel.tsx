import { useMemo, useRef, useState } from "react";
import { useKeys } from "../app/use-keys.js";
import { useTokenColours } from "../theme/token-colours.js";
import { useStore } from "../app/use-store.js";
import { LineList } from "./panel/line-list.js";
import { LogBar, type LogLook } from "./panel/log-bar.js";
import { LogNotice } from "./panel/log-notice.js";
import styles from "./panel/log-panel.module.css";
import { LogStatus } from "./panel/log-status.js";
import { MarkBar } from "./panel/mark-bar.js";
import { SearchBox } from "./panel/search-box.js";
import { useLogClient } from "./panel/use-log-client.js";
import type { LogClient } from "./session/log-client.js";
import type { LogSource } from "./session/protocol.js";
import { compileQuery, type LogPattern, type LogQuery } from "./text/log-pattern.js";

interface LogPanelProps {
  readonly source: LogSource;
  /** Reason why the attempt does not run yet, as the server says it. */
  readonly waiting?: string | undefined;
  /** Line that the address points at, from 1. */
  readonly line?: number | undefined;
  /** Puts a line into the address. */
  onLine?(line: number): void;
}

/** Log of an attempt, followed to its end. A page shows at most one: it holds a connection. */
export function LogPanel({ source, ...rest }: LogPanelProps) {
  const client = useLogClient(source);
  return client === undefined ? <section className={styles.panel} aria-label="Log" /> : <Log client={client} source={source} {...rest} />;
}

const NO_QUERY: LogQuery = { text: "", isRegex: false };
const TOKENS = ["ask"] as const;

function Log({ client, source, waiting, line, onLine }: LogPanelProps & { readonly client: LogClient }) {
  const panel = useRef<HTMLElement>(null);
  const summary = useStore(client.summary);
  const live = useStore(client.live);
  const search = useStore(client.search);
  const colours = useTokenColours(TOKENS);
  const [look, setLook] = useState<LogLook>({ times: "off", isWrapped: false });
  const [query, setQuery] = useState(NO_QUERY);
  const [isFollowing, setFollowing] = useState(line === undefined);
  const pattern = useMemo(() => patternOf(query), [query]);
  useKeys([{ keys: "f", label: "Follow the log", group: "Execution", run: () => setFollowing((before) => !before) }]);
  const hasLines = summary !== undefined && summary.lines > 0;
  return (
    <section ref={panel} className={styles.panel} aria-label="Log">
      <LogBar
        client={client}
        look={look}
        isFollowing={isFollowing}
        fileName={`${source.name}-${source.node}.log`}
        onLook={setLook}
        onFollow={setFollowing}
        onFullScreen={() => void (document.fullscreenElement === null ? panel.current?.requestFullscreen() : document.exitFullscreen())}
      >
        <SearchBox client={client} query={query} onQuery={setQuery} />
        <LogStatus summary={summary} live={live} />
      </LogBar>
      <LogNotice client={client} waiting={waiting} onRetry={() => client.open(source, { origin: location.origin })} />
      {hasLines && (
        <LineList
          client={client}
          summary={summary}
          times={look.times}
          isWrapped={look.isWrapped}
          pattern={pattern}
          isFollowing={isFollowing}
          linked={line === undefined ? undefined : line - 1}
          onFollow={setFollowing}
          onLink={(at) => onLine?.(at + 1)}
        >
          {search !== undefined && <MarkBar marks={search.marks} colour={colours.ask} />}
        </LineList>
      )}
    </section>
  );
}

/** Pattern of a query; undefined for an empty or a malformed one. */
function patternOf(query: LogQuery): LogPattern | undefined {
  try {
    return query.text === "" ? undefined : compileQuery(query);
  } catch {
    return undefined;
  }
}
