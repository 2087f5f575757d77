import { TARGET } from "../../stack/shell-tasks.js";

/** A page whose pictures are compared. */
export interface Screen {
  /** Name of its pictures. */
  readonly name: string;
  /** Path below `/console`. */
  readonly path: string;
  /** Text that the page shows when it is complete. */
  readonly shows: string | RegExp;
}

const SCOPE = `/projects/${TARGET.project}/domains/${TARGET.domain}`;

/** Executions of the recording by their names. */
export const EXECUTIONS = { trained: "train-daily", failed: "train-broken", mapped: "score-regions" } as const;
export const WORKFLOWS = {
  train: "pipelines.train",
  broken: "pipelines.broken",
  score: "pipelines.score",
  typed: "pipelines.typed",
} as const;

const { trained, failed, mapped } = EXECUTIONS;

export const SCREENS: readonly Screen[] = [
  { name: "home", path: SCOPE, shows: WORKFLOWS.broken },
  { name: "executions", path: `${SCOPE}/executions`, shows: failed },
  { name: "timeline", path: `${SCOPE}/executions/${trained}?tab=timeline`, shows: "train" },
  { name: "errors", path: `${SCOPE}/executions/${failed}`, shows: /reading shard/ },
  { name: "node-log", path: `${SCOPE}/executions/${trained}?tab=timeline&node=train&pane=log`, shows: "epoch 12 of 12" },
  { name: "items", path: `${SCOPE}/executions/${mapped}?tab=timeline&node=n0&pane=items`, shows: "60 items" },
  { name: "graph", path: `${SCOPE}/executions/${trained}?tab=graph`, shows: "4 nodes shown" },
  { name: "run-settings", path: `${SCOPE}/executions/${trained}?tab=settings`, shows: "Tasks at once" },
  { name: "workflow", path: `${SCOPE}/workflows/${WORKFLOWS.train}`, shows: trained },
  { name: "launch", path: `${SCOPE}/launch?lp=${WORKFLOWS.typed}`, shows: "regions" },
  { name: "automation", path: `${SCOPE}/automation`, shows: "pipelines.nightly" },
  { name: "data-planes", path: `${SCOPE}/dataPlanes`, shows: /take work/ },
  { name: "settings", path: `${SCOPE}/settings`, shows: /retention/i },
  { name: "audit", path: `${SCOPE}/audit`, shows: "CreateExecution" },
];
