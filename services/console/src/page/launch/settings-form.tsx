import type { LaunchPlanJson } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { useState } from "react";
import { Button } from "../../control/button.js";
import { isGiven } from "../../format/given.js";
import { useControlProps } from "../../literal/form/field-context.js";
import { FieldRow } from "../../literal/form/field-row.js";
import inputStyles from "../../literal/form/input.module.css";
import { Select } from "../../literal/form/select.js";
import styles from "./launch-page.module.css";
import { PairList } from "./pair-list.js";
import { NO_SETTINGS, type Settings } from "./settings.js";

interface SettingsFormProps {
  readonly settings: Settings;
  readonly start: Settings;
  readonly plan: LaunchPlanJson | undefined;
  onChange(settings: Settings): void;
}

/** How an execution runs; what is left empty is as the launch plan says. */
export function SettingsForm({ settings, start, plan, onChange }: SettingsFormProps) {
  const [isOpen, setOpen] = useState(() => hasMore(settings));
  const text = (name: TextSetting, title: string, placeholder: string, end = "") => (
    <FieldRow name={title} path={`settings.${name}`} end={end} isChanged={settings[name] !== start[name] && start !== NO_SETTINGS}>
      <SettingInput
        path={`settings.${name}`}
        label={title}
        placeholder={placeholder}
        value={settings[name]}
        onChange={(value) => onChange({ ...settings, [name]: value })}
      />
    </FieldRow>
  );
  const { maxParallelism, interruptible } = plan?.spec ?? {};
  return (
    <section aria-label="How it runs">
      <h2 className={styles.section}>How it runs</h2>
      <div className={styles.two}>
        {text("name", "Execution name", "made for you")}
        {text(
          "maxParallelism",
          "Max parallelism",
          maxParallelism ? String(maxParallelism) : "as the launch plan says",
          maxParallelism ? `launch plan: ${maxParallelism}` : "",
        )}
        <FieldRow
          name="Interruptible"
          path="settings.interruptible"
          end={isGiven(interruptible) && `launch plan: ${interruptible ? "yes" : "no"}`}
        >
          <Choice
            label="Interruptible"
            value={settings.interruptible}
            choices={[
              ["", "As each task says"],
              ["yes", "Yes"],
              ["no", "No"],
            ]}
            onChange={(value) => onChange({ ...settings, interruptible: value })}
          />
        </FieldRow>
        <FieldRow name="Cache" path="settings.cache">
          <Choice
            label="Cache"
            value={settings.cache}
            choices={[
              ["", "Use and fill"],
              ["overwrite", "Run all and overwrite"],
            ]}
            onChange={(value) => onChange({ ...settings, cache: value })}
          />
        </FieldRow>
        {text("tags", "Tags", "nightly, eu")}
        {text("clusterLabel", "Data plane", "chosen for you", "execution cluster label")}
      </div>
      <Button small kind="quiet" icon={isOpen ? "chevronDown" : "chevronRight"} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Labels, environment, identity, output
      </Button>
      {isOpen && (
        <div className={styles.more}>
          {(["labels", "annotations", "environment"] as const).map((name) => (
            <FieldRow key={name} name={TITLES[name]} path={`settings.${name}`}>
              <PairList label={TITLES[name]} pairs={settings[name]} onChange={(pairs) => onChange({ ...settings, [name]: pairs })} />
            </FieldRow>
          ))}
          <div className={styles.two}>
            {text("serviceAccount", "Kubernetes service account", "as the launch plan says")}
            {text("iamRole", "IAM role", "as the launch plan says")}
          </div>
          {text("outputPrefix", "Output location", "s3://bucket/folder")}
        </div>
      )}
    </section>
  );
}

/** Settings that are entered as one text. */
type TextSetting = "name" | "maxParallelism" | "tags" | "clusterLabel" | "serviceAccount" | "iamRole" | "outputPrefix";

const TITLES = { labels: "Labels", annotations: "Annotations", environment: "Environment" } as const;

function hasMore({ labels, annotations, environment, serviceAccount, iamRole, outputPrefix }: Settings): boolean {
  return labels.length + annotations.length + environment.length > 0 || [serviceAccount, iamRole, outputPrefix].some((text) => text !== "");
}

interface SettingInputProps {
  readonly path: string;
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  onChange(value: string): void;
}

function SettingInput({ path, label, placeholder, value, onChange }: SettingInputProps) {
  const props = useControlProps(path, label);
  return (
    <input
      {...props}
      className={inputStyles.input}
      autoComplete="off"
      spellCheck={false}
      placeholder={placeholder}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly choices: readonly (readonly [value: Value, title: string])[];
  onChange(value: Value): void;
}

function Choice<Value extends string>({ label, value, choices, onChange }: ChoiceProps<Value>) {
  return (
    <Select aria-label={label} value={value} onChange={({ target }) => onChange(target.value as Value)}>
      {choices.map(([each, title]) => (
        <option key={each} value={each}>
          {title}
        </option>
      ))}
    </Select>
  );
}
