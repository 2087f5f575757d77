import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useState } from "react";
import { classes } from "../control/classes.js";
import { Dialog } from "../control/dialog.js";
import { SearchInput } from "../control/field.js";
import { Icon } from "../control/icon.js";
import { useApp } from "../app/app.js";
import type { PaletteProps } from "./palette-dialog.js";
import { actEntries, findEntries, matchEntries, type PaletteEntry, placeEntries } from "./palette-entries.js";
import styles from "./palette.module.css";
import { searchQuery } from "./queries.js";
import { useSettledText } from "./use-settled-text.js";

const NOWHERE = { project: "", domain: "" };
/** Time without a key after which the text is searched. */
const SETTLE_MS = 120;

/** Field that finds pages, names in the project, and acts. */
export function PalettePopup({ scope, onKeys, onClose }: PaletteProps) {
  const app = useApp();
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [index, setIndex] = useState(0);
  const searched = useSettledText(text.trim(), SETTLE_MS);
  const found = useQuery({ ...searchQuery(app, scope ?? NOWHERE, searched), enabled: scope !== undefined && searched !== "" });
  const pages = findEntries(text, [...placeEntries(scope), ...actEntries(app.preferences, onKeys)]);
  const entries = text.trim() === "" ? pages : [...pages, ...findEntries(text, matchEntries(scope, found.data))];
  const isSettled = searched === text.trim() && !found.isFetching;
  const chosen = Math.min(index, entries.length - 1);
  const open = (entry: PaletteEntry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    if (entry.to === undefined) entry.run();
    else void navigate({ to: entry.to });
  };
  const pressed = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setIndex((chosen + step + entries.length) % Math.max(entries.length, 1));
    else if (event.key === "Enter") open(entries[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Search or jump to" wide onClose={onClose}>
      <div className={styles.field}>
        <SearchInput
          label="Page, workflow, launch plan, task or name of an execution"
          wide
          autoFocus
          value={text}
          role="combobox"
          aria-expanded
          aria-controls="palette-list"
          aria-activedescendant={entries[chosen] === undefined ? undefined : `palette-${chosen}`}
          onKeyDown={pressed}
          onChange={({ target }) => {
            setText(target.value);
            setIndex(0);
          }}
        />
      </div>
      <ul className={styles.list} id="palette-list" role="listbox" aria-label="Matches" tabIndex={-1}>
        {entries.map((entry, at) => (
          // biome-ignore format: one option
          <li key={entry.id} id={`palette-${at}`} role="option" aria-selected={at === chosen} className={classes(styles.entry, at === chosen && styles.chosen)} onClick={() => open(entry)} onPointerMove={() => setIndex(at)}>
            <Icon name={entry.icon} small />
            <span className={styles.name}>{entry.title}</span>
            <span className={styles.kind}>{entry.kind}</span>
          </li>
        ))}
        {entries.length === 0 && isSettled && found.error === null && <li className={styles.none}>Nothing has such a name</li>}
        {found.error !== null && <li className={styles.none}>The search failed: {found.error.message}</li>}
      </ul>
    </Dialog>
  );
}
