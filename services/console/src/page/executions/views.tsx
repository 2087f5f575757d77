import type { Scope } from "../../api/scope.js";
import { Segments } from "../../control/segments.js";
import { useRights } from "../../frame/use-role.js";
import { type ExecutionsSearch, executionsSearch } from "../../route/executions-search.js";
import styles from "./filters.module.css";

interface ViewsProps {
  readonly scope: Scope;
  readonly search: ExecutionsSearch;
  onChange(next: Partial<ExecutionsSearch>): void;
}

const NONE = executionsSearch.read({});
const RUNNING = { ...NONE, phases: ["QUEUED", "RUNNING", "SUCCEEDING", "FAILING", "ABORTING"] } as const satisfies ExecutionsSearch;
const FAILED = { ...NONE, phases: ["FAILED", "TIMED_OUT"], within: "24h" } as const satisfies ExecutionsSearch;

/** Filters that are often wanted. */
export function Views({ scope, search, onChange }: ViewsProps) {
  const { subject } = useRights(scope);
  const views = [
    { id: "all", title: "All", search: NONE },
    ...(subject === "" ? [] : [{ id: "mine", title: "Mine", search: { ...NONE, startedBy: subject } }]),
    { id: "running", title: "Running", search: RUNNING },
    { id: "failed", title: "Failed today", search: FAILED },
  ];
  const key = (state: ExecutionsSearch): string => JSON.stringify(executionsSearch.write({ ...state, order: "newest" }));
  const current = views.find((view) => key(view.search) === key(search))?.id;
  return (
    <div className={styles.views}>
      <Segments
        label="Views"
        choices={views}
        current={current}
        onChoose={(id) => onChange({ ...(views.find((view) => view.id === id)?.search ?? NONE), order: search.order })}
      />
    </div>
  );
}
