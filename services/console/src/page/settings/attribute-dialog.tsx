import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import type { AttributePlace } from "../../api/platform-api.js";
import type { Scope } from "../../api/scope.js";
import { useApp } from "../../app/app.js";
import { Dialog } from "../../control/dialog.js";
import form from "../../control/form.module.css";
import { FormButtons } from "../../control/form-buttons.js";
import { Segments } from "../../control/segments.js";
import { namesQuery } from "../../frame/queries.js";
import { ATTRIBUTE_KINDS, attributePlace, type AttributeRow, changedPlace } from "./attribute-kinds.js";
import styles from "./settings-page.module.css";
import { useSettingActs } from "./use-setting-acts.js";

const PLACES = [
  { id: "domain", title: "This domain" },
  { id: "project", title: "The project" },
  { id: "workflow", title: "A workflow" },
] as const;

interface AttributeDialogProps {
  readonly scope: Scope;
  /** Attribute that is changed; undefined for a new one. */
  readonly edited: AttributeRow | undefined;
  onClose(): void;
}

/** Form of an attribute: its kind, its place and its value as JSON. */
export function AttributeDialog({ scope, edited, onClose }: AttributeDialogProps) {
  const app = useApp();
  const { change } = useSettingActs();
  const [kind, setKind] = useState(edited?.kind ?? ATTRIBUTE_KINDS[0]);
  const [level, setLevel] = useState<(typeof PLACES)[number]["id"]>("domain");
  const [workflow, setWorkflow] = useState("");
  const [text, setText] = useState(format(edited?.value ?? kind?.example));
  const parsed = parseObject(text);
  const place = placeOf(scope, edited, { level, workflow: workflow.trim() });
  const problem = parsed === undefined ? "The value is not a JSON object" : place?.workflow === "" ? "The workflow has no name" : undefined;
  const choose = (field: string): void => {
    const next = ATTRIBUTE_KINDS.find((each) => each.field === field);
    setKind(next);
    setText(format(next?.example));
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (parsed === undefined || kind === undefined || place === undefined) return;
    onClose();
    change({ call: () => app.api.platform.setAttributes(place, { [kind.field]: parsed }), done: `${kind.title} are set` });
  };
  return (
    <Dialog
      title={edited === undefined ? "Set an attribute" : `Edit ${kind?.title ?? ""} of ${attributePlace(edited)}`}
      wide
      onClose={onClose}
    >
      <form className={form.form} onSubmit={submit}>
        {edited === undefined && (
          <>
            <label className={form.field}>
              Attribute
              <select className={form.text} value={kind?.field} onChange={({ target }) => choose(target.value)}>
                {ATTRIBUTE_KINDS.map(({ field, title }) => (
                  <option key={field} value={field}>
                    {title}
                  </option>
                ))}
              </select>
            </label>
            <Segments label="Place" choices={PLACES} current={level} onChoose={(next) => setLevel(next)} />
            {level === "workflow" && <WorkflowField scope={scope} value={workflow} onChange={setWorkflow} />}
          </>
        )}
        <label className={form.field}>
          Value as JSON
          <textarea
            className={`${form.text ?? ""} ${styles.code ?? ""}`}
            rows={10}
            spellCheck={false}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        </label>
        <FormButtons verb="Set" refused={problem} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

function placeOf(
  scope: Scope,
  edited: AttributeRow | undefined,
  { level, workflow }: { readonly level: (typeof PLACES)[number]["id"]; readonly workflow: string },
): AttributePlace | undefined {
  if (edited !== undefined) return changedPlace(scope, edited);
  if (level === "project") return { project: scope.project };
  return level === "workflow" ? { ...scope, workflow } : scope;
}

interface WorkflowFieldProps {
  readonly scope: Scope;
  readonly value: string;
  onChange(workflow: string): void;
}

/** Name of a workflow, which need not exist yet. */
function WorkflowField({ scope, value, onChange }: WorkflowFieldProps) {
  const names = useQuery(namesQuery(useApp(), scope, "workflow")).data?.entities ?? [];
  const listId = useId();
  return (
    <label className={form.field}>
      Workflow
      <input
        className={`${form.text ?? ""} ${styles.code ?? ""}`}
        list={listId}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
      <datalist id={listId}>
        {names.map(({ name = "" }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </label>
  );
}

const format = (value: unknown): string => JSON.stringify(value, undefined, 2);

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
