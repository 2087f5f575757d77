import { type CSSProperties, type ReactNode, useEffect, useRef, useState } from "react";
import { usePreferences } from "../../app/app.js";
import { classes } from "../../control/classes.js";
import { useStore } from "../../app/use-store.js";
import type { LogClient } from "../session/log-client.js";
import type { LogSummary } from "../session/protocol.js";
import type { LogPattern } from "../text/log-pattern.js";
import { Line, type TimeChoice } from "./line.js";
import styles from "./line-list.module.css";
import { useLineScroll } from "./use-line-scroll.js";

interface LineListProps {
  readonly client: LogClient;
  readonly summary: LogSummary;
  readonly times: TimeChoice;
  readonly isWrapped: boolean;
  readonly pattern: LogPattern | undefined;
  readonly isFollowing: boolean;
  /** Line that the address points at, from 0. */
  readonly linked: number | undefined;
  /** Bar of marks. */
  readonly children: ReactNode;
  onFollow(isFollowing: boolean): void;
  onLink(at: number): void;
}

const NO_LINES: ReadonlySet<number> = new Set();

/** Lines of a log, of which those in sight are drawn. */
export function LineList({ client, summary, times, isWrapped, pattern, isFollowing, linked, children, onFollow, onLink }: LineListProps) {
  const { zone } = usePreferences();
  const shown = useStore(client.shown);
  const tail = useStore(client.tail);
  const found = useStore(client.found);
  const [opened, setOpened] = useState(NO_LINES);
  const { lines, firstMs } = summary;
  const digits = { "--digits": String(lines).length } as CSSProperties;
  const known = shown && { from: shown.from, to: shown.from + shown.lines.length };
  const { scroller, block, wanted, drawn, spacerPx, onScroll, goTo } = useLineScroll({ lines, isFollowing, known, onFollow });
  useEffect(() => client.show(wanted.from, wanted.to), [client, wanted.from, wanted.to]);
  const count = Math.max(0, drawn.to - drawn.from);
  const atEnd = isFollowing ? tail?.slice(-count) : undefined;

  // Scrolls once to each line that is asked for, as soon as it is there.
  const target = found !== undefined && found.line >= 0 ? found.line : linked;
  const reached = useRef<unknown>(undefined);
  useEffect(() => {
    const asked = found ?? linked;
    if (target === undefined || target >= lines || reached.current === asked) return;
    reached.current = asked;
    goTo(target);
  }, [found, linked, target, lines, goTo]);

  const toggle = (at: number): void => {
    const next = new Set(opened);
    if (!next.delete(at)) next.add(at);
    setOpened(next);
  };
  const look = { firstMs, times, zone, pattern, onLink, onToggle: toggle };
  return (
    <div className={styles.frame}>
      <div ref={scroller} className={styles.scroller} role="log" aria-live="off" aria-label="Log" tabIndex={0} onScroll={onScroll}>
        <div className={styles.spacer} style={{ height: spacerPx }} />
        <div ref={block} style={digits} className={classes(styles.block, isWrapped && styles.wrapped)}>
          {atEnd?.map((line, index) => (
            <Line key={`tail-${index}`} at={undefined} line={line} isMarked={false} isOpen={false} {...look} />
          )) ??
            Array.from({ length: count }, (_, index) => drawn.from + index).map((at) => (
              <Line
                // Elements of lines that leave at the top serve those that come at the end.
                key={isFollowing ? `end-${at % count}` : at}
                at={at}
                line={shown?.lines[at - shown.from]}
                isMarked={at === target}
                isOpen={opened.has(at)}
                {...look}
              />
            ))}
        </div>
      </div>
      {children}
    </div>
  );
}
