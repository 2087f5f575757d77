import { type FormEvent, useState } from "react";
import type { Scope } from "../../api/scope.js";
import { useApp } from "../../app/app.js";
import { Dialog } from "../../control/dialog.js";
import form from "../../control/form.module.css";
import { FormButtons } from "../../control/form-buttons.js";
import { Segments } from "../../control/segments.js";
import { ATTRIBUTE_KINDS, type AttributeKind } from "./attribute-kinds.js";
import styles from "./settings-page.module.css";
import { useSettingActs } from "./use-setting-acts.js";

const PLACES = [
  { id: "domain", title: "This domain" },
  { id: "project", title: "The project" },
] as const;

interface AttributeDialogProps {
  readonly scope: Scope;
  readonly kind: AttributeKind | undefined;
  /** Present value; undefined for a new attribute. */
  readonly value: unknown;
  readonly isProject: boolean;
  onClose(): void;
}

/** Form of an attribute: its kind, its place and its value as JSON. */
export function AttributeDialog({ scope, kind: given, value, isProject, onClose }: AttributeDialogProps) {
  const { api } = useApp();
  const { change } = useSettingActs();
  const [kind, setKind] = useState(given);
  const [place, setPlace] = useState<(typeof PLACES)[number]["id"]>(isProject ? "project" : "domain");
  const [text, setText] = useState(format(value ?? given?.example));
  const parsed = parseObject(text);
  const problem = parsed === undefined ? "The value is not a JSON object" : undefined;
  const choose = (field: string): void => {
    const next = ATTRIBUTE_KINDS.find((each) => each.field === field);
    setKind(next);
    setText(format(next?.example));
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (parsed === undefined || kind === undefined) return;
    const at = place === "project" ? { project: scope.project } : scope;
    onClose();
    change({ call: () => api.platform.setAttributes(at, { [kind.field]: parsed }), done: `${kind.title} are set` });
  };
  return (
    <Dialog title={value === undefined ? "Set an attribute" : `Edit ${kind?.title ?? ""}`} wide onClose={onClose}>
      <form className={form.form} onSubmit={submit}>
        {value === undefined && (
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
            <Segments label="Place" choices={PLACES} current={place} onChoose={(next) => setPlace(next)} />
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

const format = (value: unknown): string => JSON.stringify(value, undefined, 2);

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
