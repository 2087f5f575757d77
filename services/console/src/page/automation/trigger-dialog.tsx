import { type FormEvent, type ReactNode, useState } from "react";
import type { TriggerJson } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import type { Scope } from "../../api/scope.js";
import { classes } from "../../control/classes.js";
import { Dialog } from "../../control/dialog.js";
import { Segments } from "../../control/segments.js";
import form from "../../control/form.module.css";
import { FormButtons } from "../../control/form-buttons.js";
import styles from "./automation.module.css";
import { EMPTY_DRAFT, SOURCES, type TriggerDraft, triggerOf, triggerProblem } from "./trigger-draft.js";

interface TriggerDialogProps {
  readonly scope: Scope;
  /** Names of the launch plans that a trigger can start. */
  readonly launchPlans: readonly string[];
  onCreate(trigger: TriggerJson): void;
  onClose(): void;
}

/** Form of a new trigger. */
export function TriggerDialog({ scope, launchPlans, onCreate, onClose }: TriggerDialogProps) {
  const [draft, setDraft] = useState<TriggerDraft>(EMPTY_DRAFT);
  const change = (next: Partial<TriggerDraft>): void => setDraft({ ...draft, ...next });
  const problem = triggerProblem(draft, launchPlans);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (problem === undefined) onCreate(triggerOf(scope, draft));
  };
  return (
    <Dialog title="New trigger" onClose={onClose}>
      <form className={form.form} onSubmit={submit}>
        <Field label="Name">
          <input
            className={classes(form.text, styles.code)}
            value={draft.name}
            autoFocus
            onChange={({ target }) => change({ name: target.value })}
          />
        </Field>
        <Field label="Starts the launch plan">
          <input
            className={classes(form.text, styles.code)}
            list="trigger-launch-plans"
            value={draft.launchPlan}
            onChange={({ target }) => change({ launchPlan: target.value })}
          />
        </Field>
        <datalist id="trigger-launch-plans">
          {launchPlans.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <Segments label="Fires when" choices={SOURCES} current={draft.source} onChoose={(source) => change({ source })} />
        {draft.source === "execution" && (
          <>
            <Field label="Workflow whose execution ends; empty: any">
              <input
                className={classes(form.text, styles.code)}
                value={draft.workflow}
                onChange={({ target }) => change({ workflow: target.value })}
              />
            </Field>
            <label className={styles.check}>
              <input type="checkbox" checked={draft.onFailure} onChange={({ target }) => change({ onFailure: target.checked })} />
              also when it fails, is aborted or times out
            </label>
          </>
        )}
        <Field label="Inputs as JSON: sources by input name; others keep their defaults">
          <textarea
            className={classes(form.text, styles.code)}
            rows={3}
            spellCheck={false}
            placeholder={draft.source === "execution" ? '{"rows": {"output": "o0"}}' : '{"name": {"body": "/repository/name"}}'}
            value={draft.inputs}
            onChange={({ target }) => change({ inputs: target.value })}
          />
        </Field>
        <FormButtons verb="Create" refused={problem} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

function Field({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <label className={form.field}>
      {label}
      {children}
    </label>
  );
}
