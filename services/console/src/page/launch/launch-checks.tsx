import type { ReactNode } from "react";
import { PhaseMark } from "../../control/phase-mark.js";
import type { PhaseKind } from "../../format/phase.js";
import type { Problem } from "../../literal/form-value.js";
import styles from "./command-pane.module.css";
import type { LaunchTarget } from "./target.js";

interface LaunchChecksProps {
  readonly target: LaunchTarget;
  readonly problems: readonly Problem[];
  readonly uploads: number;
  readonly refused: string | undefined;
}

/** Conditions of a launch, each with its state. */
export function LaunchChecks({ target, problems, uploads, refused }: LaunchChecksProps) {
  const needed = unique(problems.filter(({ isEmpty }) => isEmpty === true));
  const wrong = unique(problems.filter(({ isEmpty }) => isEmpty !== true));
  const count = target.inputs.length;
  return (
    <ul className={styles.checks} aria-label="Checks">
      <Check kind={needed.length === 0 ? "ok" : "wait"}>
        {needed.length > 0 ? <>Needs a value: {names(needed)}</> : count === 0 ? "It needs no inputs" : allText(count)}
      </Check>
      {wrong.length > 0 && (
        <Check kind="bad">
          {wrong.length === 1 ? "1 value breaks a rule: " : `${wrong.length} values break rules: `}
          {names(wrong)}
        </Check>
      )}
      {uploads > 0 && <Check kind="run">{uploads === 1 ? "1 upload is under way" : `${uploads} uploads are under way`}</Check>}
      <Check kind={refused === undefined ? "ok" : "bad"}>{refused ?? "You may launch here"}</Check>
    </ul>
  );
}

const MAX_NAMES = 3;

const unique = (problems: readonly Problem[]): readonly string[] => [...new Set(problems.map(({ path }) => path))];

const allText = (count: number): string => (count === 1 ? "The input has a value" : `All ${count} inputs have values`);

function names(paths: readonly string[]): ReactNode {
  const more = paths.length - MAX_NAMES;
  return <b>{paths.slice(0, MAX_NAMES).join(", ") + (more > 0 ? ` and ${more} more` : "")}</b>;
}

function Check({ kind, children }: { readonly kind: PhaseKind; readonly children: ReactNode }) {
  const word = { ok: "holds", bad: "does not hold", run: "under way" }[kind as string] ?? "open";
  return (
    <li>
      <PhaseMark look={{ kind, word, terminal: false }} bare /> <span>{children}</span>
    </li>
  );
}
