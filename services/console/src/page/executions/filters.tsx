import { useEffect, useState } from "react";
import { Chip, ChipInput } from "../../control/chip.js";
import { SearchInput } from "../../control/field.js";
import { Menu, type MenuItem } from "../../control/menu.js";
import { Key } from "../../control/pill.js";
import { EXECUTION_PHASES } from "../../format/phase.js";
import { type ExecutionsSearch, FILTER_PHASES } from "../../route/executions-search.js";
import styles from "./filters.module.css";

interface FiltersProps {
  readonly search: ExecutionsSearch;
  onChange(next: Partial<ExecutionsSearch>): void;
}

/** Filters whose value is a text, with an example of one. */
const TEXTS = {
  workflow: { name: "workflow", hint: "pipelines.train" },
  version: { name: "version", hint: "v2026.11.20-1" },
  launchPlan: { name: "launch plan", hint: "pipelines.nightly" },
  startedBy: { name: "started by", hint: "ann@example.com" },
  tag: { name: "tag", hint: "release" },
  cluster: { name: "data plane", hint: "gpu-west" },
  longerThan: { name: "longer than", hint: "1h30m" },
} as const;
type TextFilter = keyof typeof TEXTS;
const TEXT_FILTERS = Object.keys(TEXTS) as readonly TextFilter[];

const WITHIN = { any: "any time", "1h": "last hour", "24h": "last 24 hours", "7d": "last 7 days", "30d": "last 30 days" } as const;
const ORDERS = { newest: "newest", oldest: "oldest", longest: "longest" } as const;

/** Filters of the list as chips. */
export function Filters({ search, onChange }: FiltersProps) {
  const [draft, setDraft] = useState<TextFilter>();
  const { phases, within, order } = search;
  const phaseItems = FILTER_PHASES.map((phase): MenuItem => {
    const checked = phases.includes(phase);
    const next = checked
      ? phases.filter((each) => each !== phase)
      : FILTER_PHASES.filter((each) => each === phase || phases.includes(each));
    return { id: phase, text: EXECUTION_PHASES[phase].word, checked, run: () => onChange({ phases: next }) };
  });
  const addItems: MenuItem[] = [
    ...TEXT_FILTERS.filter((id) => search[id] === "").map((id) => ({ id, text: TEXTS[id].name, run: () => setDraft(id) })),
    {
      id: "archived",
      text: "archived",
      checked: search.archived === "yes",
      run: () => onChange({ archived: search.archived === "yes" ? "no" : "yes" }),
    },
  ];
  return (
    <div className={styles.filters} role="search" aria-label="Filters of the list">
      <NameField key={search.text} text={search.text} onChange={(text) => onChange({ text })} />
      <Menu label="Phases" items={phaseItems}>
        <span className={styles.name}>phase</span>{" "}
        <b>{phases.length === 0 ? "any" : phases.map((phase) => EXECUTION_PHASES[phase].word).join(", ")}</b>
      </Menu>
      <Menu label="Started" items={choices(WITHIN, within, (next) => onChange({ within: next }))}>
        <span className={styles.name}>started</span> <b>{WITHIN[within]}</b>
      </Menu>
      {TEXT_FILTERS.filter((id) => search[id] !== "").map((id) => (
        <Chip key={id} name={TEXTS[id].name} value={search[id]} onRemove={() => onChange({ [id]: "" })} />
      ))}
      {search.archived === "yes" && <Chip name="state" value="archived" onRemove={() => onChange({ archived: "no" })} />}
      {draft !== undefined && (
        <ChipInput
          name={TEXTS[draft].name}
          hint={TEXTS[draft].hint}
          onCancel={() => setDraft(undefined)}
          onEnter={(value) => {
            setDraft(undefined);
            onChange({ [draft]: value });
          }}
        />
      )}
      <Menu label="Add a filter" items={addItems} kind="quiet">
        Filter
      </Menu>
      <span className={styles.end}>
        <Menu label="Order" items={choices(ORDERS, order, (next) => onChange({ order: next }))}>
          <span className={styles.name}>sort</span> <b>{order}</b>
        </Menu>
      </span>
    </div>
  );
}

function choices<Choice extends string>(
  texts: Readonly<Record<Choice, string>>,
  current: Choice,
  choose: (next: Choice) => void,
): MenuItem[] {
  return (Object.keys(texts) as Choice[]).map((id) => ({ id, text: texts[id], checked: id === current, run: () => choose(id) }));
}

/** Time after the last key at which the list is read. */
const TYPING_MS = 300;

function NameField({ text, onChange }: { readonly text: string; onChange(text: string): void }) {
  const [value, setValue] = useState(text);
  useEffect(() => {
    if (value === text) return undefined;
    const timer = setTimeout(() => onChange(value), TYPING_MS);
    return () => clearTimeout(timer);
  }, [value, text, onChange]);
  return (
    <SearchInput
      id="find-executions"
      label="Name of an execution"
      value={value}
      end={<Key>/</Key>}
      onChange={({ target }) => setValue(target.value)}
      onKeyDown={({ key, currentTarget }) => key === "Escape" && currentTarget.blur()}
    />
  );
}
