import { formatCount } from "../../format/count.js";
import { type KeyboardEvent, useEffect, useState } from "react";
import { IconButton } from "../../control/button.js";
import { classes } from "../../control/classes.js";
import { SearchInput } from "../../control/field.js";
import { useStore } from "../../app/use-store.js";
import type { LogClient } from "../session/log-client.js";
import type { LogQuery } from "../text/log-pattern.js";
import styles from "./log-bar.module.css";

interface SearchBoxProps {
  readonly client: LogClient;
  readonly query: LogQuery;
  onQuery(query: LogQuery): void;
}

/** Searches a log: the number of lines found, and the next and previous one. */
export function SearchBox({ client, query, onQuery }: SearchBoxProps) {
  const search = useStore(client.search);
  const found = useStore(client.found);
  const [last, setLast] = useState<number>();
  useEffect(() => {
    client.setQuery(query.text === "" ? undefined : query);
    setLast(undefined);
  }, [client, query]);
  const line = found !== undefined && found.line >= 0 ? found.line : last;
  const go = (direction: 1 | -1): void => {
    setLast(line);
    client.find(direction === 1 ? (line ?? -1) + 1 : (line ?? Number.MAX_SAFE_INTEGER), direction);
  };
  const pressed = (event: KeyboardEvent): void => {
    if (event.key === "Enter") go(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") onQuery({ ...query, text: "" });
    else return;
    event.preventDefault();
  };
  const place = found !== undefined && found.index >= 0 ? `${found.index + 1} of ` : "";
  return (
    <div className={styles.search} role="search">
      <SearchInput
        label="Search the log"
        wide
        value={query.text}
        aria-invalid={search?.problem !== undefined}
        onChange={({ target }) => onQuery({ ...query, text: target.value })}
        onKeyDown={pressed}
        end={
          search !== undefined && (
            <span className={classes(styles.count, search.problem !== undefined && styles.problem)} title={search.problem}>
              {search.problem === undefined ? `${place}${formatCount(search.count)}${search.isDone ? "" : "…"}` : "not valid"}
            </span>
          )
        }
      />
      <button
        type="button"
        className={styles.regex}
        aria-pressed={query.isRegex}
        aria-label="Regular expression"
        title="Regular expression"
        onClick={() => onQuery({ ...query, isRegex: !query.isRegex })}
      >
        .*
      </button>
      <IconButton icon="up" label="Previous match" disabled={(search?.count ?? 0) === 0} onClick={() => go(-1)} />
      <IconButton icon="chevronDown" label="Next match" disabled={(search?.count ?? 0) === 0} onClick={() => go(1)} />
    </div>
  );
}
