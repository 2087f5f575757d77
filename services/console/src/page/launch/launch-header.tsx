import type { ExecutionRow } from "../../api/execution-row.js";
import { Button } from "../../control/button.js";
import { Icon } from "../../control/icon.js";
import { Menu, type MenuItem, type MenuTriggerProps } from "../../control/menu.js";
import { Pill } from "../../control/pill.js";
import { isActive } from "../../entity/schedule-text.js";
import { formatTime } from "../../format/time.js";
import { useNow, usePreferences } from "../../app/app.js";
import type { LaunchSearch } from "../../route/launch-search.js";
import styles from "./launch-header.module.css";
import type { LaunchTarget } from "./target.js";

const MINUTE_MS = 60_000;
/** Runs that are offered as sources of values. */
const MAX_RUNS = 20;

interface LaunchHeaderProps {
  readonly target: LaunchTarget;
  readonly search: LaunchSearch;
  readonly runs: readonly ExecutionRow[];
  onOpen(change: Partial<LaunchSearch>): void;
  onReset(): void;
}

/** Version and launch plan that are launched, and the source of the values. */
export function LaunchHeader({ target, search, runs, onOpen, onReset }: LaunchHeaderProps) {
  const { id, versions, plans, plan, kind } = target;
  const isNewest = versions[0] === id.version;
  return (
    <header className={styles.header}>
      <h1 className={styles.title}>
        Launch <span>{search.workflow === "" ? id.name : search.workflow}</span>
      </h1>
      <div className={styles.picks}>
        <Pick
          name="version"
          value={id.version}
          note={isNewest && <Pill kind="ok">newest</Pill>}
          items={versions.map((version) => ({
            id: version,
            text: version,
            checked: version === id.version,
            run: () => onOpen({ version }),
          }))}
        />
        {kind === "launch plan" && (
          <Pick
            name="launch plan"
            value={id.name}
            note={plan !== undefined && isActive(plan) && <Pill>active</Pill>}
            items={plans.map((name) => ({
              id: name,
              text: name,
              checked: name === id.name,
              run: () => onOpen({ launchPlan: name, version: "" }),
            }))}
          />
        )}
        <Pick
          name="values from"
          value={search.from === "" ? "defaults" : `execution ${search.from}`}
          items={useSources(search, runs, onOpen)}
        />
        <Button
          kind="quiet"
          icon="repeat"
          onClick={() => {
            onReset();
            onOpen({ from: "", values: "", draft: "", ...(search.from !== "" && namesOf(target)) });
          }}
        >
          Back to defaults
        </Button>
      </div>
    </header>
  );
}

/** Address of the target itself, for a form that began with an execution. */
function namesOf({ kind, id }: LaunchTarget): Partial<LaunchSearch> {
  return kind === "task" ? { task: id.name, version: id.version } : { launchPlan: id.name, version: id.version };
}

function useSources(search: LaunchSearch, runs: readonly ExecutionRow[], onOpen: LaunchHeaderProps["onOpen"]): readonly MenuItem[] {
  const { zone } = usePreferences();
  const nowMs = useNow(MINUTE_MS);
  const items = runs.slice(0, MAX_RUNS).map(({ key, look, createdMs }, index): MenuItem => {
    const when = createdMs === undefined ? "" : formatTime(createdMs, nowMs, zone);
    return {
      id: key.name,
      text: key.name,
      note: `${index === 0 ? "last run · " : ""}${look.word} · ${when}`,
      checked: key.name === search.from,
      run: () => onOpen({ from: key.name }),
      ...(index === 0 && { group: "Executions" }),
    };
  });
  return [{ id: "", text: "Defaults", checked: search.from === "", run: () => onOpen({ from: "" }) }, ...items];
}

interface PickProps {
  readonly name: string;
  readonly value: string;
  readonly note?: React.ReactNode;
  readonly items: readonly MenuItem[];
}

/** Choice that shows its name and value. */
function Pick({ name, value, note, items }: PickProps) {
  return (
    <Menu
      label={`Choose ${name}`}
      items={items}
      trigger={({ ref, ...props }: MenuTriggerProps) => (
        <button ref={ref} type="button" className={styles.pick} {...props}>
          <span className={styles.name}>{name}</span>
          <b>{value}</b>
          {note}
          <Icon name="chevronDown" small />
        </button>
      )}
    />
  );
}
